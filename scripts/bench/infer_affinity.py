#!/usr/bin/env python3
"""Times a screen of ligands against one protein with `biogpu infer affinity`, and says what bounds it.

usage: scripts/bench/infer_affinity.py [--biogpu PATH] [--venv FOLDER] [--ligands N] [--distinct N] [--device NAME]
                                       [--threads N] [--seed N] [--out FILE.json]

A model of random weights of the published shape and a protein of 250 residues; N ligands (100,000) are --distinct ones
(240) in turn, so that making them takes no hours: the program reads and prepares each of them anew. First the affinities
of the distinct ligands must equal those of scripts/reference/dualbind.py to 1e-4 kcal/mol, then a run is timed. Prints
and writes complexes a second, and the parts of the time that readers, workers and the device were busy.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 1e-4  # kcal/mol


def run(command, **named):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **named)
    if done.returncode != 0:
        sys.exit(f"infer_affinity.py: {' '.join(map(str, command[:4]))}: {done.stderr.strip()[-400:]}")
    return done.stdout


def column(path, index, skip):
    return [float(line.split("\t")[index]) for line in path.read_text().splitlines()[skip:]]


def write_screen(distinct, path, n):
    records = distinct.read_text().split("$$$$\n")[:-1]
    with open(path, "w") as out:
        for i in range(n):
            out.write(records[i % len(records)] + "$$$$\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--biogpu", default=ROOT / "build" / "cpu" / "apps" / "biogpu" / "biogpu", type=pathlib.Path)
    parser.add_argument("--venv", default=ROOT / "build" / "compare" / "venv", type=pathlib.Path)
    parser.add_argument("--ligands", type=int, default=100000)
    parser.add_argument("--distinct", type=int, default=240)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    python, biogpu = options.venv.absolute() / "bin" / "python", options.biogpu.absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run([python, ROOT / "scripts/reference/make_dualbind.py", folder, "--full", "--no-expected", "--seed",
             options.seed, "--ligands", options.distinct, "--residues", 250])
        affinity = [biogpu, "infer", "affinity", "-q", "--device", options.device, "--model", folder, "--protein",
                    folder / "protein.pdb"]
        if options.threads:
            affinity += ["-t", options.threads]
        run([*affinity, folder / "ligands.sdf", "-o", folder / "ours.tsv"])
        run([python, ROOT / "scripts/reference/dualbind.py", folder, folder / "protein.pdb", folder / "ligands.sdf",
             folder / "theirs.tsv"])
        ours, theirs = column(folder / "ours.tsv", 2, 1), column(folder / "theirs.tsv", 1, 0)
        worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        if not worst <= TOLERANCE:
            sys.exit(f"infer_affinity.py: affinities differ by {worst:.3g} kcal/mol")
        write_screen(folder / "ligands.sdf", folder / "screen.sdf", options.ligands)
        run([*affinity, folder / "screen.sdf", "-o", folder / "screen.tsv", "--json", folder / "screen.json"])
        summary = json.loads((folder / "screen.json").read_text())
    wall = summary["time"]["wall_s"]
    result = {"ligands": options.ligands, "largest_difference": worst, "wall_s": wall,
              "complexes_per_s": options.ligands / wall, "time": summary["time"], "stages": summary.get("stages"),
              "device": summary.get("device")}
    print(f"{options.ligands} complexes in {wall:.2f} s, {options.ligands / wall:.0f} a second; largest difference of "
          f"{len(ours)} affinities {worst:.2g} kcal/mol")
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
