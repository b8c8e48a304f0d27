#!/usr/bin/env python3
"""Makes a folder that `biogpu infer affinity` reads of a checkpoint of DualBind.

usage: scripts/convert/dualbind.py INPUT.ckpt FOLDER [--mpn-depth N] [--num-heads N] [--cutoff X] [--pocket-size N]

INPUT is a checkpoint of Lightning. FOLDER gets config.json and model.safetensors. Shapes follow from the tensors; the
steps of messages, the heads, the cutoff and the residues of a pocket from the hyperparameters where the checkpoint has
them, else from the options (3 steps, 4 heads, 10 Angstrom, 50 residues: the published model). A hyperparameter that contradicts an
option is an error.

Checkpoints hold objects of other libraries (omegaconf). Nothing of them is run: the unpickler knows tensors, numbers,
texts, lists and dictionaries, and keeps of any other object its name and its values. Needs torch and safetensors;
requirements.txt has their versions. The licence of the weights stays: NVIDIA's are for research and evaluation only.
"""

import argparse
import collections
import pathlib
import pickle
import sys
import types

import needed_packages  # noqa: F401  (first: says what is missing)

import torch

import checkpoints
import tensor_names

ATOM_FEATURES, BOND_FEATURES, ATOM_TYPES, LETTERS = 133, 14, 38, 21
OPTIONS = {"mpn_depth": (3, ("mpn_depth",)), "num_heads": (4, ("num_heads",)),
           "cutoff": (10.0, ("threshold", "cutoff")), "pocket_size": (50, ("patch_size", "pocket_size"))}
LINEAR = ["mpn.W_o", "encoder.W_bind", "encoder.W_tgt", "encoder.linear", "encoder.encoder.linear1",
          "encoder.encoder.linear2", "encoder.encoder.norm1", "encoder.encoder.norm2", "binder_output.0",
          "binder_output.2", "target_output.0"]
LINEAR += ["encoder.encoder.multihead_attention." + part for part in ("wq", "wk", "wv", "dense")]
NAMES = {f"{name}.{part}" for name in LINEAR for part in ("weight", "bias")}
NAMES |= {"mpn.W_i.weight", "mpn.W_h.weight", "encoder.A_bind.weight", "encoder.A_tgt.weight"}
IGNORED = {"mtl_loss.log_sigma"}  # weighs two losses while a model is trained
ALLOWED = {("collections", "OrderedDict"): collections.OrderedDict, ("builtins", "dict"): dict,
           ("builtins", "list"): list, ("builtins", "set"): set, ("torch", "Size"): torch.Size,
           ("torch", "device"): torch.device,
           ("torch._utils", "_rebuild_tensor_v2"): torch._utils._rebuild_tensor_v2,
           ("torch._utils", "_rebuild_parameter"): torch._utils._rebuild_parameter}


def fail(path, what):
    sys.exit(f"dualbind.py: {path}: {what}")


class Inert:
    """In the place of an object of any other class: what it was given, and nothing is run."""

    def __new__(cls, *values, **_named):
        made = object.__new__(cls)
        made.values = list(values)
        return made

    def __init__(self, *_values, **_named):
        pass

    def __setstate__(self, state):
        self.values.append(state)

    def __setitem__(self, key, value):
        self.values.append({key: value})

    def append(self, value):
        self.values.append(value)

    def extend(self, values):
        self.values.extend(values)

    def __call__(self, *values, **_named):
        return Inert(*values)


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) in ALLOWED:
            return ALLOWED[module, name]
        if module == "torch" and name.endswith("Storage"):
            return getattr(torch, name)
        return Inert


def load(path):
    checkpoints.check(path, fail)
    safe = types.ModuleType("safe_pickle")  # what torch asks of a module like pickle
    safe.Unpickler, safe.load = Unpickler, lambda file, **named: Unpickler(file, **named).load()
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=False, pickle_module=safe)
    except MemoryError:
        fail(path, "there is not enough memory for it")
    except Exception as error:  # bytes of something else make an unpickler fail in any way
        reason = (str(error).strip() or type(error).__name__).split(chr(10))[0]
        fail(path, f"is damaged, or no checkpoint of torch ({reason})")
    state = checkpoint.get("state_dict") if isinstance(checkpoint, dict) else None
    if not isinstance(state, dict) or not all(isinstance(x, torch.Tensor) for x in state.values()):
        fail(path, "has no state_dict of tensors; expected a checkpoint of Lightning")
    return checkpoint, tensor_names.unwrapped_state(path, state, fail)


def find_values(value, keys, seen):
    """Numbers that stand under one of the keys, in dictionaries and objects, each looked into once."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Inert):
        yield from find_values(value.values, keys, seen)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key in keys:
                yield from numbers_of(one)
            yield from find_values(one, keys, seen)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from find_values(one, keys, seen)


def numbers_of(value):
    """The number that an entry is: itself, or what an object of omegaconf keeps as its `_val`."""
    if isinstance(value, Inert):
        for state in value.values:
            if isinstance(state, dict) and "_val" in state:
                yield from numbers_of(state["_val"])
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def hyperparameter(path, checkpoint, name, given):
    default, keys = OPTIONS[name]
    found = set(find_values(checkpoint.get("hyper_parameters"), keys, set()))
    if len(found) > 1:
        fail(path, f"its hyperparameters have {name} as {' and '.join(map(str, sorted(found)))}; expected one value")
    if found and given is not None and found != {given}:
        fail(path, f"its hyperparameters have {name} {found.pop()}, --{name.replace('_', '-')} is {given}")
    return found.pop() if found else default if given is None else given


def check_names(path, state):
    missing, unknown = sorted(NAMES - set(state)), sorted(set(state) - NAMES - IGNORED)
    if missing or unknown:
        parts = [f"{word} {', '.join(names[:5])}{' and others' if len(names) > 5 else ''}"
                 for word, names in (("lacks", missing), ("has unknown", unknown)) if names]
        fail(path, "; ".join(parts) + "; expected the tensors of DualBind")


def check_shapes(path, state):
    """The widths; the program checks each tensor when it loads the folder."""
    first = state["mpn.W_i.weight"]
    if first.dim() != 2 or first.shape[1] != ATOM_FEATURES + BOND_FEATURES:
        fail(path, f"mpn.W_i.weight is of shape {list(first.shape)}; expected [width, {ATOM_FEATURES + BOND_FEATURES}]")
    width = first.shape[0]
    for name, shape in (("encoder.W_tgt.weight", (width, LETTERS)), ("encoder.A_tgt.weight", (ATOM_TYPES, width)),
                        ("encoder.linear.weight", (width, 2 * width + 3))):
        if tuple(state[name].shape) != shape:
            fail(path, f"{name} is of shape {list(state[name].shape)}; expected {list(shape)}")
    return width, state["encoder.encoder.linear1.weight"].shape[0]


def main():
    parser = argparse.ArgumentParser(description="converts a checkpoint of DualBind")
    parser.add_argument("input")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--num-heads", type=int, help="heads of the attention [4]")
    parser.add_argument("--cutoff", type=float, help="distance of pairs in Angstrom [10]")
    parser.add_argument("--pocket-size", type=int, help="residues of a pocket [50]")
    parser.add_argument("--mpn-depth", type=int, help="steps of messages between atoms [3]")
    options = parser.parse_args()
    checkpoint, state = load(options.input)
    check_names(options.input, state)
    width, ff_size = check_shapes(options.input, state)
    config = {"model_type": "dualbind", "hidden_size": width,
              "mpn_depth": int(hyperparameter(options.input, checkpoint, "mpn_depth", options.mpn_depth)),
              "num_heads": int(hyperparameter(options.input, checkpoint, "num_heads", options.num_heads)),
              "ff_size": ff_size,
              "cutoff": float(hyperparameter(options.input, checkpoint, "cutoff", options.cutoff)),
              "pocket_size": int(hyperparameter(options.input, checkpoint, "pocket_size", options.pocket_size))}
    if config["num_heads"] < 1 or width % config["num_heads"] != 0:
        fail(options.input, f"a width of {width} has no {config['num_heads']} heads")
    tensors = {name: state[name].float().contiguous().clone() for name in sorted(NAMES)}
    checkpoints.write(options.folder, config, tensors, fail)
    print("licence: weights of DualBind by NVIDIA are for research and evaluation only, not for commercial use",
          file=sys.stderr)


if __name__ == "__main__":
    main()
