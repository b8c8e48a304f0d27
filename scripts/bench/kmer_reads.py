#!/usr/bin/env python3
"""Write simulated reads as FASTQ: the same bytes for the same options, on any machine.

The genome is random, except that --repeats of it are copies of earlier stretches. Reads come from
both strands, with --errors substitutions and --unknown bases N per base.
"""

import argparse
import random
import sys

COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")
STRETCH = 5000


def random_bases(rng, n):
    """n random bases: each byte of a random number gives four."""
    quads = [bytes(b"ACGT"[byte >> shift & 3] for shift in (6, 4, 2, 0)) for byte in range(256)]
    return b"".join(quads[byte] for byte in rng.randbytes((n + 3) // 4))[:n]


def make_genome(rng, n, repeats):
    genome = bytearray(random_bases(rng, n))
    for begin in range(STRETCH, n - STRETCH, STRETCH):
        if rng.random() < repeats:
            origin = rng.randrange(0, begin - STRETCH + 1)
            genome[begin : begin + STRETCH] = genome[origin : origin + STRETCH]
    return bytes(genome)


def spoil(rng, read, rate, letter):
    """Sets bases at geometric distances to what letter() gives."""
    if rate <= 0:
        return
    at = int(rng.expovariate(rate))
    while at < len(read):
        read[at] = letter(read[at])
        at += 1 + int(rng.expovariate(rate))


def write_reads(rng, genome, args, out):
    other = {base: [b for b in b"ACGT" if b != base] for base in b"ACGT"}
    quality = b"\n+\n" + b"I" * args.length + b"\n"
    rows = []
    for number in range(args.reads):
        begin = rng.randrange(len(genome) - args.length + 1)
        read = genome[begin : begin + args.length]
        if rng.getrandbits(1):
            read = read.translate(COMPLEMENT)[::-1]
        read = bytearray(read)
        spoil(rng, read, args.errors, lambda base: other[base][rng.randrange(3)])
        spoil(rng, read, args.unknown, lambda base: ord("N"))
        rows.append(b"@r%d\n%s%s" % (number, read, quality))
        if len(rows) == 65536:
            out.write(b"".join(rows))
            rows.clear()
    out.write(b"".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--genome", type=int, default=50_000_000, help="bases")
    parser.add_argument("--reads", type=int, default=2_000_000)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--repeats", type=float, default=0.3)
    parser.add_argument("--errors", type=float, default=0.001)
    parser.add_argument("--unknown", type=float, default=0.0025)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    genome = make_genome(rng, args.genome, args.repeats)
    write_reads(rng, genome, args, sys.stdout.buffer)


if __name__ == "__main__":
    main()
