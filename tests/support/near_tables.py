#!/usr/bin/env python3
"""Compares two tables with a header by column.

usage: near_tables.py GOT EXPECTED COLUMN=BOUND:SCALE ...

These columns hold numbers that differ by at most BOUND times
  row     the size of the number that is expected
  atoms   the number of column natoms
  spread  the standard deviation of the column in EXPECTED
All other columns hold the same text.
"""
import csv
import math
import statistics
import sys


def scale_of(kind, row, column, rows):
    if kind == "atoms":
        return int(row["natoms"])
    if kind == "row":
        return abs(float(row[column]))
    return statistics.pstdev(float(other[column]) for other in rows)


def main():
    got, expected = (list(csv.DictReader(open(path, encoding="ascii"), delimiter="\t")) for path in sys.argv[1:3])
    bounds = dict(text.split("=") for text in sys.argv[3:])
    if not got or len(got) != len(expected) or got[0].keys() != expected[0].keys():
        sys.exit(f"{len(got)} rows of {list(got[0]) if got else []} for {len(expected)} of {list(expected[0])}")
    worst = {}
    for i, (row, right) in enumerate(zip(got, expected), 1):
        for column, text in right.items():
            if column not in bounds:
                if row[column] != text:
                    sys.exit(f"row {i}: {column} is {row[column]}, not {text}")
                continue
            bound, kind = bounds[column].split(":")
            error = abs(float(row[column]) - float(text))
            limit = float(bound) * scale_of(kind, right, column, expected)
            if not (math.isfinite(error) and error <= limit):
                sys.exit(f"row {i}: {column} is {row[column]}, not {text} within {limit:.3g}")
            worst[column] = max(worst.get(column, 0), error / limit if limit > 0 else 0)
    print("of their bounds: " + ", ".join(f"{column} {share:.2g}" for column, share in worst.items()))
    if worst.keys() != bounds.keys():
        sys.exit(f"no column {bounds.keys() - worst.keys()}")


if __name__ == "__main__":
    main()
