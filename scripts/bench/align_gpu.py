#!/usr/bin/env python3
"""Measure alignment on one GPU compared with Parasail on the processors of the same host, in one run.

Three parts, of which --parts chooses: library (parasail_driver: equal scores first, then both libraries on
the same pairs), files (biogpu align and parasail_aligner: equal files first) and bench (biogpu-bench align).
Writes one JSON (--json) after each part. Needs programs alone, no packages:
  cmake --build BUILD --target biogpu biogpu-bench parasail_driver
scripts/dev/tables.py fills the page.
"""

import argparse
import filecmp
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from align import write_reads  # noqa: E402
from measure import timing  # noqa: E402
from measure.bench_tables import align_gpu_files, align_gpu_library  # noqa: E402

# Length and number of pairs, those of biogpu-bench, how many of them Parasail takes, and which of its functions.
LIBRARY = [
    ("150 bp sw score", 150, 1048576, "sw", "score", 262144, ""),
    ("150 bp nw score", 150, 1048576, "nw", "score", 262144, ""),
    ("150 bp sw cigar", 150, 1048576, "sw", "cigar", 131072, ""),
    ("150 bp nw cigar", 150, 1048576, "nw", "cigar", 131072, ""),
    ("10 kbp sw cigar", 10000, 2000, "sw", "cigar", 64, "sw_trace_striped_16,sw_trace_scan_16"),
]
FUNCTIONS = ["sw_striped_16", "sw_striped_profile_16", "sw_striped_profile_sat"]


def measure_library(args, folder):
    """Rows of parasail_driver; scores are compared there."""
    rows = []
    for name, length, n, mode, output, first, functions in LIBRARY:
        if args.quick:
            length, n = min(length, 600), 200
        pairs = folder / f"{length}.tsv"
        if not pairs.exists():
            subprocess.run([args.bench, "pairs", "--pairs", str(n), "--length", str(length), pairs], check=True)
        command = [args.driver, pairs, mode, output, "2,-3", 5, 2, args.threads, args.repeats, "gpu", first]
        command += [functions] if functions else []
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=True)
        rows.append({"workload": name, **json.loads(done.stdout)})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def measure_files(args, folder):
    """Every read with every read, from FASTA to CSV; Parasail's functions in turn."""
    n = 30 if args.quick else args.reads
    rng = random.Random(args.seed)
    write_reads(folder / "a.fa", rng, n, 150, 0.05)
    write_reads(folder / "b.fa", rng, n, 150, 0.05)
    costs = ["--match", 2, "--mismatch", -3, "--gap-open", 5, "--gap-extend", 2]
    calls = {"biogpu": [args.biogpu.resolve(), "align", "--quiet", "--device", "gpu", "-t", args.threads, "--mode", "sw",
                        "--alphabet", "dna", "--strand", "forward", *costs, "--format", "csv", "a.fa", "b.fa", "-o", "biogpu.csv"]}
    for function in FUNCTIONS:
        calls[function] = [args.parasail.resolve(), "-t", args.threads, "-x", "-q", "a.fa", "-f", "b.fa", "-d", "-M", 2,
                           "-X", 3, "-o", 5, "-e", 2, "-a", function, "-g", "parasail.csv"]
    runs = {}
    for name, command in calls.items():
        # The first run of biogpu finds the caches cold and warms them for all.
        kept = [timing.run(command, folder) for _ in range(3 if name == "biogpu" else 1)]
        runs[name] = kept[1:] or kept
        if name != "biogpu" and not filecmp.cmp(folder / "biogpu.csv", folder / "parasail.csv", False):
            sys.exit(f"align_gpu.py: biogpu and Parasail's {name} wrote different files")
    seconds = {name: timing.medians(of)["wall_s"] for name, of in runs.items()}
    best = min(FUNCTIONS, key=seconds.get)
    row = {"workload": "150 bp DNA, all with all, local, CSV", "pairs": n * n, "threads": args.threads,
           "bytes": (folder / "biogpu.csv").stat().st_size, "biogpu_s": seconds["biogpu"], "parasail_best": best,
           "parasail_s": seconds[best], "ratio": seconds[best] / seconds["biogpu"],
           "parasail_all_s": {function: seconds[function] for function in FUNCTIONS}}
    print(json.dumps(row), flush=True)
    return [row]


def measure_bench(args, folder):
    """What biogpu-bench align writes."""
    command = [args.bench, "align", "-t", args.threads, "--json", folder / "bench.json"]
    if args.queries:
        command += ["--queries", args.queries, "--proteome", args.proteome]
    if args.only:
        command += ["--only", args.only]
    if args.quick:
        command.append("--quick")
    subprocess.run([str(c) for c in command], check=True)
    return json.loads((folder / "bench.json").read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--biogpu", required=True, type=pathlib.Path)
    parser.add_argument("--bench", required=True, type=pathlib.Path, help="biogpu-bench")
    parser.add_argument("--driver", required=True, type=pathlib.Path, help="parasail_driver")
    parser.add_argument("--parasail", default=pathlib.Path("/usr/bin/parasail_aligner"), type=pathlib.Path)
    parser.add_argument("--queries", type=pathlib.Path, help="FASTA file of query proteins")
    parser.add_argument("--proteome", type=pathlib.Path, help="FASTA file of target proteins")
    parser.add_argument("--parts", default="bench,library,files")
    parser.add_argument("--only", default="", help="of biogpu-bench: workloads whose name holds this")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3, help="of the driver: the best of so many runs counts")
    parser.add_argument("--reads", type=int, default=4000, help="of each of the two files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it runs, not how fast")
    parser.add_argument("--json", required=True, type=pathlib.Path)
    args = parser.parse_args()
    if (args.queries is None) != (args.proteome is None):
        parser.error("--queries and --proteome go together")

    result = {}
    for part in args.parts.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if part == "bench":
                result.update(measure_bench(args, folder))
            elif part == "library":
                result["library"] = measure_library(args, folder)
                print("\n".join(align_gpu_library(result)))
            elif part == "files":
                result["files"] = measure_files(args, folder)
                print("\n".join(align_gpu_files(result)))
            else:
                sys.exit(f"align_gpu.py: no part '{part}'")
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
