#!/usr/bin/env python3
"""Writes a simulated genome as FASTA, the same for the same seed.

usage: scripts/bench/make_genome.py [--bases N] [--records N] [--seed N] [--random] OUT.fa

Random bases; one tenth of them copies of 300 letters, 2,000 variants of 20 families that differ in a tenth of their
letters, as short interspersed repeats do; two gaps of 50,000 N in every record of 10 Mbp or more; with --random none of both. A record is one line.
"""

import argparse
import random

BASES = bytes(b"ACGT"[value & 3] for value in range(256))
CHUNK = 1_000_000
UNIT = 300
GAP = 50_000


def random_bases(generator, n):
    return bytearray(generator.randbytes(n).translate(BASES))


def variants(generator):
    """Copies that share most of their letters."""
    families = [random_bases(generator, UNIT) for _ in range(20)]
    result = []
    for i in range(2000):
        unit = bytearray(families[i % len(families)])
        for _ in range(UNIT // 10):
            unit[generator.randrange(UNIT)] = b"ACGT"[generator.randrange(4)]
        result.append(bytes(unit))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bases", type=int, default=3_100_000_000)
    parser.add_argument("--records", type=int, default=24)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("out")
    args = parser.parse_args()
    generator = random.Random(args.seed)
    units = variants(generator)
    with open(args.out, "wb") as out:
        for record in range(args.records):
            length = args.bases * (record + 1) // args.records - args.bases * record // args.records
            out.write(b">chr%d\n" % (record + 1))
            for begin in range(0, length, CHUNK):
                chunk = random_bases(generator, min(CHUNK, length - begin))
                for _ in range(0 if args.random else len(chunk) // (10 * UNIT)):
                    at = generator.randrange(len(chunk) - UNIT + 1)
                    chunk[at : at + UNIT] = units[generator.randrange(len(units))]
                if not args.random and length >= 10 * CHUNK and len(chunk) == CHUNK and begin // CHUNK in (1, length // CHUNK // 2):
                    chunk[CHUNK // 2 : CHUNK // 2 + GAP] = b"N" * GAP
                out.write(chunk)
            out.write(b"\n")


if __name__ == "__main__":
    main()
