#!/usr/bin/env python3
"""Time the CPU aligner against Parasail's best function, library against library, and write a table.

Build the driver first: cmake --build BUILD --target align_cpu_bench
Scores are compared before anything is timed; CPU seconds of both sides count, taken in turn, and the
ratio is the median of the ratios. scripts/dev/tables.py writes the page from --json.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure.bench_tables import align_cpu  # noqa: E402


def measure(args):
    """The figures of every workload, printed as they come."""
    command = [args.driver, args.threads, args.repeats, args.scale, args.queries, args.proteome]
    if args.only:
        command.append(args.only)
    rows = []
    with subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            rows.append(json.loads(line))
            print(line, end="", flush=True)
    if run.returncode != 0:
        sys.exit("align_cpu.py: the driver failed")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", required=True, help="the built align_cpu_bench")
    parser.add_argument("--queries", required=True, help="FASTA file of query proteins")
    parser.add_argument("--proteome", required=True, help="FASTA file of target proteins")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=int, default=1, help="multiplies the number of pairs")
    parser.add_argument("--only", help="run the workloads whose name holds this")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    args = parser.parse_args()
    rows = measure(args)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")
    print("\n".join(align_cpu(rows)))


if __name__ == "__main__":
    main()
