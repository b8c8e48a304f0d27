#!/usr/bin/env python3
"""Writes a folder with a random diffusion transformer: config.json, model.safetensors; --vectors: expected.safetensors.

usage: scripts/reference/make_diffusion_transformer.py FOLDER [--shape NAME] [--seed N] [--tokens N] [--vectors]

As make_pairformer.py: every part of the weights matters. --vectors: inputs and outputs of diffusion_transformer.py, without a
mask (full/) and with tokens that are right-padded (padded/). With --tokens IN.npz is written. Needs numpy and safetensors.
"""

import argparse
import pathlib

import numpy
import safetensors.numpy

import diffusion_transformer
import make_pairformer

SHAPES = {
    # Widths that are no multiples of 8; heads of 7 and of 5.
    "tiny": dict(n_blocks=2, c_token=21, c_s=18, c_z=11, n_heads=3, n_transition=2),
    "boltz": dict(n_blocks=2, c_token=20, c_s=13, c_z=9, n_heads=4, n_transition=2),
    "mini": dict(n_blocks=8, c_token=768, c_s=384, c_z=128, n_heads=16, n_transition=2),  # Protenix-mini
}
BOLTZ = "boltz"  # norms of pairs with an offset, products of three in transitions
N_TOKENS, N_PADDED = 13, 4


def adaptive_parts(name, config):
    """(maps, norms without an offset) by name."""
    c, c_s = config["c_token"], config["c_s"]
    return {name + ".linear_s": (c, c_s, 1), name + ".linear_nobias_s": (c, c_s, 1)}, {name + ".layernorm_s": c_s}


def random_block(prefix, config, is_boltz, random):
    c, c_s, c_z, heads = (config[name] for name in ("c_token", "c_s", "c_z", "n_heads"))
    attention, transition, hidden = "attention_pair_bias", "conditioned_transition_block", config["n_transition"] * c
    maps = {attention + ".linear_nobias_z": (heads, c_z, 2), attention + ".linear_a_last": (c, c_s, 1),
            **make_pairformer.attention_maps(attention + ".attention", c, c), transition + ".linear_s": (c, c_s, 1),
            transition + ".linear_nobias_b": (c, hidden, 2)}
    maps.update({f"{transition}.linear_nobias_a{i}": (hidden, c, 1.5) for i in range(1, 4 if is_boltz else 3)})
    norms = {attention + ".layernorm_z": c_z}
    for name in (attention + ".layernorm_a", transition + ".adaln"):
        more_maps, more_norms = adaptive_parts(name, config)
        maps.update(more_maps)
        norms.update(more_norms)
    biased = [attention + ".layernorm_a.linear_s", attention + ".linear_a_last", attention + ".attention.linear_q",
              transition + ".adaln.linear_s", transition + ".linear_s"]
    weights = {f"{prefix}{name}.weight": random.normal(0, size / n_in ** 0.5, (n_out, n_in))
               for name, (n_out, n_in, size) in maps.items()}
    weights.update({f"{prefix}{name}.bias": random.normal(0, 0.5, c) for name in biased})
    weights.update({f"{prefix}{name}.weight": 1 + random.normal(0, 0.2, width) for name, width in norms.items()})
    if is_boltz:
        weights[f"{prefix}{attention}.layernorm_z.bias"] = random.normal(0, 0.2, c_z)
    return weights


def random_weights(config, is_boltz, random):
    weights = {}
    for i in range(config["n_blocks"]):
        weights.update(random_block(f"diffusion_module.diffusion_transformer.blocks.{i}.", config, is_boltz, random))
    return {name: value.astype(numpy.float32) for name, value in weights.items()}


def random_input(config, n, random):
    shapes = {"a": (n, config["c_token"]), "s": (n, config["c_s"]), "z": (n, n, config["c_z"])}
    return {name: random.normal(0, 1, shape).astype(numpy.float32) for name, shape in shapes.items()}


def vectors(config, weights, random):
    """Inputs and outputs by CASE/NAME and CASE/out/a."""
    arrays, doubles = {}, {name: value.astype(numpy.float64) for name, value in weights.items()}
    for case in ("full", "padded"):
        inputs = random_input(config, N_TOKENS, random)
        if case == "padded":
            inputs["mask"] = (numpy.arange(N_TOKENS) < N_TOKENS - N_PADDED).astype(numpy.float32)
        a = diffusion_transformer.transformer(inputs, doubles, config)
        arrays.update({f"{case}/{name}": value for name, value in inputs.items()})
        arrays[f"{case}/out/a"] = a.astype(numpy.float32)
    return arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="tiny")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--vectors", action="store_true")
    options = parser.parse_args()
    config = {"model_type": "diffusion_transformer", **SHAPES[options.shape]}
    random = numpy.random.default_rng(options.seed)
    weights = random_weights(config, options.shape == BOLTZ, random)
    make_pairformer.write_folder(options.folder, config, weights)
    if options.vectors:
        safetensors.numpy.save_file(vectors(config, weights, random), options.folder / "expected.safetensors")
    if options.tokens:
        numpy.savez(options.folder / "IN.npz", **random_input(config, options.tokens, random))


if __name__ == "__main__":
    main()
