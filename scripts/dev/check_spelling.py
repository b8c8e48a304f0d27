#!/usr/bin/env python3
"""Checks the spelling of README.md, NEWS.md, CONTRIBUTING.md and all pages of docs/.

usage: scripts/dev/check_spelling.py [PAGE ...]

hunspell with its dictionary en_US reads the words in lower case of at least three letters, without code, links and comments. Words of
scripts/dev/words.txt are right too: British forms and terms of the field. Prints PAGE:LINE: the word; exit status 1 when there is one. Without
hunspell or the dictionary it says so and ends with 0.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = ROOT / "scripts/dev/words.txt"
NOT_PROSE = (re.compile(r"^```.*?^```$", re.M | re.S), re.compile(r"<!--.*?-->", re.S), re.compile(r"`[^`]*`"),
             re.compile(r"\]\([^)]*\)"), re.compile(r"https?://\S+"))
WORD = re.compile(r"(?<![\w.@/\\$-])[a-z]{3,}(?:'[a-z]+)?(?![\w@/\\])")


def words_of(text):
    """(line, word) of the prose."""
    for pattern in NOT_PROSE:
        text = pattern.sub(lambda found: "\n" * found[0].count("\n") + " ", text)
    for number, line in enumerate(text.splitlines(), 1):
        for word in WORD.findall(line):
            yield number, re.sub(r"'s?$", "", word)


def main():
    if shutil.which("hunspell") is None or not pathlib.Path("/usr/share/hunspell/en_US.dic").exists():
        print("check_spelling: SKIPPED, no hunspell with the dictionary en_US here")
        return 0
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or \
        [*(ROOT / name for name in ("README.md", "NEWS.md", "CONTRIBUTING.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    found = {page: list(words_of(page.read_text(encoding="utf-8"))) for page in pages}
    words = {word for of_page in found.values() for _, word in of_page} - set(WORDS.read_text(encoding="utf-8").split())
    done = subprocess.run(["hunspell", "-d", "en_US", "-l"], input="\n".join(sorted(words)) + "\n", capture_output=True, text=True,
                          check=True)
    wrong = set(done.stdout.split())
    n_wrong = 0
    for page, of_page in found.items():
        for number, word in of_page:
            if word in wrong:
                n_wrong += 1
                print(f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}:{number}: {word}")
    print(f"check_spelling: {len(pages)} pages, {n_wrong} unknown words")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
