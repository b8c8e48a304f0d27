#!/usr/bin/env python3
"""Energies and forces by torchmd-net, for comparisons of equality and time with `biogpu infer energy`.

usage: scripts/reference/energies.py make FOLDER [--seed N] [--coulomb]
       scripts/reference/energies.py compute FOLDER FRAMES OUTPUT [--threads N] [--summary FILE]

make writes a TensorNet of torchmd-net's default shape (128 channels, 2 layers, 32 radial functions) with random weights as
config.json and model.safetensors, with --coulomb also the prior Coulomb. compute reads such a folder and frames as extxyz
without boxes (with that prior, partial charges are the last column), and writes the same atoms with energy= and a column
forces as extxyz, in fp32. --summary has the seconds of the passes, the first frame's first one left
out, which compiles kernels. Needs torch and torchmd-net 3.1.0.
"""

import argparse
import json
import pathlib
import time

import safetensors.torch
import torch
from make_tensornet import SHARED, draw, save

SHAPE = {"embedding_dimension": 128, "num_layers": 2, "num_rbf": 32, "cutoff_upper": 4.5, "max_z": 20,
         "max_num_neighbors": 128, "precision": 32}
# Switched on between 1.5 and 3.5 Angstrom, which are in nm here; meters in an Angstrom, joules in an eV.
COULOMB = {"prior_model": ["Coulomb"],
           "prior_args": [{"lower_switch_distance": 0.15, "upper_switch_distance": 0.35, "max_num_neighbors": 400,
                           "distance_scale": 1e-10, "energy_scale": 1.602176634e-19}]}
SYMBOLS = {"H": 1, "C": 6, "N": 7, "O": 8}


def make(arguments):
    from torchmdnet.models.model import create_model

    torch.manual_seed(arguments.seed)
    args = {**SHARED, **SHAPE, **(COULOMB if arguments.coulomb else {})}
    model = create_model(dict(args))
    draw(model, torch.Generator().manual_seed(arguments.seed))
    config = {"model_type": "tensornet", "energy_unit": "eV", "length_unit": "angstrom",
              **{key: args[key] for key in args if key not in ("model", "derivative", "atom_filter", "precision")}}
    save(arguments.folder, {key: value for key, value in config.items() if value is not None}, model.state_dict())


def load(folder):
    from torchmdnet.models.model import create_model

    has_coulomb = "prior_model" in json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = create_model({**SHARED, **SHAPE, **(COULOMB if has_coulomb else {})})
    model.load_state_dict(safetensors.torch.load_file(folder / "model.safetensors"), strict=False)
    return model.eval()


def read_frames(path):
    lines = path.read_text(encoding="ascii").splitlines()
    while lines:
        n = int(lines[0])
        yield [line.split() for line in lines[2:n + 2]]
        lines = lines[n + 2:]


def compute(arguments):
    torch.set_num_threads(arguments.threads)
    model = load(arguments.folder)
    text, seconds = [], 0.0
    for k, atoms in enumerate(read_frames(arguments.frames)):
        numbers = torch.tensor([SYMBOLS[atom[0]] for atom in atoms])
        positions = torch.tensor([[float(x) for x in atom[1:4]] for atom in atoms], dtype=torch.float32)
        extra = {"partial_charges": torch.tensor([float(atom[4]) for atom in atoms])} if model.prior_model else None
        if k == 0:
            model(numbers, positions.clone(), extra_args=extra)
        start = time.perf_counter()
        energy, forces = model(numbers, positions.clone(), extra_args=extra)
        seconds += time.perf_counter() - start
        text += [str(len(atoms)), f"Properties=species:S:1:pos:R:3:forces:R:3 energy={energy.item():.9g}"]
        text += [" ".join([*atom[:4], *(f"{x:.9g}" for x in force)]) for atom, force in zip(atoms, forces.tolist())]
    arguments.output.write_text("\n".join(text) + "\n", encoding="ascii")
    if arguments.summary:
        arguments.summary.write_text(json.dumps({"compute_s": seconds}) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("make")
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--coulomb", action="store_true")
    command.set_defaults(run=make)
    command = commands.add_parser("compute")
    for name in ("folder", "frames", "output"):
        command.add_argument(name, type=pathlib.Path)
    command.add_argument("--threads", type=int, default=2)
    command.add_argument("--summary", type=pathlib.Path)
    command.set_defaults(run=compute)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
