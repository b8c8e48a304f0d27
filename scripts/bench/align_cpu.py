#!/usr/bin/env python3
"""Time the CPU aligner against Parasail's best function, library against library, and write a table.

Build the driver first: cmake --build BUILD --target align_cpu_bench
Scores are compared before anything is timed; CPU seconds of both sides count, taken in turn, and the
ratio is the median of the ratios. --page replaces the table between the markers of a page.
"""

import argparse
import json
import pathlib
import subprocess
import sys

BEGIN = "<!-- begin: scripts/bench/align_cpu.py -->"
END = "<!-- end -->"


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


def table(rows):
    lines = [
        "| work | biogpu, GCUPS a core | Parasail, GCUPS a core (its best function) | times as fast |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in rows:
        lines.append(
            f"| {row['workload']} | {row['biogpu_gcups_per_core']:.1f} "
            f"| {row['parasail_gcups_per_core']:.1f} ({row['parasail_best']}) | {row['ratio']:.1f} |"
        )
    return "\n".join(lines)


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
    parser.add_argument("--page", type=pathlib.Path, help="page whose table is replaced")
    args = parser.parse_args()
    rows = measure(args)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")
    if args.page:
        text = args.page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        args.page.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
