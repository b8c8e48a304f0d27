#!/usr/bin/env python3
"""Writes paired reads of a genome with sequencing errors and adapters; the standard library is enough.

usage: tests/support/simulate_reads.py GENOME.fa PREFIX [--pairs N] [--length L] [--seed N]

Writes PREFIX_1.fq.gz and PREFIX_2.fq.gz. The genome is one record. Inserts are 0.7 to 2.5 reads long, so that some reads run
into the adapter. Qualities fall from 40 to 20 along a read, of one pair in twenty from 22 to 2, and bases are wrong as
often as their quality says.
"""

import argparse
import gzip
import random

ADAPTERS = ("AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT")
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def sequenced(insert, adapter, best, length, draw):
    """The bases and qualities that the instrument reads of an insert."""
    template = (insert + adapter + "A" * length)[:length]
    bases, qualities = [], []
    for i, base in enumerate(template):
        quality = best - 20 * i // length
        wrong = draw.random() < 10 ** (-quality / 10)
        bases.append(draw.choice([other for other in "ACGT" if other != base]) if wrong else base)
        qualities.append(chr(33 + quality))
    return "".join(bases), "".join(qualities)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("genome")
    parser.add_argument("prefix")
    parser.add_argument("--pairs", type=int, default=10000)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with open(arguments.genome, encoding="ascii") as lines:
        genome = "".join(line.strip().upper() for line in lines if not line.startswith(">"))
    draw = random.Random(arguments.seed)
    texts = ([], [])
    for i in range(1, arguments.pairs + 1):
        size = draw.randint(arguments.length * 7 // 10, arguments.length * 5 // 2)
        begin = draw.randrange(len(genome) - size + 1)
        insert = genome[begin:begin + size]
        if draw.random() < 0.5:
            insert = insert.translate(COMPLEMENT)[::-1]
        best = 22 if draw.random() < 0.05 else 40
        mates = (insert, insert.translate(COMPLEMENT)[::-1])
        for mate, adapter, text, number in zip(mates, ADAPTERS, texts, "12"):
            text.append("@pair{}/{}\n{}\n+\n{}\n".format(i, number, *sequenced(mate, adapter, best, arguments.length, draw)))
    for number, text in zip("12", texts):
        with gzip.GzipFile(f"{arguments.prefix}_{number}.fq.gz", "wb", mtime=0) as out:
            out.write("".join(text).encode("ascii"))


if __name__ == "__main__":
    main()
