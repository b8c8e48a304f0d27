#!/usr/bin/env python3
"""Writes a folder with a random ProteinMPNN of the published shapes: config.json, model.safetensors.

usage: scripts/reference/make_proteinmpnn.py FOLDER [--ca-only] [--seed N] [--checkpoint FILE.pt]

Matrices are uniform as at the start of training, biases and normalisations not trivial, so that every part
matters. Numbers come from SplitMix64 by tensor and index, so that tests/models/proteinmpnn makes the same ones.
--checkpoint writes them as a file of the original too. Needs numpy, torch and safetensors.
"""

import argparse
import importlib.util
import math
import pathlib
import sys

import numpy
import torch


def load_converter():
    """scripts/convert/proteinmpnn.py, by its path: a script beside this one has the same name."""
    path = pathlib.Path(__file__).resolve().parents[1] / "convert" / "proteinmpnn.py"
    sys.path.append(str(path.parent))  # of what it imports
    spec = importlib.util.spec_from_file_location("convert_proteinmpnn", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


convert = load_converter()
HIDDEN, LETTERS, NEIGHBOURS = 128, 21, 48


def shapes(ca_only):
    def linear(name, n_out, n_in, bias=True):
        found = {f"{name}.weight": (n_out, n_in)}
        if bias:
            found[f"{name}.bias"] = (n_out,)
        return found

    def norm(name):
        return {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}

    all_ = linear("features.embeddings.linear", 16, 66)
    all_ |= linear("features.edge_embedding", HIDDEN, 167 if ca_only else 416, bias=False)
    all_ |= norm("features.norm_edges")
    if ca_only:  # parts that the original's files hold and its forward pass leaves out
        all_ |= linear("features.node_embedding", HIDDEN, 3, bias=False) | norm("features.norm_nodes")
        all_ |= linear("W_v", HIDDEN, HIDDEN)
    all_ |= linear("W_e", HIDDEN, HIDDEN) | {"W_s.weight": (LETTERS, HIDDEN)}
    for kind, inputs, names, norms in (("encoder", 3, ("1", "2", "3", "11", "12", "13"), 3),
                                       ("decoder", 4, ("1", "2", "3"), 2)):
        for layer in range(3):
            prefix = f"{kind}_layers.{layer}"
            for number in range(norms):
                all_ |= norm(f"{prefix}.norm{number + 1}")
            for number in names:
                all_ |= linear(f"{prefix}.W{number}", HIDDEN, inputs * HIDDEN if number in ("1", "11") else HIDDEN)
            all_ |= linear(f"{prefix}.dense.W_in", 4 * HIDDEN, HIDDEN)
            all_ |= linear(f"{prefix}.dense.W_out", HIDDEN, 4 * HIDDEN)
    return all_ | linear("W_out", LETTERS, HIDDEN)


def uniform(name, n, seed):
    """n numbers in [-1, 1) of 24 bits: SplitMix64 from the name's FNV-1a hash and the seed."""
    with numpy.errstate(over="ignore"):
        state = numpy.uint64(0xCBF29CE484222325)
        for byte in name.encode():
            state = (state ^ numpy.uint64(byte)) * numpy.uint64(0x100000001B3)
        z = state + numpy.uint64(seed) + numpy.arange(1, n + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return ((z >> numpy.uint64(40)).astype(numpy.float64) / 2**23 - 1).astype(numpy.float32)


def make_state(ca_only, seed):
    state = {}
    for name, shape in shapes(ca_only).items():
        values = uniform(name, math.prod(shape), seed)
        if len(shape) == 2:
            gain = 4.0 if name == "W_out.weight" else 1.5
            values = values * numpy.float32(gain * math.sqrt(6 / sum(shape)))
        else:
            values = values * numpy.float32(0.125)
            if "norm" in name and name.endswith("weight"):
                values = values + numpy.float32(1)
        state[name] = torch.from_numpy(values.reshape(shape))
    return state


def checkpoint_of(state):
    return {"num_edges": NEIGHBOURS, "noise_level": 0.2, "model_state_dict": state}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ca-only", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint")
    arguments = parser.parse_args()
    state = make_state(arguments.ca_only, arguments.seed)
    convert.write(state, arguments.folder, "v_48_020", NEIGHBOURS, 0.2)
    if arguments.checkpoint:
        torch.save(checkpoint_of(state), arguments.checkpoint)
    print(f"{arguments.folder}: {sum(v.numel() for v in state.values())} parameters")


if __name__ == "__main__":
    main()
