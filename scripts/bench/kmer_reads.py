#!/usr/bin/env python3
"""Write simulated reads as FASTQ: the same bytes for the same options, on any machine.

The genome is random, except that --repeats of it are copies of earlier stretches. Reads come from
both strands, with --errors substitutions and --unknown bases N per base.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import inputs  # noqa: E402


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
    rng = inputs.generator(args.seed)
    genome = inputs.make_genome(rng, args.genome, args.repeats)
    inputs.write_reads(rng, genome, sys.stdout.buffer, args.reads, args.length, args.errors, args.unknown)


if __name__ == "__main__":
    main()
