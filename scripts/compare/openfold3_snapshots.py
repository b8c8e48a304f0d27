#!/usr/bin/env python3
"""Compares biogpu's triangle blocks with the golden files in the wheel of OpenFold3.

usage: scripts/compare/openfold3_snapshots.py FOLDER [--device cpu|gpu] [--precision TYPE] [--tolerance X]

FOLDER is the unpacked wheel (pip download --no-deps openfold3; unzip it there). It has the outputs of triangle attention
around both nodes and of outgoing triangle multiplication, recorded on an AMD and on an NVIDIA machine (0.5.0), of weights and
inputs that follow from a seed of PyTorch; this program draws them again with the wheel's own modules. Files that were drawn on
a GPU are compared where PyTorch has one of that vendor. Outputs are small (5e-5 to 2.5e-4), so that only relative
differences tell anything: the largest one, in units of the root mean square, has to be at most --tolerance [1e-5 in fp32, 2e-2
in tf32, fp16 and bf16]. Needs torch, numpy, scipy and ml_collections; biotite is not needed. The environment variable
BIOGPU_BLOCK_LIBRARY names libbiogpu_potential.so where it is not installed.
"""

import argparse
import pathlib
import random
import sys
import types

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import biogpu_blocks  # noqa: E402

SEED, WIDTH, TOKENS, BATCH = 123, 128, 22, 2
TOLERANCE = {"fp32": 1e-5, "tf32": 2e-2, "fp16": 2e-2, "bf16": 2e-2}


def import_layers(folder):
    """Two classes of the wheel, without what its package imports of other packages."""
    root = folder / "openfold3"
    if not (root / "core" / "model" / "layers").is_dir():
        sys.exit(f"openfold3_snapshots.py: {folder}: has no openfold3/core/model/layers; expected the unpacked wheel")
    for name in ("", ".core", ".core.model", ".core.model.layers"):
        package = types.ModuleType("openfold3" + name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules["openfold3" + name] = package
    biotite = types.ModuleType("biotite.structure")
    biotite.AtomArray = object
    sys.modules.update({"biotite": types.ModuleType("biotite"), "biotite.structure": biotite})
    from openfold3.core.model.layers.triangular_attention import TriangleAttention
    from openfold3.core.model.layers.triangular_multiplicative_update import TriangleMultiplicationOutgoing
    return TriangleAttention, TriangleMultiplicationOutgoing


def draw(make, device, has_mask):
    """The module, its input and its mask as the wheel's tests draw them."""
    torch.manual_seed(SEED)
    random.seed(SEED)
    numpy.random.seed(SEED)
    module = make().to(device)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.01)
    pairs = torch.rand((BATCH, TOKENS, TOKENS, WIDTH), device=device)
    mask = torch.randint(0, 2, size=(BATCH, TOKENS, TOKENS), device=device) if has_mask else None
    return module.eval(), pairs, mask


def compute(kind, module, pairs, mask, options):
    weights = {name.replace("linear_z.", "linear.") if "attention" in kind else name: parameter.detach().cpu()
               for name, parameter in module.named_parameters()}
    block = biogpu_blocks.Block(kind, weights, device=options.device, precision=options.precision)
    place = "cuda" if options.device == "gpu" else "cpu"
    mask = None if mask is None else mask.to(place, torch.float32)
    with torch.no_grad():
        return block(pairs.to(place), mask).cpu().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--precision", choices=sorted(TOLERANCE), default="fp32")
    parser.add_argument("--tolerance", type=float)
    options = parser.parse_args()
    tolerance = options.tolerance or TOLERANCE[options.precision]
    attention, multiplication = import_layers(options.folder)
    cases = [("triangle-attention-start", "test_triangular_attention", "test_shape_{}_True_.npz", False,
              lambda: attention(WIDTH, 12, 4, starting=True)),
             ("triangle-attention-end", "test_triangular_attention", "test_shape_{}_False_.npz", False,
              lambda: attention(WIDTH, 12, 4, starting=False)),
             ("triangle-product-out", "test_triangular_multiplicative_update", "test_shape_{}_.npz", True,
              lambda: multiplication(WIDTH, 11))]
    own_vendor = "rocm" if torch.version.hip else "nvidia"
    snapshots = options.folder / "openfold3" / "tests" / "test_data" / "snapshots"
    worst, n_compared = 0.0, 0
    for kind, folder, pattern, has_mask, make in cases:
        for device in ("cpu", "cuda"):
            if device == "cuda" and not torch.cuda.is_available():
                continue
            got = compute(kind, *draw(make, device, has_mask), options)
            for vendor in ("nvidia", "rocm"):
                path = snapshots / folder / vendor / pattern.format(device)
                if not path.is_file() or (device == "cuda" and vendor != own_vendor):
                    continue
                with numpy.load(path) as file:
                    right = file["output"].astype(numpy.float64)
                apart = float(numpy.abs(got - right).max() / numpy.sqrt((right ** 2).mean()))
                worst, n_compared = max(worst, apart), n_compared + 1
                print(f"{kind}\t{vendor}\t{device}\t{apart:.1e}")
    if n_compared == 0:
        sys.exit(f"openfold3_snapshots.py: {snapshots}: has no golden files")
    if not worst <= tolerance:
        sys.exit(f"openfold3_snapshots.py: differs by {worst:.1e} of the root mean square; expected at most {tolerance:.1e}")
    print(f"{n_compared} files agree within {worst:.1e} of the root mean square")


if __name__ == "__main__":
    main()
