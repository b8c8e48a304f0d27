#!/usr/bin/env python3
"""Puts the tests or sources of a build in the order in which a check with little time takes them.

usage: affected.py tests BUILD | affected.py sources BUILD

Prints lines 'CLASS NAME'. Class 'own': the test's or source's own files changed; 'near': something it is
built from changed; 'rest': neither. Each class begins further on with every commit, so that checks
which stop when their time is over come to all of them in turn.

Changed is what differs from BIOGPU_BASE, else from the branch's beginning (origin/main), else, on main itself,
from the commit a day before the last one; with files that are not committed yet. BUILD holds build.ninja, and
what it was built from as far as it was built.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP = 7  # a prime, so that neighbours do not always follow each other


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def base() -> str:
    if os.environ.get("BIOGPU_BASE"):
        return os.environ["BIOGPU_BASE"]
    head = output("git", "rev-parse", "HEAD").strip()
    fork = output("git", "merge-base", "HEAD", "origin/main").strip()
    if fork and fork != head:
        return fork
    date = int(output("git", "show", "-s", "--format=%ct", "HEAD").strip() or 0)
    before = output("git", "rev-list", "-1", f"--before={date - 24 * 3600}", "HEAD").strip()
    return before or head


def changed_files() -> set[str]:
    names = output("git", "diff", "--name-only", base()).split("\n")
    names += output("git", "ls-files", "--others", "--exclude-standard").split("\n")
    return {name for name in names if name}


def in_repository(path: str, build: Path) -> str | None:
    """The path from the root; None for what lies elsewhere or was made by the build."""
    whole = Path(os.path.normpath(build / path))
    if not whole.is_relative_to(ROOT) or whole.is_relative_to(build):
        return None
    return str(whole.relative_to(ROOT))


def files_of_objects(build: Path) -> dict[str, set[str]]:
    """For each source, the repository's files that its object was built from, as ninja noted them."""
    files: dict[str, set[str]] = {}
    block: set[str] = set()
    for line in output("ninja", "-C", str(build), "-t", "deps").split("\n") + [""]:
        if line.startswith("    "):
            if name := in_repository(line.strip(), build):
                block.add(name)
        elif block:
            for source in block:
                if source.endswith((".cpp", ".hip")):
                    files.setdefault(source, set()).update(block)
            block = set()
    return files


def sources_of_target(build: Path, target: str) -> set[str]:
    names = output("ninja", "-C", str(build), "-t", "inputs", target).split("\n")
    return {name for line in names if line and (name := in_repository(line, build))}


class Tests:
    def __init__(self, build: Path, changed: set[str]):
        self.build, self.changed = build, changed
        self.objects = files_of_objects(build)
        self.touched = {s for s, files in self.objects.items() if files & changed}
        self.touched |= {name for name in changed if name not in self.objects}
        self.inputs: dict[str, set[str]] = {}

    def target_of(self, test: dict) -> str:
        command = test.get("command") or []
        if len(command) > 2 and command[1].endswith((".sh", ".py")):
            return "biogpu"
        # Several tests may run one program, with other settings.
        return Path(command[0]).name if command else test["name"]

    def class_of(self, test: dict) -> str:
        target = self.target_of(test)
        if target not in self.inputs:
            self.inputs[target] = sources_of_target(self.build, target)
        inputs = self.inputs[target]
        own = {str(Path(word).relative_to(ROOT)) for word in (test.get("command") or [])
               if word.endswith((".sh", ".py")) and word.startswith(str(ROOT))}
        own |= {name for name in inputs if name.startswith(("tests/unit/", "tests/ops/", "tests/models/"))}
        if own & (self.touched | self.changed):
            return "own"
        return "near" if inputs & self.touched else "rest"


def rotated(names: list[str]) -> list[str]:
    if not names:
        return names
    n_commits = int(output("git", "rev-list", "--count", "HEAD").strip() or 0)
    first = n_commits * STEP % len(names)
    return names[first:] + names[:first]


def tests(build: Path) -> list[tuple[str, str]]:
    listed = json.loads(output("ctest", "--test-dir", str(build), "--show-only=json-v1"))["tests"]
    classes = Tests(build, changed_files())
    return [(classes.class_of(test), test["name"]) for test in listed]


def sources(build: Path) -> list[tuple[str, str]]:
    changed, objects = changed_files(), files_of_objects(build)
    compiled = json.loads((build / "compile_commands.json").read_text())
    names = sorted({name for entry in compiled if (name := in_repository(entry["file"], build))})
    return [("own" if name in changed else "near" if objects.get(name, set()) & changed else "rest", name)
            for name in names if name.startswith(("apps/", "lib/", "gpu/")) and name.endswith(".cpp")]


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in ("tests", "sources"):
        sys.exit(__doc__.split("\n")[2])
    build = (ROOT / sys.argv[2]).resolve()
    found = (tests if sys.argv[1] == "tests" else sources)(build)
    for kind in ("own", "near", "rest"):
        for name in rotated([name for its, name in found if its == kind]):
            print(kind, name)


if __name__ == "__main__":
    main()
