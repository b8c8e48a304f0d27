#!/usr/bin/env python3
"""Writes the tables of README.md and docs/ from the results in scripts/bench/results.

usage: scripts/dev/tables.py [--check] [PAGE ...]      default: README.md and all of docs/

A table lies between two markers; the first names how it is made and from which result:

    <!-- table begin: compare 2026-11-21-2-cores/compare_fastp.json -->
    <!-- table end -->

--check changes nothing and fails where a table is not what its result gives, as after an edit by hand.
"""

import argparse
import difflib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import pages  # noqa: E402
from measure.programs import ROOT  # noqa: E402


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    paths = arguments.pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    n_tables, n_other = 0, 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        n_tables += len(pages.BLOCK.findall(text))
        try:
            new = pages.fill(text)
        except (KeyError, OSError, ValueError, IndexError, TypeError) as error:
            sys.exit(f"tables.py: {path}: {type(error).__name__}: {error}")
        if new == text:
            continue
        n_other += 1
        if arguments.check:
            print("".join(difflib.unified_diff(text.splitlines(True), new.splitlines(True), f"{path} as it is",
                                               f"{path} from the results")), end="")
        else:
            path.write_text(new, encoding="utf-8")
            print(f"{path}: written again")
    print(f"{n_tables} tables, {n_other} pages differ" if arguments.check else f"{n_tables} tables")
    if arguments.check and n_other:
        sys.exit("tables.py: run it without --check instead of editing tables by hand")


if __name__ == "__main__":
    main()
