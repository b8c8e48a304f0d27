#!/usr/bin/env python3
"""Checks bwa's index files against the genome in them without a second construction.

usage: scripts/bench/bwt_check.py PREFIX [--walks N] [--seed N] [--json FILE]

From N random sampled rows it walks back through the transform to the next sampled row: every letter on the
way must be the text's, and the position at the end the one at the beginning less the steps. Of N random pairs of
neighbouring samples the suffixes must ascend in the text, as far as 4,096 letters tell. A share p of wrong walks is
missed with probability (1 - p)^N. Needs numpy; memory for the walks alone, the files are mapped.
"""

import argparse
import json
import pathlib
import sys
import time

import numpy as np

BLOCK = 128  # symbols between two counts: 4 counts of 8 bytes, 8 words of 16 symbols
ODD = np.uint32(0x55555555)


def fail(message):
    sys.exit(f"bwt_check: {message}")


class Index:
    """The five files' arrays, by PREFIX."""

    def __init__(self, prefix):
        head = np.fromfile(f"{prefix}.bwt", np.uint64, 5).astype(np.int64)
        self.primary, self.cumulative = int(head[0]), np.concatenate(([0], head[1:]))
        self.n = int(head[4])
        self.blocks = np.memmap(f"{prefix}.bwt", np.uint32, "r", offset=40)
        samples = np.memmap(f"{prefix}.sa", np.uint64, "r")
        if int(samples[0]) != self.primary or int(samples[6]) != self.n:
            fail(".sa and .bwt are of different texts")
        self.rate, self.samples = int(samples[5]), samples[7:]
        self.pac = np.memmap(f"{prefix}.pac", np.uint8, "r")

    def letters(self, position):
        """Of both strands."""
        half = self.n // 2
        forward = np.where(position < half, position, self.n - 1 - position)
        base = self.pac[forward >> 2] >> (6 - 2 * (forward & 3)).astype(np.uint8) & 3
        return np.where(position < half, base, 3 - base).astype(np.int64)

    def stored(self, row):
        """The symbols of the rows, and how often each occurs up to and with its own row."""
        row = row - (row > self.primary)
        block, at = row // BLOCK, row % BLOCK
        # The last block may be shorter than others.
        words = self.blocks[np.minimum(block[:, None] * 16 + np.arange(16), self.blocks.size - 1)]
        word = words[np.arange(row.size), 8 + at // 16]
        symbol = (word >> (30 - 2 * (at % 16)).astype(np.uint32) & 3).astype(np.int64)
        counts = np.ascontiguousarray(words[:, :8]).view(np.uint64)[np.arange(row.size), symbol].astype(np.int64)
        differs = words[:, 8:] ^ (symbol.astype(np.uint32) * ODD)[:, None]
        equal = ~(differs | differs >> np.uint32(1)) & ODD
        left = np.clip(at[:, None] + 1 - 16 * np.arange(8), 0, 16)  # symbols of each word that count
        keep = ((np.uint64(0xFFFFFFFF) << (32 - 2 * left).astype(np.uint64)) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        ones = np.unpackbits((equal & keep).view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
        return symbol, counts + ones


def check_walks(index, chosen):
    """chosen: numbers of samples. Returns the steps taken."""
    row = chosen * index.rate
    position = index.samples[chosen - 1].astype(np.int64)
    steps = 0
    while row.size:
        # Above the whole text there is nothing to walk to.
        row, position = row[row != index.primary], position[row != index.primary]
        symbol, count = index.stored(row)
        position = position - 1
        if np.any(position < 0) or np.any(symbol != index.letters(position)):
            fail("a letter of the transform is not the text's")
        row = index.cumulative[symbol] + count
        steps += row.size
        at_sample = row % index.rate == 0
        if np.any(index.samples[row[at_sample] // index.rate - 1].astype(np.int64) != position[at_sample]):
            fail("a sampled position is not where the walk has come")
        row, position = row[~at_sample], position[~at_sample]
    return steps


def check_order(index, chosen):
    """Suffixes of samples `chosen` and the next ones."""
    a = index.samples[chosen - 1].astype(np.int64)
    b = index.samples[chosen].astype(np.int64)
    for _ in range(4096):
        ended = a >= index.n
        if np.any(b[~ended] >= index.n):
            fail("two suffixes are not in order")
        a, b = a[~ended], b[~ended]
        first, second = index.letters(a), index.letters(b)
        if np.any(first > second):
            fail("two suffixes are not in order")
        a, b = a[first == second] + 1, b[first == second] + 1
    return a.size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("--walks", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", default=None, type=pathlib.Path)
    args = parser.parse_args()
    begin = time.monotonic()
    index = Index(args.prefix)
    random = np.random.default_rng(args.seed)
    n_samples = index.n // index.rate
    if n_samples != index.samples.size or n_samples < 2:
        fail(f"{index.samples.size} samples, expected {n_samples}")
    walks = random.integers(1, n_samples + 1, args.walks)
    steps = check_walks(index, walks)
    n_equal = check_order(index, random.integers(1, n_samples, args.walks))
    result = {"what": "check", "positions": index.n, "walks": args.walks, "steps": steps, "pairs": args.walks,
              "pairs_equal_as_far_as_looked": int(n_equal), "wall_s": round(time.monotonic() - begin, 1)}
    if args.json:
        args.json.write_text(json.dumps(result) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
