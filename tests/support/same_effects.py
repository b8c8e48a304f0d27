#!/usr/bin/env python3
"""Compares a table of `biogpu infer variants` with what make_enformer_variants.py computed.

usage: same_effects.py TABLE EXPECTED KIND BOUND [FACTOR]

TABLE has the scores REF, ALT, SAD and SAR. KIND: of windows, in EXPECTED. Every number must be there, and differ by
less than BOUND times the spread of its track over alleles; sums over all bins are FACTOR times the expected means.
"""
import collections
import csv
import math
import statistics
import sys


def main():
    table, expected, kind, bound = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    factor = float(sys.argv[5]) if len(sys.argv) > 5 else 1
    got = {}
    for row in csv.DictReader(open(table, encoding="ascii"), delimiter="\t"):
        key = (row["id"], row["alt"], row["bins"], row["track"], row["score"])
        assert key not in got, key
        got[key] = float(row["value"])
    right, spreads = {}, collections.defaultdict(list)
    for row in csv.DictReader(open(expected, encoding="ascii"), delimiter="\t"):
        if row["windows"] != kind:
            continue
        times = factor if row["bins"] == "all" else 1
        ref, alt = float(row["ref_value"]) * times, float(row["alt_value"]) * times
        scores = {"REF": ref, "ALT": alt, "SAD": alt - ref, "SAR": math.log2(1 + alt) - math.log2(1 + ref)}
        for score, value in scores.items():
            right[row["id"], row["alt"], row["bins"], row["track"], score] = value
            spreads[row["bins"], row["track"], score].append(value)
    assert got.keys() == right.keys(), got.keys() ^ right.keys()
    worst = max(abs(got[key] - value) / statistics.pstdev(spreads[key[2:]]) for key, value in right.items())
    print(f"{len(right)} numbers, worst difference {worst:.3g} of a track's spread")
    sys.exit(0 if worst < bound else 1)


if __name__ == "__main__":
    main()
