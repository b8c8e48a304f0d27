#!/usr/bin/env python3
"""Measures `biogpu bwt` against bwa, SeqAn2, libdivsufsort and libsais: equal results first, then time.

usage: scripts/bench/bwt.py [--biogpu PATH] [--seqan-fm PATH] [--libsais PATH] [--simulate PATH]
                            [--segment FASTA] [--proteins FASTA] [--bases N] [--queries N] [--threads T]
                            [--device cpu|gpu] [--repeats N] [--only-libsais | --only-smem]
                            [--genome FASTA] [--reads N] [--json FILE]

The genome is random with a fixed seed and one record without holes; queries are 100-mers of it, one in four of
them changed in one letter, half of them from the other strand. Programs take turns; medians are compared, wall
wall time and CPU time. Without bwa or the drivers (targets seqan_fm and libsais_driver, the latter
where BIOGPU_LIBSAIS names a built libsais) their part is left out and said so. libsais sorts the texts
of sort_texts.py in memory in turns with our library. Maximal matches are those of reads of 150 bases with 0.5 % of
errors and 0.25 % of N, from --genome FASTA or a text in which one stretch of 5,000 in three is a copy. docs/benchmarks/bwt.md is made from the JSON by scripts/dev/tables.py.
"""

import argparse
import functools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import sort_texts  # noqa: E402
from measure import inputs, peers, timing  # noqa: E402

PLAIN = bytes(b if b in b"ACGT" else ord("A") for b in range(256))
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def timed(command, folder):
    begin = time.monotonic()
    child = subprocess.Popen(
        [str(c) for c in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    output, message = child.communicate()
    if child.returncode != 0:
        sys.exit(f"bwt.py: {command} failed: {message.decode(errors='replace')[-400:]}")
    return time.monotonic() - begin, output.decode()


def median_runs(commands, folder, repeats):
    """Runs the commands turn by turn; the median wall seconds of each."""
    calls = {name: functools.partial(timing.run, command, folder) for name, command in commands.items()}
    return {name: {"median_s": timing.medians(runs)["wall_s"], "runs_s": [run["wall_s"] for run in runs]}
            for name, runs in timing.take_turns(calls, repeats).items()}


def write_inputs(folder, n_bases, n_queries):
    generator = random.Random(20260101)
    # Two bits a base from one big number: a loop over bases would take longer than the programs.
    pairs = generator.randbytes((n_bases + 3) // 4)
    table = ["".join("ACGT"[b >> s & 3] for s in (6, 4, 2, 0)) for b in range(256)]
    genome = "".join(table[b] for b in pairs)[:n_bases]
    (folder / "genome.fa").write_text(">genome\n" + genome + "\n")
    with open(folder / "queries.fa", "w", encoding="ascii") as out:
        for i in range(n_queries):
            at = generator.randrange(n_bases - 100)
            query = genome[at : at + 100]
            if i % 4 == 3:
                k = generator.randrange(100)
                query = query[:k] + "ACGT"["ACGT".index(query[k]) - 1] + query[k + 1 :]
            if i % 2 == 1:
                query = query.translate(COMPLEMENT)[::-1]
            out.write(f">{i}\n{query}\n")


def checksum_of(table):
    value = 14695981039346656037
    for line in table.splitlines()[1:]:
        for count in line.split("\t")[1:3]:
            value = ((value ^ int(count)) * 1099511628211) % (1 << 64)
    return value


def same(a, b):
    return a.read_bytes() == b.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--biogpu", default=ROOT / "build/cpu/apps/biogpu/biogpu", type=pathlib.Path)
    parser.add_argument("--seqan-fm", default=None, type=pathlib.Path)
    parser.add_argument("--libsais", default=None, type=pathlib.Path)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--only-libsais", action="store_true")
    only.add_argument("--only-smem", action="store_true")
    parser.add_argument("--simulate", default=None, type=pathlib.Path)
    parser.add_argument("--segment", default=None, type=pathlib.Path)
    parser.add_argument("--proteins", default=None, type=pathlib.Path)
    parser.add_argument("--genome", default=None, type=pathlib.Path)
    parser.add_argument("--reads", type=int, default=200_000)
    parser.add_argument("--bases", type=int, default=50_000_000)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", default=None, type=pathlib.Path)
    args = parser.parse_args()
    result = {"bases": args.bases, "queries": args.queries, "threads": args.threads, "device": args.device}
    if args.libsais:
        result["libsais"] = measure_sorts(args)
    elif not args.only_smem:
        print("bwt.py: no --libsais, left out", file=sys.stderr)
    if not args.only_libsais and not args.only_smem:
        measure_programs(args, result)
    if not args.only_libsais:
        measure_smem(args, result)
    text = json.dumps(result, indent=2)
    if args.json:
        args.json.write_text(text + "\n")
    print(text)


def measure_sorts(args):
    """The driver compares the arrays of both libraries before it tells their seconds."""
    command = [args.libsais.resolve(), args.bases, args.threads, args.repeats]
    lines = timed([*command, "hard"], ROOT)[1].splitlines()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for text_name, letters in sort_texts.made(args, folder):
            (folder / "text").write_text(letters)
            lines += timed([*command, "none", f"{text_name}=text"], folder)[1].splitlines()
    return [json.loads(line) for line in lines]


def measure_programs(args, result):
    biogpu = [args.biogpu.resolve(), "bwt"]
    shared = ["-q", "-t", args.threads, "--device", args.device]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_inputs(folder, args.bases, args.queries)
        native = [*biogpu, "index", *shared, "genome.fa", "-p", "native"]
        for_bwa = [*biogpu, "index", *shared, "--format", "bwa", "genome.fa", "-p", "ours"]
        count = [*biogpu, "count", *shared, "-x", "native", "queries.fa"]
        timed(native, folder)
        timed(for_bwa, folder)
        programs = {
            "index": native,
            "index_bwa": for_bwa,
            "count": count,
            "locate": [*biogpu, "locate", *shared, "-x", "native", "queries.fa"],
        }
        if shutil.which("bwa"):
            programs["bwa_index"] = peers.bwa_index("genome.fa", "theirs")
            timed(programs["bwa_index"], folder)
            for part in peers.BWA_PARTS:
                if not same(folder / f"ours.{part}", folder / f"theirs.{part}"):
                    sys.exit(f"bwt.py: .{part} differs from bwa's")
        else:
            print("bwt.py: bwa not found, left out", file=sys.stderr)
        if args.seqan_fm:
            figures = json.loads(timed([args.seqan_fm.resolve(), "genome.fa", "queries.fa"], folder)[1])
            if figures.pop("checksum") != checksum_of(timed(count, folder)[1]):
                sys.exit("bwt.py: counts differ from SeqAn2's")
            result["seqan2_and_divsufsort"] = figures
        else:
            print("bwt.py: no --seqan-fm, SeqAn2 and libdivsufsort left out", file=sys.stderr)
        result["programs"] = median_runs(programs, folder, args.repeats)
        # What the program says of its own stages.
        for name, command in (("index", native), ("index_bwa", for_bwa), ("count", count)):
            timed([*command, "--json", "summary.json", "-o", "/dev/null"] if name == "count"
                  else [*command, "--json", "summary.json"], folder)
            summary = json.loads((folder / "summary.json").read_text())
            result["programs"][name]["stages"] = {**summary["time"], **summary["memory"]}


def measure_smem(args, result):
    """bwa fastmap, on its one thread, compared with one and all threads of ours: from file to file, the same bytes."""
    if not shutil.which("bwa"):
        return
    rng = random.Random(20260102)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if args.genome:
            lines = args.genome.read_bytes().splitlines()
            genome = b"".join(line for line in lines if not line.startswith(b">")).upper()
        else:
            genome = inputs.make_genome(rng, args.bases, 1 / 3)
        inputs.write_fasta(folder / "genome.fa", [("genome", genome)])
        with open(folder / "reads.fq", "wb") as out:
            inputs.write_reads(rng, genome.translate(PLAIN), out, args.reads, errors=0.005)
        biogpu = [args.biogpu.resolve(), "bwt"]
        timed([*biogpu, "index", "-q", "-t", args.threads, "--format", "bwa", "genome.fa", "-p", "index"], folder)
        calls = {"bwa": functools.partial(timing.run_to_file, peers.bwa_matches("index", "reads.fq"), folder, "theirs")}
        for threads in sorted({1, args.threads}):
            command = [*biogpu, "smem", "-q", "-t", threads, "-x", "index", "reads.fq"]
            calls[f"biogpu_{threads}"] = functools.partial(timing.run_to_file, command, folder, f"ours_{threads}")

        def compare():
            for ours in folder.glob("ours_*"):
                if not same(ours, folder / "theirs"):
                    sys.exit("bwt.py: matches differ from bwa's")

        runs = timing.take_turns(calls, args.repeats, compare)
        result["smem"] = {"bases": len(genome), "reads": args.reads, "text": args.genome.name if args.genome else "random",
                          "programs": {name: {**timing.medians(of), "runs": of} for name, of in runs.items()}}


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    main()
