#!/usr/bin/env python3
"""Turns checkpoints of ProteinMPNN into folders that `biogpu infer design` reads.

usage: scripts/convert/proteinmpnn.py CHECKPOINT.pt FOLDER [--soluble]

Reads the published files (vanilla_model_weights/v_48_020.pt, soluble_model_weights, ca_model_weights) and
training checkpoints; writes FOLDER/model.safetensors, names and numbers unchanged, and FOLDER/config.json. A
checkpoint with tensors that the model does not read, such as the membrane models', is refused.
Needs torch and safetensors.
"""

import argparse
import json
import pathlib
import sys

import safetensors.torch
import torch

import tensor_names

CA_EDGE_INPUTS = 16 + 9 * 16 + 7  # against 16 + 25 * 16 of the models of whole backbones


def convert(path, folder, soluble):
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    if "model_state_dict" not in checkpoint:
        sys.exit(f"{path}: has no model_state_dict; expected a checkpoint of ProteinMPNN")
    state = {k: v.float().contiguous() for k, v in checkpoint["model_state_dict"].items()}
    if "features.edge_embedding.weight" not in state:
        sys.exit(f"{path}: has no features.edge_embedding.weight; expected a checkpoint of ProteinMPNN")
    unread = tensor_names.unread_proteinmpnn(state, is_ca_only(state))
    if unread:
        membrane = any(name.startswith("features.node_embedding.") for name in unread)
        sys.exit(f"{path}: {tensor_names.listed(unread)}; "
                 + ("membrane models are not supported" if membrane else "it is of another model"))
    write(state, folder, pathlib.Path(path).stem, int(checkpoint["num_edges"]),
          float(checkpoint.get("noise_level", 0.0)), "soluble" if soluble else "vanilla")


def is_ca_only(state):
    return state["features.edge_embedding.weight"].shape[1] == CA_EDGE_INPUTS


def write(state, folder, name, num_edges, noise_level, family="vanilla"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    ca_only = is_ca_only(state)
    config = {
        "model_type": "proteinmpnn",
        "name": name,
        "family": "ca" if ca_only else family,
        "num_edges": num_edges,
        "noise_level": noise_level,
        "ca_only": ca_only,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("folder")
    parser.add_argument("--soluble", action="store_true", help="note the family in config.json")
    arguments = parser.parse_args()
    convert(arguments.checkpoint, arguments.folder, arguments.soluble)


if __name__ == "__main__":
    main()
