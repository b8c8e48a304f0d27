#!/usr/bin/env python3
"""The transformer of AlphaFold 3's diffusion module over tokens, in double precision, by another program than biogpu.

usage: scripts/reference/diffusion_transformer.py FOLDER IN.npz OUT.npz

FOLDER has config.json and model.safetensors under the names of Protenix; IN.npz has a [N, c_token], s [N, c_s],
z [N, N, c_z] and, if it likes, mask [N]; OUT.npz gets a. From the algorithms 23 to 26 of AlphaFold 3's supplement (doi
10.1038/s41586-024-07487-w), with the residual connections of Protenix, OpenFold3 and Boltz-2. Needs numpy and safetensors.
"""

import pathlib
import sys

import numpy

import pairformer
from pairformer import linear, sigmoid


def norm(x, weights, name=None):
    """Without an offset where the model has none, and without a scale where there is no name."""
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + pairformer.EPS)
    return scaled if name is None else scaled * weights[name + ".weight"] + weights.get(name + ".bias", 0)


def adaptive_norm(a, s, weights, name):
    n = norm(s, weights, name + ".layernorm_s")
    return sigmoid(linear(n, weights, name + ".linear_s")) * norm(a, weights) + linear(n, weights, name + ".linear_nobias_s")


def attention(a, s, z, mask, weights, name):
    bias = linear(norm(z, weights, name + ".layernorm_z"), weights, name + ".linear_nobias_z").transpose(2, 0, 1)
    y = pairformer.attend(adaptive_norm(a, s, weights, name + ".layernorm_a"), bias, mask, weights, name + ".attention")
    return sigmoid(linear(s, weights, name + ".linear_a_last")) * y


def transition(a, s, weights, name):
    """linear_nobias_a3: of Boltz-2, whose hidden numbers are products of three."""
    x = adaptive_norm(a, s, weights, name + ".adaln")
    first, second = (linear(x, weights, f"{name}.linear_nobias_a{i}") for i in (1, 2))
    hidden = first * sigmoid(first) * second
    if name + ".linear_nobias_a3.weight" in weights:
        hidden = hidden * linear(x, weights, name + ".linear_nobias_a3")
    return sigmoid(linear(s, weights, name + ".linear_s")) * linear(hidden, weights, name + ".linear_nobias_b")


def transformer(inputs, weights, config):
    """a after all blocks. inputs: arrays by the names of IN.npz."""
    a, s, z = (numpy.asarray(inputs[name], numpy.float64) for name in "asz")
    mask = numpy.asarray(inputs.get("mask", numpy.ones(len(a))), numpy.float64)
    for i in range(config.get("n_blocks", 24)):
        name = f"diffusion_module.diffusion_transformer.blocks.{i}."
        a = a + attention(a, s, z, mask, weights, name + "attention_pair_bias")
        a = a + transition(a, s, weights, name + "conditioned_transition_block")
    return a


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    config, weights = pairformer.read_folder(pathlib.Path(sys.argv[1]))
    with numpy.load(sys.argv[2]) as file:
        a = transformer(dict(file), weights, config)
    numpy.savez(sys.argv[3], a=a.astype(numpy.float32))


if __name__ == "__main__":
    main()
