#!/usr/bin/env python3
"""Compares a table of `biogpu infer score` or `fill-mask` with reference scores.

usage: tests/support/same_scores.py SCORES.json KIND TABLE.tsv BOUND
       tests/support/same_scores.py SCORES.json --variants

SCORES.json is what scripts/reference/make_scores.py writes. Every column that it has must be in the table with the same
texts and whole numbers, and fractions within BOUND of the larger of 1 and the number. --variants prints its variants as a
table for `infer score`.
"""

import csv
import json
import sys


def differences(expected, rows, bound):
    if len(rows) != len(expected):
        yield f"{len(rows)} lines instead of {len(expected)}"
    for number, (want, got) in enumerate(zip(expected, rows), 2):
        for column, value in want.items():
            text = got.get(column)
            if isinstance(value, float):
                same = text is not None and abs(float(text) - value) <= bound * max(1.0, abs(value))
            else:
                same = text == str(value)
            if not same:
                yield f"line {number}: {column} is {text} instead of {value}"


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        scores = json.load(file)
    if sys.argv[2] == "--variants":
        print("name\tmutant")
        for row in scores["masked-marginal"]:
            print(f"{row['name']}\t{row['mutant']}")
        return
    with open(sys.argv[3], encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = list(differences(scores[sys.argv[2]], rows, float(sys.argv[4])))
    for line in found[:5]:
        print(f"{sys.argv[3]}: {line}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
