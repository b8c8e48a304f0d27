#!/usr/bin/env python3
"""Makes a folder that `biogpu infer tracks` reads of a published Enformer.

usage: scripts/convert/enformer.py INPUT FOLDER [--gamma-table tf_gammas.pt] [--targets FILE ...]

INPUT is a folder with config.json and pytorch_model.bin or model.safetensors, as EleutherAI/enformer-official-rough or
enformer-pytorch's save_pretrained. FOLDER gets config.json and model.safetensors; each part once, without the second names
(_trunk.*) under which enformer-pytorch registers it. --gamma-table takes the numbers of DeepMind's program, the file
precomputed/tf_gammas.pt of enformer-pytorch, which the official weights were trained with. --targets copies tables of
tracks, as targets_human.txt.

Only tensors are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and safetensors;
requirements.txt pins them.
"""

import argparse
import json
import pathlib
import pickle
import shutil
import sys

import safetensors.torch
import torch

import tensor_names

TABLE_SHAPE = (3071, 32)
TRUNK = {"_trunk.1.": "stem.", "_trunk.2.": "conv_tower.", "_trunk.4.": "transformer.",
         "_trunk.6.": "final_pointwise."}


def fail(path, what):
    sys.exit(f"enformer.py: {path}: {what}")


def load(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        fail(path, error.strerror)
    except pickle.UnpicklingError:
        fail(path, "holds something else than tensors, which is not loaded, or is damaged")
    except Exception as error:  # bytes of something else make an unpickler fail in any way
        fail(path, f"is damaged, or no checkpoint of torch ({str(error).strip().split(chr(10))[0]})")


def read_state(folder):
    if (folder / "model.safetensors").exists():
        return safetensors.torch.load_file(folder / "model.safetensors")
    if not (folder / "pytorch_model.bin").exists():
        fail(folder, "has no model.safetensors and no pytorch_model.bin")
    state = load(folder / "pytorch_model.bin")
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(folder / "pytorch_model.bin", "holds no tensors by name")
    return state


def without_copies(path, state):
    """Each tensor under the name of its part; the two that a name stands for must be equal."""
    result = {}
    for name in sorted(state):
        known = name
        for prefix, part in TRUNK.items():
            if name.startswith(prefix):
                known = part + name[len(prefix):]
        if known in result and not torch.equal(result[known], state[name]):
            fail(path, f"{name} differs from {known}")
        result[known] = state[name].contiguous()
    unread = tensor_names.unread(result, tensor_names.ENFORMER)
    if unread:
        fail(path, tensor_names.listed(unread))
    return result


def read_table(path):
    table = load(path)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gamma-table", type=pathlib.Path)
    parser.add_argument("--targets", type=pathlib.Path, nargs="+", default=[])
    arguments = parser.parse_args()
    if arguments.folder.exists() and arguments.input.exists() and arguments.folder.samefile(arguments.input):
        parser.error("FOLDER is INPUT")
    config = read_config(arguments.input)
    state = without_copies(arguments.input, read_state(arguments.input))
    if arguments.gamma_table:
        state["gamma_position_basis"] = read_table(arguments.gamma_table)
    # Made when all was read: no folder is left of an input that is refused.
    arguments.folder.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(state, arguments.folder / "model.safetensors", metadata={"format": "pt"})
    (arguments.folder / "model.safetensors").chmod(0o644)
    (arguments.folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    for path in arguments.targets:
        shutil.copy(path, arguments.folder / path.name)
    print(f"{arguments.folder}: {len(state)} tensors")


if __name__ == "__main__":
    main()
