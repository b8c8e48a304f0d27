#!/usr/bin/env python3
"""Checks that the pages of docs/commands/reference are what the program prints, and that each option has its sentence.

usage: scripts/dev/check_reference.py BIOGPU [--write]

BIOGPU writes its tables of options with 'man --markdown --all'; --write puts them into docs/commands/reference. The sentence of an option
begins with one of VERBS, has at least MIN_WORDS words beside the default, and ends with a full stop. The page of each command
links its page of options, and mkdocs.yml has all of them. Prints what is wrong; exit status 1 when something is.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/commands/reference"
MIN_WORDS = 5
VERBS = set("""accept add align allow average begin centre change combine compare compute correct count cover cut design detect do draw embed
end expect extend fail find give go ignore integrate join keep leave let list log look mark merge minimise mix move number order predict
prefer print process put read refuse relax remove repeat report run score search separate set show simulate split start take time
transform treat trim use write follow""".split())
ROW = re.compile(r"^\| (`-.*?) \| (.*) \|$")
SECTION = re.compile(r"^## (.*)$")


def sentence_problem(text):
    """What is wrong with the sentence of an option; empty: nothing."""
    text = re.sub(r" Required\.$", "", text)
    sentence = re.sub(r" Default: .*$", "", text)
    if not text.endswith("."):
        return "no full stop at the end"
    if len(sentence.split()) < MIN_WORDS:
        return f"fewer than {MIN_WORDS} words"
    verb = sentence.split()[0].lower()
    return "" if verb in VERBS else f"'{verb}' is no verb of VERBS"


def check_page(name, text):
    """Problems of a page, and its number of options."""
    problems, n_options, command = [], 0, name
    for line in text.splitlines():
        section, row = SECTION.match(line), ROW.match(line)
        command = section[1] if section else command
        if not row:
            continue
        n_options += 1
        problem = sentence_problem(row[2].replace("\\", ""))
        if problem:
            problems.append(f"{command}: {row[1]}: {problem}: {row[2]}")
    return problems, n_options


def check_links(names):
    """Pages of commands that do not link their options, and pages that the site does not list."""
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in names:
        page = ROOT / "docs/commands" / name
        if page.exists() and f"](reference/{name}" not in page.read_text(encoding="utf-8"):
            yield f"docs/commands/{name}: does not link reference/{name}"
        if f"- commands/reference/{name}\n" not in site:
            yield f"mkdocs.yml: does not list commands/reference/{name}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.biogpu.resolve(), "man", "--markdown", "--all", folder], check=True)
        made = {path.name: path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(folder).glob("*.md"))}
    if arguments.write:
        PAGES.mkdir(exist_ok=True)
        for path in PAGES.glob("*.md"):
            path.unlink()
        for name, text in made.items():
            (PAGES / name).write_text(text, encoding="utf-8")
    there = {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
    problems = [f"docs/commands/reference/{name}: is not what BIOGPU prints; run scripts/dev/check_reference.py BIOGPU --write"
                for name in sorted(made.keys() | there.keys()) if made.get(name) != there.get(name)]
    n_options = 0
    for name, text in made.items():
        of_page, n_of_page = check_page(name, text)
        problems += of_page
        n_options += n_of_page
    problems += check_links(made)
    print(*problems, f"check_reference: {len(made)} pages, {n_options} options, {len(problems)} problems", sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
