#!/usr/bin/env python3
"""Compares `biogpu infer recognize` with MolScribe in PyTorch on drawings, then times both.

usage: molscribe.py BIOGPU FOLDER OUT.json [--pictures N] [--seed N] [--device cpu|gpu] [--threads N] [--batch N]
                    [--timed N] [--repeats N] [--tokens N] [--precisions TYPE,...]

FOLDER: a model, for example one that scripts/reference/make_molscribe.py --shape base has made. Drawings are made from the
seed: by RDKit of random chains and rings where it is installed, else lines and letters. The reference is
scripts/reference/molscribe.py in fp32 on the same kind of device, --timed pictures (all) alone and the others in batches of
--batch. Atoms, places and bonds must be equal; a difference counts as a tie, and is reported as one, where the reference's
own margin between the first and the second token of the picture, or of each bond that differs, is below 1e-4. Fails where others differ in fp32; in the other
--precisions they are counted alone. The reference in double precision decodes the --timed pictures too: what of it differs
in fp32, and how far the least margins of both are off. Then times, of the --timed pictures in batches of one and of 64: the reference, and
biogpu's whole commands without the time of loading, the pictures once and --repeats times. Random weights often write as
many tokens as they may; --tokens sets this bound.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np
import safetensors.torch
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/reference"))
import molscribe  # noqa: E402

TIE = 1e-4
KINDS = ["", "single", "double", "triple", "aromatic", "solid wedge", "dashed wedge"]


def random_smiles(random):
    """A chain with rings and other atoms."""
    parts = []
    for _ in range(int(random.integers(2, 9))):
        parts.append(str(random.choice(["C", "N", "O", "CC", "C(=O)", "C(F)", "c1ccccc1", "C1CCNCC1", "S(=O)(=O)", "C#C",
                                        "[C@H](C)", "C(Cl)", "c1ccncc1"])))
    return "".join(parts)


def lines_and_letters(random):
    height, width = (int(n) for n in random.integers(120, 500, 2))
    picture = np.full((height, width, 3), 255, np.uint8)
    for _ in range(int(random.integers(5, 30))):
        ends = [[int(random.integers(0, n)) for n in (width, height)] for _ in range(2)]
        cv2.line(picture, ends[0], ends[1], (0, 0, 0), int(random.integers(1, 3)), cv2.LINE_AA)
    for letter in random.choice(list("NOSFCl"), 6):
        at = [int(random.integers(0, n)) for n in (width, height)]
        cv2.putText(picture, str(letter), at, cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 0, 0), 1, cv2.LINE_AA)
    return picture


def draw(path, seed):
    random = np.random.default_rng(seed)
    try:
        from rdkit import Chem
        from rdkit.Chem import Draw
    except ImportError:
        cv2.imwrite(str(path), lines_and_letters(random))
        return
    mol = None
    while mol is None:
        mol = Chem.MolFromSmiles(random_smiles(random))
    Draw.MolToFile(mol, str(path), size=tuple(int(n) for n in random.integers(200, 500, 2)))


def run_biogpu(args, paths, lines, precision="fp32", batch=None):
    names = lines.with_suffix(".txt")
    names.write_text("".join(f"{path}\n" for path in paths))
    command = [args.biogpu, "infer", "recognize", "-q", "--model", args.folder, "--device", args.device, "-t", str(args.threads),
               "--chemistry", "plain", "--precision", precision, *(["--batch", batch] if batch else []), "--list", names, "--json-lines", lines, "-o", lines.with_suffix(".tsv")]
    begin = time.perf_counter()
    subprocess.run(list(map(str, command)), check=True)
    return time.perf_counter() - begin


def graph_of(line):
    atoms = [(atom["atom_symbol"], atom["x"], atom["y"]) for atom in line["atoms"]]
    return atoms, [[*bond["endpoint_atoms"], KINDS.index(bond["bond_type"])] for bond in line["bonds"]]


def result_graph(result):
    return [tuple(atom) for atom in result["atoms"]], [list(bond) for bond in result["bonds"]]


def against_double(results, found, exact):
    """Of fp32: pictures whose atoms equal those of double precision, and the errors of their least margins."""
    graphs = {"reference": [(result_graph(result)[0], min(result["margins"])) for result in results],
              "biogpu": [(graph_of(line)[0], line["least_margin"]) for line in found]}
    report = {"pictures": len(exact)}
    for name, pairs in graphs.items():
        errors = [abs(margin - min(right["margins"])) for (atoms, margin), right in zip(pairs, exact)
                  if atoms == result_graph(right)[0]]
        report[name] = {"equal_atoms": len(errors), "margin_error_median": float(np.median(errors)) if errors else None,
                        "margin_error_largest": max(errors, default=None)}
    return report


def margin_of_difference(result, line):
    """None where graphs are equal; how sure the reference is of what differs."""
    atoms, bonds = graph_of(line)
    right_atoms, right_bonds = result_graph(result)
    if atoms != right_atoms:
        return min(result["margins"])
    ours, right = ({(i, j): kind for i, j, kind in some} for some in (bonds, right_bonds))
    return max((result["pair_margins"][i][j] for i, j in ours.keys() | right.keys()
                if ours.get((i, j)) != right.get((i, j))), default=None)


def compare(results, lines):
    """Counts, and the least margins."""
    counts = {"pictures": len(results), "equal": 0, "ties": 0, "different": 0}
    for result, line in zip(results, lines):
        margin = margin_of_difference(result, line)
        kind = "equal" if margin is None else "ties" if margin < TIE else "different"
        counts[kind] += 1
        if kind == "different":
            same_atoms = graph_of(line)[0] == result_graph(result)[0]
            print(f"{line['image']}: {'bonds differ' if same_atoms else 'atoms differ'}, margin {margin:.3g}", file=sys.stderr)
    margins = sorted(min(result["margins"]) for result in results)
    counts["least_margins"] = margins[:10]
    counts["margins_below_1e-3"] = sum(margin < 1e-3 for margin in margins)
    return counts


def predict_all(args, paths):
    """The reference's results, those of the --timed pictures in double precision, and its seconds by size of batch."""
    torch.set_num_threads(args.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    config = json.loads((args.folder / "config.json").read_text())
    tensors = safetensors.torch.load_file(args.folder / "model.safetensors", device="cuda" if args.device == "gpu" else "cpu")
    network = molscribe.Network(config, {name: x.float() for name, x in tensors.items()},
                                json.loads((args.folder / config["vocab_file"]).read_text()))

    def predict(some, batch):
        begin, results = time.perf_counter(), []
        for i in range(0, len(some), batch):
            results += network.predict_batch([molscribe.read_picture(path, network.config["input_size"])
                                              for path in some[i:i + batch]])
        return results, time.perf_counter() - begin

    timed = paths[:args.timed]
    predict(timed[:1], 1)
    alone, seconds = predict(timed, 1)
    results = alone + predict(paths[args.timed:], args.batch)[0]
    seconds = {1: seconds, 64: predict(timed, 64)[1]}
    network.double()
    return results, predict(timed, 64)[0], seconds


def with_bound(folder, n_tokens, to):
    """The model with another longest sequence."""
    to.mkdir()
    config = json.loads((folder / "config.json").read_text())
    (to / "config.json").write_text(json.dumps({**config, "max_length": n_tokens}))
    for name in ("model.safetensors", config["vocab_file"]):
        (to / name).symlink_to((folder / name).resolve())
    return to


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--timed", type=int)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    if args.repeats < 2:
        parser.error("--repeats must be 2 or more: the time of loading is the difference of two runs")
    args.timed = min(args.timed or args.pictures, args.pictures)
    report = {"model": str(args.folder), "device": args.device, "threads": args.threads, "seed": args.seed,
              "batch_of_reference": args.batch, "longest_sequence": args.tokens}
    with tempfile.TemporaryDirectory() as work:
        if args.tokens:
            args.folder = with_bound(args.folder, args.tokens, pathlib.Path(work) / "model")
        paths = [pathlib.Path(work) / f"{i:05d}.png" for i in range(args.pictures)]
        for i, path in enumerate(paths):
            draw(path, [args.seed, i])
        results, exact, reference_s = predict_all(args, paths)
        lines = pathlib.Path(work) / "lines.jsonl"
        for precision in args.precisions.split(","):
            run_biogpu(args, paths, lines, precision)
            found = [json.loads(line) for line in lines.read_text().splitlines()]
            report[precision] = compare(results, found)
            if precision == "fp32":
                report["against_double"] = against_double(results, found, exact)
            print(precision, json.dumps(report[precision]), flush=True)
        timed = paths[:args.timed]
        report.update(n_timed=args.timed, n_tokens=sum(len(result["tokens"]) for result in results[:args.timed]),
                      n_atoms=sum(len(result["atoms"]) for result in results[:args.timed]))
        for batch in (1, 64):
            once, more = (run_biogpu(args, timed * n, lines, batch=batch) for n in (1, args.repeats))
            seconds = (more - once) / (args.repeats - 1)
            report[f"batch_{batch}"] = {"biogpu_s": seconds, "picture_ms": 1000 * seconds / args.timed,
                                        "reference_s": reference_s[batch], "speedup": reference_s[batch] / seconds}
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    sys.exit(1 if report.get("fp32", {}).get("different") else 0)


if __name__ == "__main__":
    main()
