#!/usr/bin/env python3
"""Draws the plots of docs/benchmarks from the results that its tables are made of.

usage: scripts/bench/plots.py [--check]

Writes docs/benchmarks/*.svg; --check changes nothing and fails where one is not what its result gives.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from measure import plot, result_files  # noqa: E402

ALIGN_CPU = "2026-11-22-2-of-16-cores/align_cpu.json"
ALIGN_GPU = "2026-11-22-h200/align_gpu_parasail.json"
BWT_CPU = "2026-11-21-2-cores/bwt_cpu.json"
BWT_HARD = "2026-11-22-h200/bwt_gpu.jsonl"


def draw_align_cpu():
    cases = []
    for row in result_files.load(ALIGN_CPU):
        ours, theirs = row["biogpu_gcups_per_core"], row["parasail_gcups_per_core"]
        cases.append((row["workload"], [("biogpu", ours, [ours]), ("Parasail's fastest function", theirs, [theirs])]))
    return plot.bars(
        "biogpu align on a CPU core compared with Parasail",
        "GCUPS of a core, a billion cells of the matrix a second, library against library, with two threads. Drawn by "
        f"scripts/bench/plots.py from {ALIGN_CPU}.", cases, "GCUPS", more=True)


def draw_align_gpu():
    result = result_files.load(ALIGN_GPU)
    cases = []

    def add(name, ours, theirs):
        cases.append((name, [("biogpu", ours, [ours]), ("Parasail's fastest function, 16 cores", theirs, [theirs])]))

    for row in result["library"]:
        theirs = min(row["parasail_all_s"].values()) / row["parasail_pairs"]
        add(f"{row['workload']}, device", row["biogpu_device_s"] / row["pairs"], theirs)
        add(f"{row['workload']}, host to host", row["biogpu_s"] / row["pairs"], theirs)
    for row in result["files"]:
        add(row["workload"], row["biogpu_s"] / row["pairs"], row["parasail_s"] / row["pairs"])
    return plot.bars(
        "biogpu align on one H200 compared with Parasail on the 16 cores of the same host",
        f"Time of a pair. The last is from file to file. Drawn by scripts/bench/plots.py from {ALIGN_GPU}.", cases)


def draw_bwt_cpu():
    result = result_files.load(BWT_CPU)
    ours, peers = result["programs"], result["seqan2_and_divsufsort"]

    def bar(name, program):
        return name, program["median_s"], program["runs_s"]

    def one(name, seconds):
        return name, seconds, [seconds]

    return plot.bars(
        "biogpu bwt on two CPU cores compared with bwa and SeqAn2",
        f"{result['bases'] / 1e6:.0f} Mbp of random bases, {result['queries'] / 1e6:.0f} million 100-mers. biogpu with "
        f"{result['threads']} threads, from file to file; SeqAn2 with one thread, in memory; bwa index has one. "
        f"Bars are medians, dots single runs. Drawn by scripts/bench/plots.py from {BWT_CPU}.",
        [("FM-index", [bar("biogpu", ours["index"]), one("bwa or SeqAn2", peers["build_s"])]),
         ("the files of bwa index", [bar("biogpu", ours["index_bwa"]), bar("bwa", ours["bwa_index"])]),
         ("counting 100-mers", [bar("biogpu", ours["count"]), one("SeqAn2", peers["count_s"])])])


def draw_bwt_hard():
    hard = {row["text"]: row for row in result_files.load(BWT_HARD) if row["what"] == "hard"}
    cases = [(text, [("a random text of its kind", hard[row["like"]]["wall_s"], [hard[row["like"]]["wall_s"]]),
                     ("the hard text", row["wall_s"], [row["wall_s"]])])
             for text, row in hard.items() if text != row["like"]]
    return plot.bars("Sorting hard texts on one H200",
                     f"{hard['random']['bases'] / 1e6:.0f} million symbols each, the best of three runs. Drawn by "
                     f"scripts/bench/plots.py from {BWT_HARD}.", cases)


PLOTS = {"align_cpu": draw_align_cpu, "align_gpu": draw_align_gpu, "bwt_cpu": draw_bwt_cpu, "bwt_hard": draw_bwt_hard}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for name, draw in PLOTS.items():
        path, text = ROOT / "docs/benchmarks" / f"{name}.svg", draw()
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"plots.py: {path.relative_to(ROOT)} is not what its result gives")


if __name__ == "__main__":
    main()
