#!/usr/bin/env python3
"""Measure `biogpu kmer count` against Jellyfish and KMC: equal results first, then time and memory.

Reads are made by kmer_reads.py unless --reads names a file. Programs run turn by turn, --repeats
times; medians count. Wall time, CPU time (user and system) and peak memory are the kernel's figures
for the child process. Writes JSON (--json) and prints a markdown table.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def run(command, folder):
    """Runs a command; returns its wall and CPU seconds and its peak memory in bytes."""
    begin = time.monotonic()
    child = subprocess.Popen(
        [str(c) for c in command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    message = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"kmer.py: {command[0]} failed: {message.decode(errors='replace')[-500:]}")
    return {
        "wall_s": time.monotonic() - begin,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
    }


def version_of(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    text = (done.stdout + done.stderr).strip()
    return text.splitlines()[0] if text else ""


def commands(args, k, reads):
    threads = str(args.threads)
    biogpu = [args.biogpu, "kmer", "count", "-q", "-m", k, "-C", "-s", args.size, "-t", threads]
    all_commands = {"biogpu": [*biogpu, "--device", args.device, "-o", "biogpu.jf", reads]}
    if "jellyfish" in args.peers:
        all_commands["jellyfish"] = ["jellyfish", "count", "-m", k, "-C", "-s", args.size]
        all_commands["jellyfish"] += ["-t", threads, "-o", "jellyfish.jf", reads]
    if "kmc" in args.peers:
        all_commands["kmc"] = ["kmc", f"-k{k}", "-ci1", "-cs4294967295", f"-t{threads}"]
        all_commands["kmc"] += ["-r"] if args.kmc_ram else []
        all_commands["kmc"] += [reads, "kmc", "."]
    return all_commands


def pipe_equal(first, second, folder):
    """Whether two shell commands write the same bytes."""
    script = f"cmp <({first}) <({second})"
    return subprocess.run(["bash", "-c", script], cwd=folder, check=False).returncode == 0


def check_equal(args, k, names, folder):
    """Jellyfish: the same records. KMC: the same histogram of counts, up to its cap of 10000."""
    biogpu = os.path.abspath(args.biogpu)
    if "jellyfish" in names:
        if not pipe_equal("jellyfish info -s jellyfish.jf", "jellyfish info -s biogpu.jf", folder):
            sys.exit(f"kmer.py: k={k}: the records differ from Jellyfish's")
    if "kmc" in names:
        ours = f"'{biogpu}' kmer histo -f -l 1 -h 9999 biogpu.jf | awk '$1 > 0 && $1 < 10000'"
        theirs = "kmc_tools -hp transform kmc histogram /dev/stdout | tr '\\t' ' ' | awk '$1 < 10000'"
        if not pipe_equal(ours, theirs, folder):
            sys.exit(f"kmer.py: k={k}: the histogram differs from KMC's")


def measure(args, k, reads, folder):
    all_commands = commands(args, k, reads)
    runs = {name: [] for name in all_commands}
    for turn in range(args.repeats):
        for name, command in all_commands.items():
            runs[name].append(run(command, folder))
        if turn == 0:
            check_equal(args, k, all_commands, folder)
    stats = subprocess.run(
        [args.biogpu, "kmer", "stats", "biogpu.jf"], cwd=folder, capture_output=True, text=True, check=True
    )
    fields = dict(line.split(":") for line in stats.stdout.splitlines())
    row = {"k": k, "kmers": int(fields["Total"]), "distinct": int(fields["Distinct"])}
    for name, of_name in runs.items():
        row[name] = {key: statistics.median(r[key] for r in of_name) for key in of_name[0]}
        row[name]["runs"] = of_name
        row[name]["command"] = " ".join(str(c) for c in all_commands[name])
    return row


def print_table(rows, names):
    print("| k | k-mers | distinct | program | wall s | CPU s | peak GB | M k-mers per CPU s | wall ratio | CPU ratio |")
    print("| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        base = row["biogpu"]
        for name in names:
            of = row[name]
            rate = row["kmers"] / of["cpu_s"] / 1e6
            print(
                f"| {row['k']} | {row['kmers']} | {row['distinct']} | {name} | {of['wall_s']:.2f} |"
                f" {of['cpu_s']:.2f} | {of['peak_bytes'] / 1e9:.2f} | {rate:.1f} |"
                f" {of['wall_s'] / base['wall_s']:.1f} | {of['cpu_s'] / base['cpu_s']:.1f} |"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--biogpu", required=True, type=os.path.abspath, help="the program")
    parser.add_argument("--reads", type=os.path.abspath, help="FASTQ file instead of made reads")
    parser.add_argument("--n-reads", type=int, default=2_000_000)
    parser.add_argument("--genome", type=int, default=50_000_000)
    parser.add_argument("--k", default="21,31,55", help="lengths, separated by commas")
    parser.add_argument("--size", default="100M", help="-s of biogpu and Jellyfish")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--peers", default="jellyfish,kmc")
    parser.add_argument("--kmc-ram", action="store_true", help="KMC without temporary files (-r)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", help="folder for files [a temporary one]")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    args = parser.parse_args()
    args.peers = [p for p in args.peers.split(",") if p]

    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        reads = args.reads
        if reads is None:
            reads = os.path.join(folder, "reads.fq")
            command = [sys.executable, HERE / "kmer_reads.py", "--reads", args.n_reads]
            command += ["--genome", args.genome, "--seed", args.seed]
            with open(reads, "wb") as out:
                subprocess.run([str(c) for c in command], stdout=out, check=True)
        rows = [measure(args, k, reads, folder) for k in args.k.split(",")]
    print_table(rows, ["biogpu", *args.peers])
    if args.json:
        versions = {"biogpu": version_of([args.biogpu, "--version"])}
        versions["jellyfish"] = version_of(["jellyfish", "--version"])
        versions["kmc"] = version_of(["kmc"])
        result = {"versions": versions, "threads": args.threads, "seed": args.seed, "rows": rows}
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
