#!/usr/bin/env python3
"""Times `biogpu qc` beside fastp on simulated pairs, in turns, after comparing what they write.

usage: scripts/bench/qc.py BIOGPU [--fastp PROGRAM] [--pairs N] [--threads N] [--runs N]
                           [--device WHAT] [--json FILE] [--markdown FILE] [--folder FOLDER]

Cases: plain in and out, gzip in and out, single reads plain. Pairs of 150 bases come from
scripts/compare/fastp.py's generator with a fixed seed: 50,000 pairs, repeated under new names. The
outputs of both programs are compared first, gzip after decompression; a case that differs is not
timed. Reports medians of wall time, CPU time and peak memory, and their ratios. Without fastp, only
biogpu is timed. Put FOLDER on a fast disk or in memory: 750 MB a million pairs, four times.
"""

import argparse
import gzip
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "compare"))
import fastp as compare  # noqa: E402  (the generator)

UNIT_PAIRS = 50000


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def make_input(folder, n_pairs):
    """Writes r1.fq and r2.fq with n_pairs pairs, and the same as .gz of one member each."""
    compare.simulate(folder, min(n_pairs, UNIT_PAIRS), 150, 1)
    for mate in (1, 2):
        path = folder / f"r{mate}.fq"
        unit = path.read_text(encoding="ascii")
        with open(path, "w", encoding="ascii") as out:
            for copy in range(max(1, n_pairs // UNIT_PAIRS)):
                out.write(unit.replace("@SIM", f"@SIM{copy}x"))
        packer = ["gzip", "-4", "-c", str(path)]
        with open(f"{path}.gz", "wb") as packed:
            subprocess.run(packer, stdout=packed, check=True)


def run(line, folder):
    """Runs a program; returns wall seconds, CPU seconds and peak memory in MB."""
    started = time.perf_counter()
    with open(folder / "stderr.txt", "wb") as log:
        child = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=log, cwd=folder)
        _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(line)}: status {status}: {(folder / 'stderr.txt').read_text()[-400:]}")
    wall = time.perf_counter() - started
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss / 1024}


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
        line = [arguments.biogpu, "qc", "--device", arguments.device] if program == "biogpu" else [
            arguments.fastp]
        for mate, (i, o) in zip(mates, (("-i", "-o"), ("-I", "-O"))):
            line += [i, str(work / f"r{mate}{suffix}"), o, str(out / f"o{mate}{suffix}")]
        line += ["-w", str(arguments.threads), "-j", str(out / "report.json"), "-h",
                 str(out / "report.html")]
        lines[program] = line
    return lines, [f"o{mate}{suffix}" for mate in mates]


def bench(arguments, work, name, have_fastp):
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
        row[program] = {key: statistics.median(r[key] for r in runs[program])
                        for key in ("wall_s", "cpu_s", "peak_mb")}
        row[f"{program}_runs"] = runs[program]
        shown = row[program]
        print(f"{name:7} {program:7} {shown['wall_s']:7.2f} s wall {shown['cpu_s']:7.2f} s CPU "
              f"{shown['peak_mb']:6.0f} MB")
    if have_fastp:
        for key in ("wall_s", "cpu_s"):
            row[f"ratio_{key}"] = row["fastp"][key] / row["biogpu"][key]
        print(f"{name:7} fastp / biogpu: {row['ratio_wall_s']:.2f} wall, "
              f"{row['ratio_cpu_s']:.2f} CPU; output {row['output_size_ratio']:.3f} of fastp's")
    return row


def markdown(result):
    """docs/benchmarks/qc.md from a result."""
    machine = result["machine"]
    lines = ["# qc beside fastp", "",
             f"Made by `scripts/bench/qc.py`. {machine['cores']} cores, {machine['processor']}; "
             f"{result.get('fastp', 'no fastp')}; device {result['device']}.",
             "Medians; outputs were compared before anything was timed. Ratios are fastp's figure over",
             "biogpu's, runs taken in turns.", "",
             "| case | pairs | threads | program | wall, s | CPU, s | peak memory, MB |",
             "| --- | ---: | ---: | --- | ---: | ---: | ---: |"]
    for row in result["rows"]:
        for program in ("biogpu", "fastp"):
            if program in row:
                shown = row[program]
                lines.append(f"| {row['case']} | {row['pairs']:,} | {row['threads']} | {program} | "
                             f"{shown['wall_s']:.2f} | {shown['cpu_s']:.2f} | "
                             f"{shown['peak_mb']:.0f} |")
    lines += ["", "| case | equal output | wall | CPU | size of the output |",
              "| --- | --- | ---: | ---: | ---: |"]
    for row in result["rows"]:
        if "ratio_wall_s" in row:
            lines.append(f"| {row['case']} | {'yes' if row['equal'] else 'NO'} | "
                         f"{row['ratio_wall_s']:.2f}x | {row['ratio_cpu_s']:.2f}x | "
                         f"{row['output_size_ratio']:.3f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("biogpu")
    parser.add_argument("--fastp", default="fastp")
    parser.add_argument("--pairs", type=int, default=1000000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--cases", default="plain,gzip,single")
    arguments = parser.parse_args()
    arguments.biogpu = str(pathlib.Path(arguments.biogpu).resolve())
    have_fastp = shutil.which(arguments.fastp) is not None
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        work = pathlib.Path(folder)
        make_input(work, arguments.pairs)
        rows = [bench(arguments, work, name, have_fastp) for name in arguments.cases.split(",")]
    result = {"machine": {"processor": processor(), "cores": os.cpu_count()},
              "device": arguments.device, "rows": rows}
    if have_fastp:
        result["fastp"] = subprocess.run([arguments.fastp, "--version"], capture_output=True,
                                         text=True, check=False).stderr.strip()
    if arguments.markdown:
        arguments.markdown.write_text(markdown(result), encoding="utf-8")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
