#!/usr/bin/env python3
"""Draws the plots of docs/benchmarks/bwt.md from the results that its tables are made of.

usage: scripts/bench/bwt_plots.py [--check]

Writes docs/benchmarks/bwt_cpu.svg and bwt_hard.svg; --check changes nothing and fails where one is not what its
result gives.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from measure import plot  # noqa: E402

RESULTS = ROOT / "scripts/bench/results"
CPU = "2026-11-21-2-cores/bwt_cpu.json"
HARD = "2026-11-22-h200/bwt_gpu.jsonl"


def draw_cpu():
    result = json.loads((RESULTS / CPU).read_text())
    ours, peers = result["programs"], result["seqan2_and_divsufsort"]

    def bar(name, program):
        return name, program["median_s"], program["runs_s"]

    def one(name, seconds):
        return name, seconds, [seconds]

    return plot.bars(
        "biogpu bwt on two CPU cores beside bwa and SeqAn2",
        f"{result['bases'] / 1e6:.0f} Mbp of random bases, {result['queries'] / 1e6:.0f} million 100-mers. biogpu with "
        f"{result['threads']} threads, from file to file; SeqAn2 with one thread, in memory; bwa index has one. "
        f"Bars are medians, dots single runs. Drawn by scripts/bench/bwt_plots.py from {CPU}.",
        [("FM-index", [bar("biogpu", ours["index"]), one("bwa or SeqAn2", peers["build_s"])]),
         ("the files of bwa index", [bar("biogpu", ours["index_bwa"]), bar("bwa", ours["bwa_index"])]),
         ("counting 100-mers", [bar("biogpu", ours["count"]), one("SeqAn2", peers["count_s"])])])


def draw_hard():
    rows = [json.loads(line) for line in (RESULTS / HARD).read_text().splitlines()]
    hard = {row["text"]: row for row in rows if row["what"] == "hard"}
    cases = [(text, [("a random text of its kind", hard[row["like"]]["wall_s"], [hard[row["like"]]["wall_s"]]),
                     ("the hard text", row["wall_s"], [row["wall_s"]])])
             for text, row in hard.items() if text != row["like"]]
    return plot.bars("Sorting hard texts on one H200",
                     f"{hard['random']['bases'] / 1e6:.0f} million symbols each, the best of three runs. Drawn by "
                     f"scripts/bench/bwt_plots.py from {HARD}.", cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for name, text in (("bwt_cpu.svg", draw_cpu()), ("bwt_hard.svg", draw_hard())):
        path = ROOT / "docs/benchmarks" / name
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"bwt_plots.py: {path.relative_to(ROOT)} is not what its result gives")


if __name__ == "__main__":
    main()
