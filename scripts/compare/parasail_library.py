#!/usr/bin/env python3
"""Compare the libraries of biogpu and Parasail: equal scores first, then time, in one process per workload.

Writes one JSON list (--json) and prints a Markdown table. Pairs are made from --seed; --proteome
names a FASTA file of proteins and adds the search of one of its sequences against all of it.
Build the driver first: cmake --build BUILD --target parasail_driver
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import inputs  # noqa: E402
from measure.bench_tables import parasail_library  # noqa: E402
from measure.programs import package_version  # noqa: E402

DNA = "ACGT"
PROTEIN = "ARNDCQEGHILKMFPSTWYV"


def mutated(rng, letters, text, rate):
    """A copy of text with about `rate` of its residues substituted, dropped or repeated."""
    out = []
    for letter in text:
        draw = rng.random()
        if draw < rate * 0.8:
            out.append(rng.choice(letters))
        elif draw < rate * 0.9:
            continue
        elif draw < rate:
            out.append(letter * 2)
        else:
            out.append(letter)
    return "".join(out)


def make_pairs(rng, letters, n, length, rate):
    """n pairs: a random query and, at this rate of change, a copy of it; rate 1 is unrelated."""
    pairs = []
    for _ in range(n):
        query = "".join(rng.choices(letters, k=length))
        if rate >= 1:
            target = "".join(rng.choices(letters, k=length))
        else:
            target = mutated(rng, letters, query, rate)
        pairs.append((query, target))
    return pairs


def proteome_pairs(path, query_length):
    """The first sequence at least query_length long against all sequences of the file."""
    texts = [sequence for _, sequence in inputs.read_fasta(path)]
    query = next((t for t in texts if len(t) >= query_length), max(texts, key=len))
    return [(query, target) for target in texts]


def workloads(args):
    rng = random.Random(args.seed)
    n = args.pairs
    similar = make_pairs(rng, DNA, n, 150, 0.05)
    unrelated = make_pairs(rng, DNA, n, 150, 1)
    proteins = make_pairs(rng, PROTEIN, max(n // 8, 1), 300, 0.5)
    dna = ("2,-3", 5, 2)
    blosum = ("blosum62", 11, 1)
    for mode in ("sw", "sg", "nw"):
        for output in ("score", "cigar"):
            yield f"150 bp DNA, 5 % changed, {mode}, {output}", similar, mode, output, dna
    for output in ("score", "cigar"):
        yield f"150 bp DNA, unrelated, sw, {output}", unrelated, "sw", output, dna
    yield "300 aa protein pairs, sw, score", proteins, "sw", "score", blosum
    yield "300 aa protein pairs, sw, cigar", proteins, "sw", "cigar", blosum
    if args.proteome:
        pairs = proteome_pairs(args.proteome, 400)
        for mode in ("sw", "nw"):
            yield f"protein against proteome, {mode}, score", pairs, mode, "score", blosum


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", required=True, help="the built parasail_driver")
    parser.add_argument("--proteome", help="FASTA file of proteins")
    parser.add_argument("--pairs", type=int, default=20000, help="DNA pairs per workload")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many runs counts")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu", help="biogpu's side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    args = parser.parse_args()

    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, pairs, mode, output, (matrix, gap_open, extend) in workloads(args):
            path = pathlib.Path(folder) / "pairs.tsv"
            path.write_text("".join(f"{q}\t{t}\n" for q, t in pairs), encoding="ascii")
            command = [args.driver, path, mode, output, matrix, gap_open, extend]
            command += [args.threads, args.repeats, args.device]
            done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=False)
            if done.returncode != 0:
                sys.exit(f"parasail_library.py: the driver failed on '{name}'")
            row = {"workload": name, "seed": args.seed, "parasail_version": package_version("libparasail-dev"),
                   **json.loads(done.stdout)}
            results.append(row)
            print(f"{name}: {row['ratio']:.1f} times as fast", file=sys.stderr, flush=True)
    print("\n".join(parasail_library(results)))
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
