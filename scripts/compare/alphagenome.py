#!/usr/bin/env python3
"""Compares scripts/reference/alphagenome.py, in double precision, or biogpu itself with the PyTorch port on random weights
of the published shape: every head of a window, the largest difference over the head's standard deviation, and the cosine.

usage: scripts/compare/alphagenome.py [--bases N] [--organism 0|1] [--seed N] [--biogpu PROGRAM] [--json FILE]

Needs torch and `pip install --no-deps --ignore-requires-python alphagenome-pytorch==0.3.1`. 16,384 bases take 20 GB and
some minutes on two cores. Exit status 1 where a head differs by more than 1e-3 or has a cosine below 0.99999.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import safetensors.torch
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import alphagenome  # noqa: E402  (the folder has to be on the path first)
import make_alphagenome  # noqa: E402
from alphagenome_heads import BOUND, COSINE, common_junctions  # noqa: E402
from dna_windows import make_windows, one_hot  # noqa: E402

NAMES = {"splice_sites": "splice_sites/probs", "splice_site_usage": "splice_site_usage/predictions",
         "splice_junctions": "splice_junctions/pred_counts"}
PORT_TISSUES = (367, 90)  # of each organism; the port has zeros for others


def named(outputs, prefix=""):
    for key, value in outputs.items():
        if isinstance(value, dict):
            yield from named(value, f"{prefix}{key}/")
        elif torch.is_tensor(value):
            yield prefix + str(key), value[0]


class PortAngles(alphagenome.AlphaGenome):
    """The reference program with the port's angles of junctions, all in fp32."""

    def junction_angles(self, positions, half):
        series = torch.logspace(0, math.log10(2 ** 20 - half + 1), half, dtype=torch.float32)
        return (positions.float()[:, None] * (1 / (torch.arange(half, dtype=torch.float32) + series))).to(self.dtype)


def run_biogpu(program, weights, window, organism):
    """The heads of `infer tracks` on the CPU in fp32."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        safetensors.torch.save_file(weights, folder / "model.safetensors")
        (folder / "config.json").write_text(json.dumps({"model_type": "alphagenome", "sequence_length": len(window)}))
        (folder / "window.fa").write_text(f">one\n{window}\n")
        subprocess.run([program, "infer", "tracks", "--device", "cpu", "--model", folder, "--pair-gelu", "erf", "--organism",
                        ("human", "mouse")[organism], folder / "window.fa", "-o", folder / "tracks.safetensors"], check=True)
        tracks = safetensors.torch.load_file(folder / "tracks.safetensors")
    return {name.removeprefix("one/"): value.double() for name, value in tracks.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bases", type=int, default=16384)
    parser.add_argument("--organism", type=int, choices=(0, 1), default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--biogpu", help="compare this program instead of the reference program")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    from alphagenome_pytorch.model import AlphaGenome
    port = AlphaGenome().eval()
    weights = make_alphagenome.make_weights(make_alphagenome.SHAPES["published"], args.seed)
    shapes = {name: tuple(tensor.shape) for name, tensor in port.state_dict().items() if tensor.is_floating_point()}
    if shapes != {name: tuple(tensor.shape) for name, tensor in weights.items()}:
        sys.exit("alphagenome.py: the port's tensors are others: "
                 f"{sorted(set(shapes.items()) ^ {(n, tuple(t.shape)) for n, t in weights.items()})[:10]}")
    port.load_state_dict(weights, strict=False)
    letters = make_windows(args.bases)["one"]
    window = one_hot(letters)
    with torch.no_grad():
        theirs = dict(named(port(window.float()[None], organism_index=torch.tensor([args.organism]))))
    if args.biogpu:
        del port
        ours = run_biogpu(args.biogpu, weights, letters, args.organism)
    else:
        ours = PortAngles(weights, "erf").run(window, args.organism)
    heads = {}
    for name, right in ours.items():
        key = NAMES.get(name, name)
        if key in theirs:
            got = theirs[key].double()
            if name == "splice_junctions":
                sites = ours["splice_junctions_positions" if args.biogpu else "splice_junctions/positions"]
                got, right = common_junctions(got, theirs["splice_junctions/splice_site_positions"], right, sites,
                                              PORT_TISSUES[args.organism])
            difference = float((got - right).abs().max() / right.std())
            cosine = float(torch.nn.functional.cosine_similarity(got.flatten(), right.flatten(), 0))
            heads[name] = {"largest_difference": difference, "cosine": cosine}
            print(f"{name}\t{difference:.1e}\t{cosine:.9f}")
    if args.json:
        args.json.write_text(json.dumps({"bases": args.bases, "organism": args.organism, "heads": heads}, indent=2) + "\n")
    # biogpu's angles are exact, and the port's off by 1e-3 and more: of these junctions the cosine alone is checked.
    bounds = {"splice_junctions": math.inf} if args.biogpu else {}
    bad = [name for name, head in heads.items()
           if not (head["largest_difference"] < bounds.get(name, BOUND) and head["cosine"] > COSINE)]
    if len(heads) < 16 or bad:
        sys.exit(f"alphagenome.py: {len(heads)} heads; other ones: {', '.join(bad) or 'none'}")


if __name__ == "__main__":
    main()
