#!/usr/bin/env python3
"""Turns checkpoints of ProteinMPNN into folders that `biogpu infer design` reads.

usage: scripts/convert/proteinmpnn.py CHECKPOINT.pt FOLDER [--soluble]

Reads the published files (vanilla_model_weights/v_48_020.pt, soluble_model_weights, ca_model_weights) and
training checkpoints; writes FOLDER/model.safetensors, names and numbers unchanged, and FOLDER/config.json. A
checkpoint with tensors that the model does not read, such as the membrane models', is refused.
Needs torch and safetensors.
"""

import argparse
import math
import pathlib
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import torch

import checkpoints
import tensor_names

CA_EDGE_INPUTS = 16 + 9 * 16 + 7  # against 16 + 25 * 16 of the models of whole backbones


def fail(path, what):
    sys.exit(f"proteinmpnn.py: {path}: {what}")


def convert(path, folder, soluble):
    checkpoint = checkpoints.load(path, fail)
    state = checkpoint.get("model_state_dict") if isinstance(checkpoint, dict) else None
    if not isinstance(state, dict):
        fail(path, "has no model_state_dict; expected a checkpoint of ProteinMPNN")
    if not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(path, "model_state_dict contains something other than tensors; expected a checkpoint of ProteinMPNN")
    state = tensor_names.unwrapped_state(path, {name: value.float().contiguous() for name, value in state.items()}, fail)
    if getattr(state.get("features.edge_embedding.weight"), "ndim", 0) != 2:
        fail(path, "has no features.edge_embedding.weight; expected a checkpoint of ProteinMPNN")
    n_edges, noise_level = checkpoint.get("num_edges"), checkpoint.get("noise_level", 0.0)
    if not isinstance(n_edges, int):
        fail(path, "num_edges is not a whole number")
    if not isinstance(noise_level, (int, float)) or not math.isfinite(noise_level):
        fail(path, "noise_level is not a number")
    unread = tensor_names.unread_proteinmpnn(state, is_ca_only(state))
    if unread:
        membrane = any(name.startswith("features.node_embedding.") for name in unread)
        fail(path, f"{tensor_names.listed(unread)}; "
             + ("membrane models are not supported" if membrane else "it is of another model"))
    write(state, folder, path.stem, n_edges, float(noise_level), "soluble" if soluble else "vanilla")


def is_ca_only(state):
    return state["features.edge_embedding.weight"].shape[1] == CA_EDGE_INPUTS


def write(state, folder, name, num_edges, noise_level, family="vanilla"):
    ca_only = is_ca_only(state)
    config = {
        "model_type": "proteinmpnn",
        "name": name,
        "family": "ca" if ca_only else family,
        "num_edges": num_edges,
        "noise_level": noise_level,
        "ca_only": ca_only,
    }
    checkpoints.write(folder, config, state, fail)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--soluble", action="store_true", help="note the family in config.json")
    arguments = parser.parse_args()
    convert(arguments.checkpoint, arguments.folder, arguments.soluble)


if __name__ == "__main__":
    main()
