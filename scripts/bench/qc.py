#!/usr/bin/env python3
"""Times `biogpu qc` compared with fastp on simulated pairs, in turns, after comparing what they write.

usage: scripts/bench/qc.py BIOGPU [--fastp PROGRAM] [--pairs N] [--threads N] [--runs N]
                           [--device WHAT] [--cases LIST] [--json FILE] [--folder FOLDER]
                           [--adapterremoval PROGRAM] [--resident] [--perf PROGRAM] [--no-wall]

Cases: plain (pairs, text in and out), gzip (pairs, one gzip member a file in, gzip out), single
(single reads, text). Pairs of 150 bases come from `biogpu-bench reads` with a fixed seed, beside
BIOGPU or in --bench. The outputs of both programs are compared first, gzip after decompression; a
case that differs is not timed. Reports medians of wall time, CPU time and peak memory, and their
ratios. Without fastp, only biogpu is timed. --adapterremoval adds AdapterRemoval 3, gzip to gzip; --resident the
stages on pairs that lie on the GPU compared with one thread of fastp; --perf a profile of each case. --no-wall leaves
out wall times, which mean nothing where other programs run; CPU times and their ratios stay. Put FOLDER on a fast disk or in memory: 730 MB a
million pairs and mate, three times. scripts/dev/tables.py writes the page from --json.
"""

import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import qc_peers  # noqa: E402
import qc_profile  # noqa: E402
from measure import machine, peers, timing  # noqa: E402

PIECE_BYTES = 8 << 20
WINDOW_BYTES = 32 << 10


def pack_piece(text, window, last):
    packer = zlib.compressobj(4, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, window)
    return packer.compress(text) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)


def write_gzip(path):
    """Writes path.gz: one member, as `gzip -4` makes it, by all cores."""
    text = path.read_bytes()
    begins = range(0, max(1, len(text)), PIECE_BYTES)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pieces = pool.map(lambda at: pack_piece(text[at:at + PIECE_BYTES],
                                                text[max(0, at - WINDOW_BYTES):at],
                                                at + PIECE_BYTES >= len(text)), begins)
        with open(f"{path}.gz", "wb") as packed:
            packed.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
            for piece in pieces:
                packed.write(piece)
            packed.write(struct.pack("<II", zlib.crc32(text), len(text) & 0xffffffff))


def find_bench(arguments):
    program = pathlib.Path(arguments.biogpu)
    for path in (arguments.bench, program.parent / "biogpu-bench",
                 program.parents[1] / "biogpu-bench" / "biogpu-bench"):
        if path and pathlib.Path(path).is_file():
            return str(pathlib.Path(path).resolve())
    sys.exit("qc.py: no biogpu-bench beside the program; name it with --bench")


def make_input(arguments, folder):
    """Writes r1.fq and r2.fq, and the same as .gz where a case wants it."""
    paths = [folder / f"r{mate}.fq" for mate in (1, 2)]
    subprocess.run([find_bench(arguments), "reads", "--pairs", str(arguments.pairs), "--seed", "1",
                    *map(str, paths)], check=True)
    if "gzip" in arguments.cases or arguments.adapterremoval:
        for path in paths:
            write_gzip(path)


def run(line, folder):
    """Runs a program; returns wall seconds, CPU seconds and peak memory in MB."""
    figures = timing.run(line, folder)
    return {"wall_s": figures["wall_s"], "cpu_s": figures["cpu_s"], "peak_mb": figures["peak_bytes"] / 2**20}


def same(a, b):
    opener = gzip.open if a.suffix == ".gz" else open
    with opener(a, "rb") as left, opener(b, "rb") as right:
        while True:
            x, y = left.read(1 << 20), right.read(1 << 20)
            if x != y:
                return False
            if not x:
                return True


def case_lines(arguments, work, name):
    suffix = ".fq.gz" if name == "gzip" else ".fq"
    mates = (1,) if name == "single" else (1, 2)
    lines = {}
    for program in ("biogpu", "fastp"):
        out = work / program
        out.mkdir(exist_ok=True)
        line = [arguments.biogpu, "qc", *arguments.profile, "--device", arguments.device] if program == "biogpu" else [
            arguments.fastp]
        reads = [work / f"r{mate}{suffix}" for mate in mates]
        trimmed = [out / f"o{mate}{suffix}" for mate in mates]
        line = peers.trim(line, arguments.threads, reads, trimmed, out / "report")
        lines[program] = [str(word) for word in line]
    return lines, [f"o{mate}{suffix}" for mate in mates]


def bench(arguments, work, name, have_fastp):
    keys = ("cpu_s",) if arguments.no_wall else ("wall_s", "cpu_s")
    lines, outputs = case_lines(arguments, work, name)
    programs = ["biogpu", "fastp"] if have_fastp else ["biogpu"]
    for program in programs:
        run(lines[program], work / program)
    row = {"case": name, "pairs": arguments.pairs, "threads": arguments.threads, "equal": None}
    if have_fastp:
        row["equal"] = all(same(work / "biogpu" / f, work / "fastp" / f) for f in outputs)
        row["output_size_ratio"] = sum((work / "biogpu" / f).stat().st_size for f in outputs) / sum(
            (work / "fastp" / f).stat().st_size for f in outputs)
        if not row["equal"]:
            print(f"{name}: the outputs differ; not timed")
            return row
    runs = {program: [] for program in programs}
    for _ in range(arguments.runs):
        for program in programs:
            runs[program].append(run(lines[program], work / program))
    for program in programs:
        shown = timing.medians(runs[program])
        row[program] = {key: value for key, value in shown.items() if key in (*keys, "peak_mb")}
        row[f"{program}_runs"] = [{key: run[key] for key in row[program]} for run in runs[program]]
        print(f"{name:7} {program:7} {shown['wall_s']:7.2f} s wall {shown['cpu_s']:7.2f} s CPU "
              f"{shown['peak_mb']:6.0f} MB")
    if arguments.perf:
        row["profile"] = qc_profile.profile(arguments.perf, lines["biogpu"], work / "biogpu")
    if have_fastp:
        for key in keys:
            row[f"ratio_{key}"] = row["fastp"][key] / row["biogpu"][key]
        ratios = ", ".join(f"{row[f'ratio_{key}']:.2f} {key.removesuffix('_s')}" for key in keys)
        print(f"{name:7} fastp / biogpu: {ratios}; output {row['output_size_ratio']:.3f} of fastp's")
    return row


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("biogpu")
    parser.add_argument("--fastp", default="fastp")
    parser.add_argument("--bench")
    parser.add_argument("--pairs", type=int, default=1000000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--cases", default="plain,gzip,single")
    parser.add_argument("--adapterremoval")
    parser.add_argument("--resident", action="store_true")
    parser.add_argument("--perf")
    parser.add_argument("--no-wall", action="store_true")
    arguments = parser.parse_args()
    arguments.biogpu = str(pathlib.Path(arguments.biogpu).resolve())
    arguments.cases = arguments.cases.split(",")
    have_fastp = shutil.which(arguments.fastp) is not None
    if have_fastp:
        arguments.fastp = str(pathlib.Path(shutil.which(arguments.fastp)).absolute())
    arguments.profile = peers.qc_profile(peers.fastp_version(arguments.fastp)) if have_fastp else []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        work = pathlib.Path(folder)
        make_input(arguments, work)
        result = {"machine": {"processor": machine.processor(), "cores": os.cpu_count()},
                  "device": arguments.device,
                  "rows": [bench(arguments, work, name, have_fastp) for name in arguments.cases]}
        if arguments.adapterremoval:
            arguments.adapterremoval = str(pathlib.Path(arguments.adapterremoval).absolute())
            result["adapterremoval"] = qc_peers.adapter_removal(arguments, work)
        if arguments.resident and have_fastp:
            result["resident"] = qc_peers.resident(arguments, find_bench(arguments), work)
    if have_fastp:
        result["fastp"] = peers.fastp_version(arguments.fastp)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
