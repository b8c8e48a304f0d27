#!/usr/bin/env python3
"""Writes a folder with a random Pairformer: config.json, model.safetensors; with --vectors expected.safetensors too.

usage: scripts/reference/make_pairformer.py FOLDER [--shape tiny|pairs|mini] [--seed N] [--tokens N] [--vectors]

Weights are drawn so that every part matters: gates and output layers, which the original begins with zeros, have numbers
like all others, queries and keys make few keys weigh most. --vectors: inputs and outputs of pairformer.py, in double
precision from the numbers that the file holds, of a whole mask (full/), of right-padded tokens (padded/) and of a mask of
pairs with a masked row (pairs/). With --tokens IN.npz is written, an input of so many tokens. Needs numpy and safetensors.
"""

import argparse
import json
import pathlib

import numpy
import safetensors.numpy

import pairformer

SHAPES = {
    # Widths that are no multiples of 8, heads that are no powers of two.
    "tiny": dict(n_blocks=2, c_z=20, c_s=30, n_heads=5, c_hidden_mul=12, c_hidden_pair_att=6, no_heads_pair=3,
                 num_intermediate_factor=2),
    "pairs": dict(n_blocks=1, c_z=16, c_s=0, c_hidden_pair_att=8, hidden_scale_up=True),
    "mini": dict(n_blocks=16, c_z=128, c_s=384, n_heads=16),  # Protenix-mini
}
N_TOKENS, N_PADDED = 11, 4


def linear_shapes(config):
    """Of the linear maps of a block by name: outputs, inputs and how large what they give is."""
    c, c_s, h = config["c_z"], config["c_s"], config.get("c_hidden_pair_att", 32)
    scaled = config.get("hidden_scale_up", False)
    c_mul = config.get("c_hidden_mul", c if scaled else 128)
    n_heads = config.get("no_heads_pair", c // h if scaled else 4)
    n_single = config.get("n_heads", 16)
    maps = {}
    for name in ("tri_mul_out", "tri_mul_in"):
        for part in ("a_p", "a_g", "b_p", "b_g"):
            maps[f"{name}.linear_{part}"] = (c_mul, c, 1)
        maps[name + ".linear_z"], maps[name + ".linear_g"] = (c, c_mul, 1), (c, c, 1)
    attentions = [("tri_att_start.mha", c, n_heads * h), ("tri_att_end.mha", c, n_heads * h)]
    if c_s > 0:
        attentions.append(("attention_pair_bias.attention", c_s, c_s))
        maps["attention_pair_bias.linear_nobias_z"] = (n_single, c, 1)
    for name in ("tri_att_start", "tri_att_end"):
        maps[name + ".linear"] = (n_heads, c, 1)
    for name, width, inner in attentions:
        for part, size in (("q", 2), ("k", 2), ("v", 1), ("g", 1)):
            maps[f"{name}.linear_{part}"] = (inner, width, size)
        maps[name + ".linear_o"] = (width, inner, 1.5)
    for name, width, n in [("pair_transition", c, config.get("num_intermediate_factor", 4))] + (
            [("single_transition", c_s, 4)] if c_s > 0 else []):
        maps[name + ".linear_no_bias_a"] = maps[name + ".linear_no_bias_b"] = (n * width, width, 1)
        maps[name + ".linear_no_bias"] = (width, n * width, 1)
    return maps


def norm_widths(config, maps):
    c, c_s = config["c_z"], config["c_s"]
    norms = {}
    for name in ("tri_mul_out", "tri_mul_in"):
        norms[name + ".layer_norm_in"], norms[name + ".layer_norm_out"] = c, maps[name + ".linear_a_p"][0]
    norms.update({"tri_att_start.layer_norm": c, "tri_att_end.layer_norm": c, "pair_transition.layernorm1": c})
    if c_s > 0:
        norms.update({"attention_pair_bias.layernorm_a": c_s, "attention_pair_bias.layernorm_z": c,
                      "single_transition.layernorm1": c_s})
    return norms


def random_weights(config, random):
    maps = linear_shapes(config)
    weights = {}
    for i in range(config["n_blocks"]):
        prefix = f"pairformer_stack.blocks.{i}."
        for name, (n_out, n_in, size) in maps.items():
            weights[f"{prefix}{name}.weight"] = random.normal(0, size / n_in ** 0.5, (n_out, n_in))
        if config["c_s"] > 0:
            weights[prefix + "attention_pair_bias.attention.linear_q.bias"] = random.normal(0, 0.5, config["c_s"])
        for name, width in norm_widths(config, maps).items():
            weights[f"{prefix}{name}.weight"] = 1 + random.normal(0, 0.2, width)
            weights[f"{prefix}{name}.bias"] = random.normal(0, 0.2, width)
    return {name: value.astype(numpy.float32) for name, value in weights.items()}


def random_input(config, n, random):
    inputs = {"z": random.normal(0, 1, (n, n, config["c_z"]))}
    if config["c_s"] > 0:
        inputs["s"] = random.normal(0, 1, (n, config["c_s"]))
    return {name: value.astype(numpy.float32) for name, value in inputs.items()}


def vectors(config, weights, random):
    """Inputs and outputs by CASE/NAME and CASE/out/NAME."""
    arrays = {}
    for case in ("full", "padded", "pairs"):
        inputs = random_input(config, N_TOKENS, random)
        if case == "padded":
            inputs["mask"] = (numpy.arange(N_TOKENS) < N_TOKENS - N_PADDED).astype(numpy.float32)
        if case == "pairs":
            inputs["pair_mask"] = (random.random((N_TOKENS, N_TOKENS)) < 0.8).astype(numpy.float32)
            inputs["pair_mask"][3] = 0
        s, z = pairformer.stack(inputs, {k: v.astype(numpy.float64) for k, v in weights.items()}, config["n_blocks"])
        results = {"z": z} if s is None else {"z": z, "s": s}
        arrays.update({f"{case}/{name}": value for name, value in inputs.items()})
        arrays.update({f"{case}/out/{name}": value.astype(numpy.float32) for name, value in results.items()})
    return arrays


def write_folder(folder, config, weights):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    safetensors.numpy.save_file(weights, folder / "model.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="tiny")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--vectors", action="store_true")
    options = parser.parse_args()
    config = {"model_type": "pairformer", **SHAPES[options.shape]}
    random = numpy.random.default_rng(options.seed)
    weights = random_weights(config, random)
    write_folder(options.folder, config, weights)
    if options.vectors:
        safetensors.numpy.save_file(vectors(config, weights, random), options.folder / "expected.safetensors")
    if options.tokens:
        numpy.savez(options.folder / "IN.npz", **random_input(config, options.tokens, random))


if __name__ == "__main__":
    main()
