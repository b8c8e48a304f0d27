#!/usr/bin/env python3
"""Writes a folder with a random Pairformer: config.json, model.safetensors; with --vectors expected.safetensors too.

usage: scripts/reference/make_pairformer.py FOLDER [--shape NAME] [--seed N] [--tokens N] [--vectors]

Weights are drawn so that every part matters: gates and output layers, which the original begins with zeros, have numbers
like all others, queries and keys make few keys weigh most. --vectors: inputs and outputs of pairformer.py, in double
precision from the numbers that the file holds, of a whole mask (full/), of right-padded tokens (padded/) and of a mask of
pairs with a masked row (pairs/), the last two with masked numbers of the alignment. With --tokens IN.npz is written, an input of so many tokens. Needs numpy and safetensors.
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
    "msa": dict(n_blocks=1, c_z=12, c_s=14, n_heads=2, c_hidden_mul=10, c_hidden_pair_att=5, no_heads_pair=2,
                num_intermediate_factor=2, n_msa_blocks=2, c_m=11, c_hidden_opm=5, c_hidden_msa_att=3, no_heads_msa=3),
    # AlphaFold 2's blocks of pairs, under the names of openfold.
    "evoformer": dict(n_blocks=2, c_z=18, c_s=0, c_hidden_mul=10, c_hidden_pair_att=5, no_heads_pair=3,
                      num_intermediate_factor=2),
    # Rows first, and a mean that divides before the bias.
    "boltz": dict(n_blocks=1, c_z=10, c_s=12, n_heads=2, c_hidden_mul=9, c_hidden_pair_att=5, no_heads_pair=2,
                  num_intermediate_factor=3, n_msa_blocks=2, c_m=9, c_hidden_opm=4, c_hidden_msa_att=5, no_heads_msa=3,
                  opm_first=False, opm_divides_bias=False),
    # The bias around the ending node in another order.
    "openfold3": dict(n_blocks=1, c_z=13, c_s=10, n_heads=2, c_hidden_mul=7, c_hidden_pair_att=5, no_heads_pair=2,
                      num_intermediate_factor=2, transpose_bias=True),
    "mini": dict(n_blocks=16, c_z=128, c_s=384, n_heads=16),  # Protenix-mini
}
N_TOKENS, N_PADDED, N_ROWS = 11, 4, 7
AF2 = "evoformer"  # the shape whose maps have biases and whose transition is a ReLU


def pair_parts(config, is_af2=False):
    """Of the blocks of pairs: maps by name, with their outputs, inputs and how large what they give is; and widths of norms."""
    c, h = config["c_z"], config.get("c_hidden_pair_att", 32)
    scaled = config.get("hidden_scale_up", False)
    c_mul = config.get("c_hidden_mul", c if scaled else 128)
    n_heads = config.get("no_heads_pair", c // h if scaled else 4)
    maps, norms = {}, {}
    for name in ("tri_mul_out", "tri_mul_in"):
        for part in ("a_p", "a_g", "b_p", "b_g"):
            maps[f"{name}.linear_{part}"] = (c_mul, c, 1)
        maps[name + ".linear_z"], maps[name + ".linear_g"] = (c, c_mul, 1), (c, c, 1)
        norms[name + ".layer_norm_in"], norms[name + ".layer_norm_out"] = c, c_mul
    for name in ("tri_att_start", "tri_att_end"):
        maps[name + ".linear"], norms[name + ".layer_norm"] = (n_heads, c, 1), c
        maps.update(attention_maps(name + ".mha", c, n_heads * h))
    n = config.get("num_intermediate_factor", 4)
    transition = relu_parts("pair_transition", c, n) if is_af2 else transition_parts("pair_transition", c, n)
    return merged((maps, norms), transition)


def pair_biases(config):
    """Of AlphaFold 2: widths by the names of maps."""
    maps = pair_parts(config, is_af2=True)[0]
    return {name: n_out for name, (n_out, _, _) in maps.items()
            if "tri_mul" in name or "pair_transition" in name or name.endswith((".linear_g", ".linear_o"))}


def relu_parts(name, width, n):
    return ({name + ".linear_1": (n * width, width, 1), name + ".linear_2": (width, n * width, 1)},
            {name + ".layer_norm": width})


def attention_maps(name, width, inner):
    maps = {f"{name}.linear_{part}": (inner, width, size) for part, size in (("q", 2), ("k", 2), ("v", 1), ("g", 1))}
    return {**maps, name + ".linear_o": (width, inner, 1.5)}


def transition_parts(name, width, n):
    return ({name + ".linear_no_bias_a": (n * width, width, 1), name + ".linear_no_bias_b": (n * width, width, 1),
             name + ".linear_no_bias": (width, n * width, 1)}, {name + ".layernorm1": width})


def single_parts(config):
    c, c_s = config["c_z"], config["c_s"]
    if c_s == 0:
        return {}, {}
    name = "attention_pair_bias"
    maps = {name + ".linear_nobias_z": (config.get("n_heads", 16), c, 1), **attention_maps(name + ".attention", c_s, c_s)}
    return merged((maps, {name + ".layernorm_a": c_s, name + ".layernorm_z": c}), transition_parts("single_transition", c_s, 4))


def msa_parts(config, is_last):
    c, c_m, c_outer = config["c_z"], config["c_m"], config["c_hidden_opm"]
    name = "outer_product_mean_msa"
    parts = ({f"{name}.linear_1": (c_outer, c_m, 1), f"{name}.linear_2": (c_outer, c_m, 1),
              f"{name}.linear_out": (c, c_outer ** 2, 2)}, {name + ".layer_norm": c_m})
    if not is_last:
        name, width = "msa_stack.msa_pair_weighted_averaging", config["no_heads_msa"] * config["c_hidden_msa_att"]
        maps = {name + ".linear_no_bias_mv": (width, c_m, 1), name + ".linear_no_bias_mg": (width, c_m, 1),
                name + ".linear_no_bias_z": (config["no_heads_msa"], c, 2), name + ".linear_no_bias_out": (c_m, width, 2)}
        parts = merged(parts, (maps, {name + ".layernorm_m": c_m, name + ".layernorm_z": c}),
                       transition_parts("msa_stack.transition_m", c_m, 4))
    return merged(parts, tuple({"pair_stack." + key: value for key, value in part.items()} for part in pair_parts(config)))


def merged(*parts):
    """(maps, norms) of all."""
    return tuple({key: value for part in parts for key, value in part[which].items()} for which in (0, 1))


def random_block(prefix, parts, biases, random):
    weights = {}
    for name, (n_out, n_in, size) in parts[0].items():
        weights[f"{prefix}{name}.weight"] = random.normal(0, size / n_in ** 0.5, (n_out, n_in))
    for name, n in biases.items():
        weights[f"{prefix}{name}.bias"] = random.normal(0, 0.5, n)
    for name, width in parts[1].items():
        weights[f"{prefix}{name}.weight"] = 1 + random.normal(0, 0.2, width)
        weights[f"{prefix}{name}.bias"] = random.normal(0, 0.2, width)
    return weights


def random_weights(config, random, is_af2=False):
    weights = {}
    single = {} if config["c_s"] == 0 else {"attention_pair_bias.attention.linear_q": config["c_s"]}
    if is_af2:
        single.update(pair_biases(config))
    for i in range(config["n_blocks"]):
        parts = merged(pair_parts(config, is_af2), single_parts(config))
        weights.update(random_block(f"pairformer_stack.blocks.{i}.", parts, single, random))
    n_msa = config.get("n_msa_blocks", 0)
    for i in range(n_msa):
        weights.update(random_block(f"msa_module.blocks.{i}.", msa_parts(config, config.get("opm_first", True) and i + 1 == n_msa),
                                    {"outer_product_mean_msa.linear_out": config["c_z"]}, random))
    return {name: value.astype(numpy.float32) for name, value in weights.items()}


def random_input(config, n, random):
    inputs = {"z": random.normal(0, 1, (n, n, config["c_z"]))}
    if config["c_s"] > 0:
        inputs["s"] = random.normal(0, 1, (n, config["c_s"]))
    if config.get("n_msa_blocks", 0) > 0:
        inputs["m"] = random.normal(0, 1, (N_ROWS, n, config["c_m"]))
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
        if case != "full" and "m" in inputs:
            inputs["msa_mask"] = (random.random(inputs["m"].shape[:2]) < 0.7).astype(numpy.float32)
            if config.get("opm_divides_bias", True):
                inputs["msa_mask"][0] = 1  # without it pairs that no row has get a thousand times the bias
            else:
                inputs["msa_mask"][:, 2] = 0
        s, z = pairformer.trunk(inputs, {k: v.astype(numpy.float64) for k, v in weights.items()}, config)
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
    weights = random_weights(config, random, options.shape == AF2)
    write_folder(options.folder, config, weights)
    if options.vectors:
        safetensors.numpy.save_file(vectors(config, weights, random), options.folder / "expected.safetensors")
    if options.tokens:
        numpy.savez(options.folder / "IN.npz", **random_input(config, options.tokens, random))


if __name__ == "__main__":
    main()
