#!/usr/bin/env python3
"""Runs the commands of the documentation and compares what they print. check_paths.py checks the rest.

usage: scripts/dev/check_docs.py BIOGPU [--write] [PAGE ...]      default: README.md and all of docs/

A block fenced as ```console holds commands behind "$ " and what they print, standard error included. The blocks
of a page run one after the other in one folder, which has data/, tests/ and scripts/ as the repository
does, with BIOGPU first on PATH. In the expected text "..." stands for any text in a line, and alone on a
line for any lines. A command has to end with 0 unless the next one is "echo $?". --write puts the real output in
the place of what does not match, with times replaced. A page with the comment "needs MODULE", as libbiogpu_rdkit.so, is left
out where BIOGPU has been built without this module.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"^<!-- needs (\S+) -->$", re.MULTILINE)
# What differs from run to run, replaced when --write takes over an output.
VARIABLE = ((re.compile(r"\b\d+\.\d+s\]"), "...s]"), (re.compile(r"\b\d+(\.\d+)? GCUPS"), "... GCUPS"),
            (re.compile(r"\b\d+\.\d+ s\b"), "... s"), (re.compile(r"\b\d+ threads \([^)]*\)"), "... threads (...)"),
            (re.compile(r"\b\d+ threads\b"), "... threads"), (re.compile(r"\bcpu (AVX\w*|SSE4)"), "cpu ..."),
            (re.compile(r"[\d.]+ (M |G )?(k-mers|residues|reads|pairs)/s"), r"... \1\2/s"))
LIMIT_S = 300


def parse(block):
    """[(command, [expected lines]), ...] of one block."""
    steps = []
    continued = False
    for line in block.splitlines():
        if continued:
            steps[-1][0].append(line)
        elif line.startswith("$ "):
            steps.append(([line[2:]], []))
        elif steps:
            steps[-1][1].append(line)
        else:
            raise ValueError(f"a block begins with '{line}', not with a command")
        continued = line.endswith("\\") and (continued or line.startswith("$ "))
    return [("\n".join(command), expected) for command, expected in steps]


def pattern_of(expected):
    """What the whole output has to match."""
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(re.escape(piece) for piece in line.split("...")) + r"\n")
    return re.compile("".join(parts))


def shell_of(command):
    """What the shell gets: continued lines may begin with its second prompt, "> "."""
    first, *rest = command.split("\n")
    return "\n".join([first, *(line[2:] if line.startswith("> ") else line for line in rest)])


def run_page(steps, folder, environment):
    """[(status, output)] of the commands, in one shell."""
    script = ["set +e"]
    for i, (command, _) in enumerate(steps):
        # The status is kept for a following "echo $?".
        script += [f"( exit ${{status:-0}} )\n{shell_of(command)}\nstatus=$?", f"printf '\\n@@%d %d@@\\n' {i} $status"]
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=LIMIT_S, check=False)
    results = []
    rest = done.stdout
    for i in range(len(steps)):
        found = re.search(rf"\n@@{i} (\d+)@@\n", rest)
        if not found:
            results.append((1, rest))
            break
        text = rest[:found.start()]
        results.append((int(found[1]), text + "\n" if text and not text.endswith("\n") else text))
        rest = rest[found.end():]
    return results


def masked(text):
    for pattern, replacement in VARIABLE:
        text = pattern.sub(replacement, text)
    return text


class Page:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
        self.text = path.read_text(encoding="utf-8")
        self.problems = []

    def check_commands(self, biogpu, write):
        """Runs all blocks; returns the number of commands."""
        blocks = [parse(found[1]) for found in BLOCK.finditer(self.text)]
        steps = [step for block in blocks for step in block]
        missing = [module for module in NEEDS.findall(self.text) if not (biogpu.parent / module).exists()]
        if missing:
            print(f"{self.name}: not run, this build has no {missing[0]}")
        if missing or not steps:
            return 0
        with tempfile.TemporaryDirectory() as name:
            results = run_page(steps, *scratch(pathlib.Path(name), biogpu))
        outputs = []
        for i, ((command, expected), (status, output)) in enumerate(zip(steps, results)):
            matches = pattern_of(expected).fullmatch(output) is not None
            outputs.append(expected if matches else masked(output).splitlines())
            asked = i + 1 < len(steps) and steps[i + 1][0] == "echo $?"
            if status != 0 and not asked:
                self.problems.append(f"{self.name}: $ {command}\nended with status {status}:\n{output}")
            elif not matches and not write:
                self.problems.append(f"{self.name}: $ {command}\nexpected:\n" + "\n".join(expected) +
                                     f"\nprinted:\n{output}")
        if write and len(outputs) == len(steps) and not self.problems:
            self.rewrite(blocks, outputs)
        return len(steps)

    def rewrite(self, blocks, outputs):
        remaining = iter(outputs)
        new = iter(["\n".join(line for command, _ in block for line in (f"$ {command}", *next(remaining)))
                    for block in blocks])
        text = BLOCK.sub(lambda _: f"```console\n{next(new)}\n```", self.text)
        if text != self.text:
            self.path.write_text(text, encoding="utf-8")


def scratch(folder, biogpu):
    """A folder to run in, and the environment."""
    shutil.copytree(ROOT / "data", folder / "data")
    for name in ("tests", "scripts"):
        (folder / name).symlink_to(ROOT / name)
    bin_folder = folder / ".bin"
    bin_folder.mkdir()
    (bin_folder / "biogpu").symlink_to(biogpu)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BIOGPU_")}
    environment.update(PATH=f"{bin_folder}:{environment.get('PATH', '')}", LC_ALL="C")
    return folder, environment


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    paths = arguments.pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [Page(path.resolve()) for path in paths]
    n_commands = 0
    for page in pages:
        n_commands += page.check_commands(arguments.biogpu.resolve(), arguments.write)
    problems = [problem for page in pages for problem in page.problems]
    print("\n\n".join(problems) + ("\n" if problems else "") +
          f"{len(pages)} pages, {n_commands} commands, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
