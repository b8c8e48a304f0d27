#!/usr/bin/env python3
"""Time `biogpu align parasail` against parasail_aligner from file to file, equal files first.

Every workload runs both programs with the same options, in turn, and compares what they write before
any time counts. Prints a Markdown table and writes one JSON list (--json), from which scripts/dev/tables.py
fills the page. DNA sets are made from --seed; --queries and --proteome name FASTA files of proteins, those of data/
by default.
"""

import argparse
import filecmp
import functools
import json
import pathlib
import random
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from measure import timing  # noqa: E402
from measure.bench_tables import align_files  # noqa: E402


def write_reads(path, rng, n, length, rate):
    """n reads, copies of pieces of one random genome with about `rate` of their bases changed."""
    genome = "".join(rng.choices("ACGT", k=20 * length))
    with open(path, "w", encoding="ascii") as out:
        for i in range(n):
            begin = rng.randrange(len(genome) - length)
            bases = list(genome[begin : begin + length])
            for k in range(length):
                if rng.random() < rate:
                    bases[k] = rng.choice("ACGT")
            out.write(f">r{i}\n{''.join(bases)}\n")


def workloads(args, folder):
    rng = random.Random(args.seed)
    write_reads(folder / "a.fa", rng, args.reads, 150, 0.05)
    write_reads(folder / "b.fa", rng, args.reads, 150, 0.05)
    dna = ["-x", "-f", "a.fa", "-q", "b.fa", "-d", "-M", "2", "-X", "3", "-o", "5", "-e", "2"]
    protein = ["-x", "-f", str(args.proteome), "-q", str(args.queries), "-o", "11", "-e", "1"]
    yield "DNA 150 x 150, local, CSV", dna + ["-a", "sw_striped_16"]
    yield "DNA 150 x 150, global, CSV", dna + ["-a", "nw_scan_16"]
    yield "DNA 150 x 150, local, statistics", dna + ["-a", "sw_stats_striped_16"]
    yield "DNA 150 x 150, semi-global, SAM", dna + ["-a", "sg_trace_striped_16", "-O", "SAM"]
    yield "proteins, local, CSV", protein + ["-a", "sw_striped_profile_sat"]
    yield "proteins, global, EMBOSS", protein + ["-a", "nw_trace_scan_16", "-O", "EMBOSS"]
    yield "DNA, all with all, filter 20", ["-f", "a.fa", "-c", "20", "-a", "sw_stats_striped_16"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--biogpu", required=True, type=pathlib.Path)
    parser.add_argument("--queries", type=pathlib.Path, default=ROOT / "data/protein_queries.fa")
    parser.add_argument("--proteome", type=pathlib.Path, default=ROOT / "data/proteins.fa")
    parser.add_argument("--reads", type=int, default=400, help="of each DNA set")
    parser.add_argument("--only", default="", help="workloads whose name holds this text")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="turns; medians count")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    args = parser.parse_args()
    args.queries, args.proteome = args.queries.resolve(), args.proteome.resolve()

    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for workload, options in workloads(args, folder):
            if args.only not in workload:
                continue
            common = ["-t", str(args.threads)] + options
            programs = {
                "biogpu": [str(args.biogpu.resolve()), "align", "parasail", "-g", "ours.out"] + common,
                "parasail": ["parasail_aligner", "-g", "theirs.out"] + common,
            }

            def check():
                if not filecmp.cmp(folder / "ours.out", folder / "theirs.out", False):
                    sys.exit(f"align.py: '{workload}': the two programs wrote different files")  # noqa: B023

            calls = {program: functools.partial(timing.run, command, folder)
                     for program, command in programs.items()}
            median = {program: timing.medians(runs)
                      for program, runs in timing.take_turns(calls, args.repeats, check).items()}
            row = {
                "workload": workload,
                "options": " ".join(options).replace(str(ROOT) + "/", ""),
                "threads": args.threads,
                "bytes": (folder / "ours.out").stat().st_size,
                "biogpu_s": median["biogpu"]["wall_s"],
                "parasail_s": median["parasail"]["wall_s"],
                "biogpu_cpu_s": median["biogpu"]["cpu_s"],
                "parasail_cpu_s": median["parasail"]["cpu_s"],
            }
            row["ratio"] = row["parasail_s"] / row["biogpu_s"]
            row["cpu_ratio"] = row["parasail_cpu_s"] / row["biogpu_cpu_s"]
            results.append(row)
            print(f"{workload}: {row['ratio']:.1f} times as fast", file=sys.stderr, flush=True)
    print("\n".join(align_files(results)))
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
