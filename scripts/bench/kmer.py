#!/usr/bin/env python3
"""Measure `biogpu kmer` against Jellyfish and KMC: equal results first, then time and memory.

Reads are made by kmer_reads.py unless --reads names a file. Programs run turn by turn, --repeats
times; medians count. Wall time, CPU time (user and system) and peak memory are the kernel's figures
for the child process. --query measures look-ups of the first reads in the database of each k.
Writes JSON (--json) and prints the tables; --page writes the page from such files and from those of
`biogpu-bench kmer --json`.
"""

import argparse
import json
import os
import pathlib
import platform
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


def measure_query(args, k, reads, folder):
    """Look-ups of the k-mers of some reads in biogpu.jf, which all programs read."""
    with open(reads, "rb") as source, open(os.path.join(folder, "some.fq"), "wb") as out:
        for _, line in zip(range(4 * args.query_reads), source):
            out.write(line)
    biogpu = [args.biogpu, "kmer", "query", "-s", "some.fq", "-o", "biogpu.txt", "-t", str(args.threads)]
    all_commands = {"biogpu": [*biogpu, "--device", args.device, "biogpu.jf"]}
    if "jellyfish" in args.peers:
        all_commands["jellyfish"] = ["jellyfish", "query", "-s", "some.fq", "-o", "jellyfish.txt", "biogpu.jf"]
    runs = {name: [] for name in all_commands}
    for turn in range(args.repeats):
        for name, command in all_commands.items():
            runs[name].append(run(command, folder))
        if turn == 0 and len(all_commands) > 1 and not pipe_equal("cat biogpu.txt", "cat jellyfish.txt", folder):
            sys.exit(f"kmer.py: k={k}: the counts looked up differ from Jellyfish's")
    with open(os.path.join(folder, "biogpu.txt"), "rb") as out:
        n_look_ups = sum(block.count(b"\n") for block in iter(lambda: out.read(1 << 24), b""))
    row = {"k": k, "look_ups": n_look_ups}
    for name, of_name in runs.items():
        row[name] = {key: statistics.median(r[key] for r in of_name) for key in of_name[0]}
        row[name]["runs"] = of_name
        row[name]["command"] = " ".join(str(c) for c in all_commands[name])
    return row


def count_table(result):
    lines = [
        "| k | k-mers | distinct | program | wall s | CPU s | peak GB | M k-mers per CPU s | wall ratio | CPU ratio |",
        "| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        base = row["biogpu"]
        for name in ("biogpu", *result["peers"]):
            of = row[name]
            lines.append(
                f"| {row['k']} | {row['kmers']} | {row['distinct']} | {name} | {of['wall_s']:.2f} |"
                f" {of['cpu_s']:.2f} | {of['peak_bytes'] / 1e9:.2f} | {row['kmers'] / of['cpu_s'] / 1e6:.1f} |"
                f" {of['wall_s'] / base['wall_s']:.1f} | {of['cpu_s'] / base['cpu_s']:.1f} |"
            )
    return lines


def query_table(result):
    lines = [
        "| k | look-ups | program | wall s | CPU s | peak GB | M look-ups per CPU s | wall ratio | CPU ratio |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["queries"]:
        base = row["biogpu"]
        for name in ("biogpu", *(p for p in result["peers"] if p in row)):
            of = row[name]
            lines.append(
                f"| {row['k']} | {row['look_ups']} | {name} | {of['wall_s']:.2f} | {of['cpu_s']:.2f} |"
                f" {of['peak_bytes'] / 1e9:.2f} | {row['look_ups'] / of['cpu_s'] / 1e6:.1f} |"
                f" {of['wall_s'] / base['wall_s']:.1f} | {of['cpu_s'] / base['cpu_s']:.1f} |"
            )
    return lines


def tables(result):
    """The sections of one result file: of this script, or of `biogpu-bench kmer`."""
    if "figures" in result:
        lines = [f"## On the device: {result['device']}", "", "| figure | median | lowest to highest | unit |"]
        lines.append("| --- | ---: | ---: | --- |")
        for f in result["figures"]:
            lines.append(
                f"| {f['name']} | {f['median']:.4g} | {f['lowest']:.4g} to {f['highest']:.4g} | {f['unit']} |"
            )
        notes = dict.fromkeys(f["how"] for f in result["figures"] if f["unit"] != "ms")
        return [*lines, "", *(f"- {note}." for note in notes), ""]
    head = f"## From file to file: {result['device']}, {result['threads']} threads"
    lines = [head, "", f"{result['machine']}. {result['reads']}", "", *count_table(result), ""]
    if result["queries"]:
        lines += ["Look-ups (`query -s`), every k-mer of some of the reads, in and out as text:", ""]
        lines += [*query_table(result), ""]
    versions = ", ".join(f"{name} `{version}`" for name, version in result["versions"].items() if version)
    return [*lines, f"Versions: {versions}.", ""]


PAGE = """# Counting against Jellyfish and KMC

Written by `scripts/bench/kmer.py --page` from the files in `scripts/bench/results`. The programs ran turn
by turn and their results were compared before a time was kept: Jellyfish's records byte by byte, KMC's
histogram, the text of look-ups. Ratios are those of a peer's median to biogpu's in the same run.

```
scripts/bench/kmer.py --biogpu build/cpu/apps/biogpu/biogpu --k 21,31,55 --threads 2 --query --json FILE
biogpu-bench kmer --json FILE
scripts/bench/kmer.py --page docs/benchmarks/kmer.md FILE...
```
"""


def write_page(path, results):
    lines = []
    for result in results:
        lines += tables(json.loads(result.read_text(encoding="ascii")))
    path.write_text(PAGE + "\n" + "\n".join(lines).rstrip() + "\n", encoding="ascii")


def processor():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
            names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
        return f"{names[0]}, {len(names)} threads" if names else platform.machine()
    except OSError:
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=pathlib.Path, help="write this page from RESULT files")
    parser.add_argument("results", nargs="*", type=pathlib.Path, metavar="RESULT")
    parser.add_argument("--biogpu", type=os.path.abspath, help="the program")
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
    if args.page:
        return write_page(args.page, args.results)
    if not args.biogpu:
        parser.error("--biogpu or --page is needed")
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
        "machine": processor(),
        "device": args.device,
        "threads": args.threads,
        "reads": f"Reads: {args.reads}." if args.reads else
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
    print("\n".join(tables(result)))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
