#!/usr/bin/env python3
"""Measure `biogpu kmer` against Jellyfish and KMC: equal results first, then time and memory.

Reads are made by kmer_reads.py unless --reads names a file. Programs run turn by turn, --repeats
times; medians count. Wall time, CPU time (user and system) and peak memory are the kernel's figures
for the child process. --query measures look-ups of the first reads in the database of each k.
Writes JSON (--json) and prints the tables; scripts/dev/tables.py writes the page from such files and from
those of `biogpu-bench kmer --json`.
"""

import argparse
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from measure import inputs, machine, peers, same, timing  # noqa: E402
from measure.bench_tables import kmer_count, kmer_query, kmer_versions  # noqa: E402
from measure.programs import first_line as version_of  # noqa: E402
from measure.text import shown  # noqa: E402


OUTPUTS = {".jf", ".kmc_pre", ".kmc_suf"}  # of counting


def commands(args, k, reads):
    threads = str(args.threads)
    biogpu = [args.biogpu, "kmer", "count", "-q", "-m", k, "-C", "-s", args.size, "-t", threads]
    all_commands = {"biogpu": [*biogpu, "--device", args.device, "-o", "biogpu.jf", reads]}
    if "jellyfish" in args.peers:
        all_commands["jellyfish"] = peers.jellyfish_count(k, args.size, threads, reads, "jellyfish.jf")
    if "kmc" in args.peers:
        all_commands["kmc"] = peers.kmc_count(k, threads, reads, "kmc", ".", args.kmc_ram)
    return all_commands


def check_equal(args, k, names, folder):
    """Jellyfish: the same records. KMC: the same histogram of counts, up to its cap of 10000."""
    biogpu = os.path.abspath(args.biogpu)
    if "jellyfish" in names:
        records = [peers.jellyfish_records(database) for database in ("jellyfish.jf", "biogpu.jf")]
        if same.difference(*records, folder) is not None:
            sys.exit(f"kmer.py: k={k}: the records differ from Jellyfish's")
    if "kmc" in names:
        ours = f"'{biogpu}' kmer histo -f -l 1 -h 9999 biogpu.jf | awk '$1 > 0 && $1 < 10000'"
        theirs = "kmc_tools -hp transform kmc histogram /dev/stdout | tr '\\t' ' ' | awk '$1 < 10000'"
        if same.difference(ours, theirs, folder) is not None:
            sys.exit(f"kmer.py: k={k}: the histogram differs from KMC's")


def run_afresh(name, command, folder):
    """Runs a command without what it wrote the last time: a program would be timed freeing that file."""
    for former in pathlib.Path(folder).glob(f"{name}.*"):
        if former.suffix in (OUTPUTS if "query" not in command else {".txt"}):
            former.unlink()
    return timing.run(command, folder)


def take_turns(args, all_commands, folder, check):
    calls = {name: functools.partial(run_afresh, name, command, folder) for name, command in all_commands.items()}
    return timing.take_turns(calls, args.repeats, check)


def measure(args, k, reads, folder):
    all_commands = commands(args, k, reads)
    runs = take_turns(args, all_commands, folder, lambda: check_equal(args, k, all_commands, folder))
    stats = subprocess.run(
        [args.biogpu, "kmer", "stats", "biogpu.jf"], cwd=folder, capture_output=True, text=True, check=True
    )
    fields = dict(line.split(":") for line in stats.stdout.splitlines())
    row = {"k": k, "kmers": int(fields["Total"]), "distinct": int(fields["Distinct"])}
    for name, of_name in runs.items():
        row[name] = timing.medians(of_name)
        row[name]["runs"] = of_name
        row[name]["command"] = shown(all_commands[name])
    return row


def measure_query(args, k, reads, folder):
    """Look-ups of the k-mers of some reads in biogpu.jf, which all programs read."""
    inputs.copy_reads(reads, os.path.join(folder, "some.fq"), args.query_reads)
    biogpu = [args.biogpu, "kmer", "query", "-s", "some.fq", "-o", "biogpu.txt", "-t", str(args.threads)]
    all_commands = {"biogpu": [*biogpu, "--device", args.device, "biogpu.jf"]}
    if "jellyfish" in args.peers:
        all_commands["jellyfish"] = peers.jellyfish_query("some.fq", "biogpu.jf", "jellyfish.txt")

    def check():
        if len(all_commands) == 1:
            return
        if same.difference("cat biogpu.txt", "cat jellyfish.txt", folder) is not None:
            sys.exit(f"kmer.py: k={k}: the counts looked up differ from Jellyfish's")

    runs = take_turns(args, all_commands, folder, check)
    with open(os.path.join(folder, "biogpu.txt"), "rb") as out:
        n_look_ups = sum(block.count(b"\n") for block in iter(lambda: out.read(1 << 24), b""))
    row = {"k": k, "look_ups": n_look_ups}
    for name, of_name in runs.items():
        row[name] = timing.medians(of_name)
        row[name]["runs"] = of_name
        row[name]["command"] = shown(all_commands[name])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--biogpu", type=os.path.abspath, required=True, help="the program")
    parser.add_argument("--reads", type=os.path.abspath, help="FASTQ file instead of made reads")
    parser.add_argument("--n-reads", type=int, default=200_000)
    parser.add_argument("--genome", type=int, default=5_000_000)
    parser.add_argument("--k", default="21,31,55", help="lengths, separated by commas")
    parser.add_argument("--size", default="100M", help="-s of biogpu and Jellyfish")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--peers", default="jellyfish,kmc")
    parser.add_argument("--kmc-ram", action="store_true", help="KMC without temporary files (-r)")
    parser.add_argument("--query", action="store_true", help="measure look-ups too")
    parser.add_argument("--query-reads", type=int, default=100_000)
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
        rows, queries = [], []
        for k in args.k.split(","):
            rows.append(measure(args, k, reads, folder))
            if args.query:
                queries.append(measure_query(args, k, reads, folder))
    result = {
        "machine": f"{machine.processor()}, {os.cpu_count()} threads",
        "device": args.device,
        "threads": args.threads,
        "reads": f"Reads: {os.path.basename(args.reads)}." if args.reads else
                 f"{args.n_reads} reads of 150 bases of a genome of {args.genome} bases, seed {args.seed}.",
        "peers": args.peers,
        "versions": {
            "biogpu": version_of([args.biogpu, "--version"]),
            "jellyfish": version_of(["jellyfish", "--version"]),
            "kmc": version_of(["kmc"]),
        },
        "rows": rows,
        "queries": queries,
    }
    print("\n".join([*kmer_versions(result), "", *kmer_count(result)]))
    if queries:
        print("\n".join(["", *kmer_query(result)]))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    try:
        main()
    except timing.Failed as failure:
        sys.exit(f"kmer.py: {failure}")
