#!/usr/bin/env python3
"""Makes a folder that `biogpu infer tracks` reads of a published Enformer.

usage: scripts/convert/enformer.py INPUT FOLDER [--gamma-table tf_gammas.pt | --gamma FORM] [--targets FILE ...]

INPUT is a folder with config.json and pytorch_model.bin or model.safetensors, as EleutherAI/enformer-official-rough or
enformer-pytorch's save_pretrained. FOLDER gets config.json and model.safetensors; each part once, without the second names
(_trunk.*) under which enformer-pytorch registers it. --gamma-table takes the numbers of DeepMind's program, the file
precomputed/tf_gammas.pt of enformer-pytorch, which the official weights were trained with; --gamma names what other
weights were trained with, positions or features (docs/models/enformer.md). A model of the published shape needs one of
the two, as its config.json does not tell. --targets copies tables of tracks, targets_HEAD.txt, as targets_human.txt; those
of an earlier model in FOLDER are removed.

Only tensors are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and safetensors;
requirements.txt has their versions.
"""

import argparse
import json
import math
import pathlib
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import safetensors
import safetensors.torch
import torch

import checkpoints
import tensor_names

TABLE = "gamma_position_basis"
TABLE_SHAPE = (3071, 32)  # of 1,536 positions and 32 features
TRUNK = {"_trunk.1.": "stem.", "_trunk.2.": "conv_tower.", "_trunk.4.": "transformer.",
         "_trunk.6.": "final_pointwise."}


def fail(path, what):
    sys.exit(f"enformer.py: {path}: {what}")


def read_state(folder):
    if (folder / "model.safetensors").exists():
        try:
            checkpoints.refuse_pointer(folder / "model.safetensors", fail)
            return safetensors.torch.load_file(folder / "model.safetensors")
        except (OSError, safetensors.SafetensorError) as error:
            fail(folder / "model.safetensors", f"cannot be read: {error}")
    if not (folder / "pytorch_model.bin").exists():
        fail(folder, "has no model.safetensors and no pytorch_model.bin")
    state = checkpoints.load(folder / "pytorch_model.bin", fail)
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(folder / "pytorch_model.bin", "holds no tensors by name")
    return state


def without_copies(path, state):
    """Each tensor under the name of its part; the two that a name stands for must be equal."""
    result = {}
    for name in sorted(state):
        known = tensor_names.unwrapped(name)
        for prefix, part in TRUNK.items():
            if known.startswith(prefix):
                known = part + known[len(prefix):]
        if known in result and not torch.equal(result[known], state[name]):
            fail(path, f"{name} differs from {known}")
        result[known] = state[name].contiguous()
    unread = tensor_names.unread(result, tensor_names.ENFORMER)
    if unread:
        fail(path, tensor_names.listed(unread))
    return result


def read_table(path):
    table = checkpoints.load(path, fail)
    if not isinstance(table, torch.Tensor) or tuple(table.shape) != TABLE_SHAPE:
        fail(path, f"is no table of gamma features; expected a tensor of {TABLE_SHAPE}")
    return table.float().contiguous()


def read_config(folder):
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except OSError as error:
        fail(folder / "config.json", error.strerror)
    except ValueError:
        config = None
    if not isinstance(config, dict):
        fail(folder / "config.json", "is no JSON object")
    if config.get("model_type", "enformer") != "enformer":
        fail(folder / "config.json", f"model_type is {config['model_type']}; expected enformer")
    config["model_type"] = "enformer"
    return config


def has_table_shape(path, config):
    try:
        positions = math.ceil(config.get("sequence_length", 196608) / 2 ** config.get("num_downsamples", 7))
        features = config.get("dim", 1536) / config.get("heads", 8) / 6
    except (ArithmeticError, TypeError):
        fail(path / "config.json", "has a size that is no number above 0")
    return (2 * positions - 1, features) == TABLE_SHAPE


def set_gamma(arguments, config, state):
    """Puts what the weights were trained with into the config or the state; nothing is guessed for the official ones."""
    fits = has_table_shape(arguments.input, config)
    if arguments.gamma_table:
        if not fits:
            fail(arguments.gamma_table, "is for 1,536 positions and 32 features; the model has another shape")
        state[TABLE] = read_table(arguments.gamma_table)
        config["gamma"] = "tf-table"
    elif arguments.gamma:
        state.pop(TABLE, None)
        config["gamma"] = arguments.gamma
    elif fits and TABLE not in state and "gamma" not in config and not config.get("use_tf_gamma"):
        fail(arguments.input, "does not tell its gamma features; give --gamma-table (the official weights), or --gamma")


def read_targets(paths, config):
    """What writes each file, by its name, which must be one that biogpu reads."""
    heads = config.get("output_heads", {"human": 5313, "mouse": 1643})
    known = [f"targets_{head}.txt" for head in (heads if isinstance(heads, dict) else {})]
    files = {}
    for path in paths:
        if path.name not in known:
            fail(path, f"is not read under this name; known are {', '.join(known)}")
        try:
            content = path.read_bytes()
            files[path.name] = lambda to, content=content: to.write_bytes(content)
        except OSError as error:
            fail(path, error.strerror)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    gamma = parser.add_mutually_exclusive_group()
    gamma.add_argument("--gamma-table", type=pathlib.Path)
    gamma.add_argument("--gamma", choices=("positions", "features"))
    parser.add_argument("--targets", type=pathlib.Path, nargs="+", default=[])
    arguments = parser.parse_args()
    if arguments.folder.exists() and arguments.input.exists() and arguments.folder.samefile(arguments.input):
        parser.error("FOLDER is INPUT")
    config = read_config(arguments.input)
    state = without_copies(arguments.input, read_state(arguments.input))
    set_gamma(arguments, config, state)
    targets = read_targets(arguments.targets, config)
    # Made when all was read: no folder is left of an input that is refused.
    checkpoints.write(arguments.folder, config, state, fail, targets, stale=["targets_*.txt"])
    print(f"{arguments.folder}: {len(state)} tensors")


if __name__ == "__main__":
    main()
