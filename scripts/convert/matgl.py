#!/usr/bin/env python3
"""Makes a folder that `biogpu infer energy` reads of a published TensorNet of matgl.

usage: scripts/convert/matgl.py INPUT FOLDER

INPUT is a folder with model.json and state.pt, as matgl's Potential.save writes it. FOLDER gets config.json and
model.safetensors: the arguments of matgl's TensorNet by their own names, its model_version, data_mean, data_std and the
energies of elements in double precision, the backend whose layers the weights are for, and the tensors of the model.

Only tensors are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and safetensors;
requirements.txt has their versions.
"""

import argparse
import json
import pathlib
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import torch

import checkpoints
import tensor_names

ARGUMENTS = ("element_types", "units", "nblocks", "num_rbf", "max_n", "max_l", "rbf_type", "use_smooth", "activation_type",
             "cutoff", "equivariance_invariance_group", "width", "task_type", "is_intensive", "include_state", "ntargets")
DGL_TENSOR = "tensor_embedding.emb3.weight"
OUTSIDE = ("data_mean", "data_std", "element_refs.property_offset", "element_refs.onehot")


def fail(path, what):
    sys.exit(f"matgl.py: {path}: {what}")


def read_json(path):
    try:
        return json.loads(path.read_text())
    except OSError as error:
        fail(path, error.strerror)
    except ValueError as error:
        fail(path, f"is no JSON: {error}")


def read_state(path):
    state = checkpoints.load(path, fail)
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(path, "holds no tensors by name")
    return tensor_names.unwrapped_state(path, state, fail)


def read_model(path):
    """The arguments of the network, its version, and the backend that its module names, or None."""
    try:
        potential = read_json(path)["kwargs"]
        model = potential["model"]
        name, version, arguments = model["@class"], model["@model_version"], model["init_args"]
        module = str(model.get("@module", ""))
    except (KeyError, TypeError):
        fail(path, "is no description of a matgl Potential")
    if name != "TensorNet":
        fail(path, f"holds a {name}; only TensorNet is known")
    if potential.get("calc_repuls"):
        fail(path, "adds a repulsion of nuclei (calc_repuls), which is not supported")
    missing = [key for key in ("element_types", "units", "nblocks", "cutoff") if key not in arguments]
    if missing:
        fail(path, f"has no {', '.join(missing)}")
    return {key: arguments[key] for key in ARGUMENTS if key in arguments}, version, \
        next((name for name in ("DGL", "PYG") if module.endswith("_" + name.lower())), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    arguments, version, backend = read_model(args.input / "model.json")
    state = read_state(args.input / "state.pt")
    if DGL_TENSOR in state and backend == "PYG":
        fail(args.input / "state.pt", "is of matgl's layers for DGL, but model.json names those for PyG")
    backend = backend or ("DGL" if DGL_TENSOR in state else "PYG")
    config = {"model_type": "tensornet", "dialect": "matgl", "model_version": version, "backend": backend, "energy_unit": "eV",
              "length_unit": "angstrom", **arguments}
    for key, otherwise in (("data_mean", 0.0), ("data_std", 1.0)):
        if key in state and state[key].numel() != 1:
            fail(args.input / "state.pt", f"{key} has {state[key].numel()} values; expected 1")
        config[key] = float(state[key]) if key in state else otherwise
    offsets = state.get("element_refs.property_offset")
    if offsets is not None:
        config["element_refs"] = [float(value) for value in offsets.double().flatten()]
    tensors = {name: value.contiguous() for name, value in state.items() if name not in OUTSIDE}
    checkpoints.write(args.folder, config, tensors, fail)
    print(f"{args.folder}: {len(tensors)} tensors, {len(arguments['element_types'])} elements, model version {version}, "
          f"layers for {backend}")


if __name__ == "__main__":
    main()
