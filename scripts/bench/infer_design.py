#!/usr/bin/env python3
"""Compares `biogpu infer design` with the original ProteinMPNN: sequences first, then time.

usage: scripts/bench/infer_design.py ORIGINAL BIOGPU [--threads N] [--samples N] [--runs N] [--json FILE]
                                    [--only NAME ...]

ORIGINAL is a clone of github.com/dauparas/ProteinMPNN, whose inputs/ are the structures (--only: some of them).
Homo-oligomers are designed with tied chains. Both take the same random weights and numbers; a sequence that
differs ends the run before anything is timed. What is timed: reading the structure, the score of its own
sequence, and the samples with their scores; biogpu's time is that of the whole process, with the loading of its
weights, the original's excludes imports and loading. Runs alternate; medians of wall and of CPU seconds.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts" / "reference"))

import safetensors.numpy  # noqa: E402
import torch  # noqa: E402

import make_proteinmpnn  # noqa: E402
from design import TEMPERATURE, design, make_draws, tie_all  # noqa: E402
from proteinmpnn_original import Original  # noqa: E402

def find_inputs(original, names):
    for path in sorted((pathlib.Path(original) / "inputs").glob("PDB_*/pdbs/*.pdb")):
        if not names or path.stem in names:
            yield path, "homooligomers" in str(path)


def run_biogpu(command, folder, path, tied, n_samples):
    extra = ["--homooligomer"] if tied else []
    subprocess.run([*command, str(path), "-n", str(n_samples), "--draws", str(folder / "draws.safetensors"),
                    "-o", str(folder / "out.fa"), *extra], check=True)
    lines = (folder / "out.fa").read_text().splitlines()
    return [(h.split("score=")[1].split(",")[0], s) for h, s in zip(lines[2::2], lines[3::2])]


def timed(call):
    before, begin = os.times(), time.perf_counter()
    result = call()
    after, wall = os.times(), time.perf_counter() - begin
    return result, wall, sum(after[:4]) - sum(before[:4])


def compare(original, command, folder, path, tied, arguments):
    length = original.featurize(path)["X"].shape[1]
    draws = make_draws(path.stem, length, arguments.samples)
    safetensors.numpy.save_file(draws, folder / "draws.safetensors")
    walls, cpus = ([], []), ([], [])
    for _ in range(arguments.runs):
        results = []
        for i, call in enumerate((lambda: design(original, path, tied, draws, arguments.samples),
                                  lambda: run_biogpu(command, folder, path, tied, arguments.samples))):
            result, wall, cpu = timed(call)
            results.append(result)
            walls[i].append(wall)
            cpus[i].append(cpu)
        for (ours, theirs) in zip(results[1], results[0]):
            if ours[1] != theirs[1] or abs(float(ours[0]) - float(theirs[0])) > 2e-4:
                sys.exit(f"{path.stem}: differs from the original\n{theirs}\n{ours}")
    row = {"structure": path.stem, "residues": length, "tied": bool(tied), "samples": arguments.samples}
    for i, who in enumerate(("original", "biogpu")):
        row[f"{who}_wall_s"] = round(statistics.median(walls[i]), 4)
        row[f"{who}_cpu_s"] = round(statistics.median(cpus[i]), 4)
    row["wall_ratio"] = round(row["original_wall_s"] / row["biogpu_wall_s"], 1)
    row["cpu_ratio"] = round(row["original_cpu_s"] / max(row["biogpu_cpu_s"], 0.01), 1)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original")
    parser.add_argument("biogpu")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    state = make_proteinmpnn.make_state(False, 1)
    original = Original(arguments.original, make_proteinmpnn.checkpoint_of(state))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_proteinmpnn.convert.write(state, folder / "model", "v_48_020", make_proteinmpnn.NEIGHBOURS, 0.2)
        command = [arguments.biogpu, "infer", "design", "-q", "--device", "cpu", "--model", str(folder / "model"),
                   "--temperature", str(TEMPERATURE), "--threads", str(arguments.threads)]
        for path, is_oligomer in find_inputs(arguments.original, arguments.only):
            tied = tie_all(path, original) if is_oligomer else None
            rows.append(compare(original, command, folder, path, tied, arguments))
            print(json.dumps(rows[-1]), flush=True)
    if arguments.json:
        result = {"threads": arguments.threads, "torch": torch.__version__, "rows": rows}
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
