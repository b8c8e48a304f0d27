#!/usr/bin/env python3
"""The Pairformer stack and the MSA module in double precision: what `biogpu infer trunk` computes, by another program.

usage: scripts/reference/pairformer.py FOLDER IN.npz OUT.npz

FOLDER has config.json and model.safetensors under the names of Protenix; IN.npz has s [N, c_s], z [N, N, c_z], for a model
with an MSA module m [S, N, c_m] and, if it likes, mask [N], pair_mask [N, N] and msa_mask [S, N]; OUT.npz gets s and z.
Plain loops over tokens where they are the clearest, from the algorithms 8 to 15, 17 and 24 of AlphaFold 3's supplement (doi 10.1038/s41586-024-07487-w); shares nothing with lib/.
Needs numpy and safetensors.
"""

import json
import pathlib
import sys

import numpy
import safetensors.numpy

MASKED = -1e9  # logit of a masked key
EPS = 1e-5


def norm(x, weights, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + EPS)
    return scaled * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    y = x @ weights[name + ".weight"].T
    return y + weights[name + ".bias"] if name + ".bias" in weights else y


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def triangle_product(z, mask, weights, name, outgoing):
    x = norm(z, weights, name + ".layer_norm_in")
    a, b = (mask[:, :, None] * sigmoid(linear(x, weights, f"{name}.linear_{side}_g"))
            * linear(x, weights, f"{name}.linear_{side}_p") for side in "ab")
    sums = numpy.zeros_like(a)
    for k in range(len(z)):
        sums += a[:, None, k] * b[None, :, k] if outgoing else a[k, :, None] * b[k, None, :]
    y = linear(norm(sums, weights, name + ".layer_norm_out"), weights, name + ".linear_z")
    return y * sigmoid(linear(x, weights, name + ".linear_g"))


def heads_of(x, weights, name, n_heads):
    y = linear(x, weights, name)
    return y.reshape(*y.shape[:-1], n_heads, -1)


def attend(x, bias, key_mask, weights, name):
    """One row of tokens or pairs [N, c] that attends to itself; bias [heads, N, N], key_mask [N]."""
    n_heads = len(bias)
    q, k, v, g = (heads_of(x, weights, f"{name}.linear_{part}", n_heads) for part in "qkvg")
    logits = numpy.einsum("ihd,jhd->hij", q, k) / numpy.sqrt(q.shape[-1]) + bias
    logits = numpy.where(key_mask[None, None, :] != 0, logits, MASKED)
    o = sigmoid(g) * numpy.einsum("hij,jhd->ihd", softmax(logits), v)
    return linear(o.reshape(len(x), -1), weights, name + ".linear_o")


def triangle_attention(z, mask, weights, name, swaps_bias=False):
    """Around the starting node; around the ending node it is that of the transposed pairs. swaps_bias: the bias of pair
    (k, j) for that of (j, k), as OpenFold3 does it around the ending node since 0.5."""
    x = norm(z, weights, name + ".layer_norm")
    bias = linear(x, weights, name + ".linear").transpose(2, 0, 1)
    bias = bias.transpose(0, 2, 1) if swaps_bias else bias
    return numpy.stack([attend(x[i], bias, mask[i], weights, name + ".mha") for i in range(len(z))])


def transition(x, weights, name):
    if name + ".linear_1.weight" in weights:  # of AlphaFold 2
        y = linear(norm(x, weights, name + ".layer_norm"), weights, name + ".linear_1")
        return linear(numpy.maximum(y, 0), weights, name + ".linear_2")
    y = norm(x, weights, name + ".layernorm1")
    a, b = linear(y, weights, name + ".linear_no_bias_a"), linear(y, weights, name + ".linear_no_bias_b")
    return linear(a * sigmoid(a) * b, weights, name + ".linear_no_bias")


def pair_bias_attention(s, z, mask, weights, name):
    bias = linear(norm(z, weights, name + ".layernorm_z"), weights, name + ".linear_nobias_z").transpose(2, 0, 1)
    return attend(norm(s, weights, name + ".layernorm_a"), bias, mask, weights, name + ".attention")


def outer_product_mean(m, mask, weights, name, divides_bias):
    """What is added to the pairs: m [S, N, c_m], mask [S, N]. divides_bias: else it is Boltz-2's."""
    x = norm(m, weights, name + ".layer_norm")
    a, b = (mask[:, :, None] * linear(x, weights, f"{name}.linear_{side}") for side in (1, 2))
    outer = numpy.zeros((m.shape[1], m.shape[1], a.shape[-1], b.shape[-1]))
    for row_a, row_b in zip(a, b):
        outer += row_a[:, None, :, None] * row_b[None, :, None, :]
    outer, n_rows = outer.reshape(*outer.shape[:2], -1), (mask.T @ mask)[:, :, None]
    if divides_bias:
        return linear(outer, weights, name + ".linear_out") / (n_rows + 1e-3)
    return linear(outer / numpy.maximum(n_rows, 1), weights, name + ".linear_out")


def pair_weighted_averaging(m, z, mask, weights, name, n_heads):
    x = norm(m, weights, name + ".layernorm_m")
    logits = linear(norm(z, weights, name + ".layernorm_z"), weights, name + ".linear_no_bias_z")
    logits = numpy.where(mask[None, :, None] != 0, logits, MASKED)
    shares = softmax(logits.transpose(2, 0, 1))  # [heads, N, N], over the last
    v = heads_of(x, weights, name + ".linear_no_bias_mv", n_heads)
    o = numpy.stack([numpy.einsum("hij,jhd->ihd", shares, row) for row in v])
    gate = sigmoid(linear(x, weights, name + ".linear_no_bias_mg"))
    return linear(gate * o.reshape(*m.shape[:2], -1), weights, name + ".linear_no_bias_out")


def pair_stack(z, pair_mask, weights, name, config):
    z = z + triangle_product(z, pair_mask, weights, name + "tri_mul_out", True)
    z = z + triangle_product(z, pair_mask, weights, name + "tri_mul_in", False)
    z = z + triangle_attention(z, pair_mask, weights, name + "tri_att_start")
    swapped = triangle_attention(z.transpose(1, 0, 2), pair_mask.T, weights, name + "tri_att_end",
                                 config.get("transpose_bias", False))
    z = z + swapped.transpose(1, 0, 2)
    return z + transition(z, weights, name + "pair_transition")


def block(s, z, mask, pair_mask, weights, name, config):
    z = pair_stack(z, pair_mask, weights, name, config)
    if s is not None:
        s = s + pair_bias_attention(s, z, mask, weights, name + "attention_pair_bias")
        s = s + transition(s, weights, name + "single_transition")
    return s, z


def msa_module(m, msa_mask, z, mask, pair_mask, weights, config):
    """The pairs after all blocks, the last of which leaves the rows alone where outer products come first."""
    outer_first, divides_bias = config.get("opm_first", True), config.get("opm_divides_bias", True)
    for i in range(config.get("n_msa_blocks", 0)):
        name = f"msa_module.blocks.{i}."
        if outer_first:
            z = z + outer_product_mean(m, msa_mask, weights, name + "outer_product_mean_msa", divides_bias)
        if not outer_first or i + 1 < config["n_msa_blocks"]:
            m = m + pair_weighted_averaging(m, z, mask, weights, name + "msa_stack.msa_pair_weighted_averaging",
                                            config.get("no_heads_msa", 8))
            m = m + transition(m, weights, name + "msa_stack.transition_m")
        if not outer_first:
            z = z + outer_product_mean(m, msa_mask, weights, name + "outer_product_mean_msa", divides_bias)
        z = pair_stack(z, pair_mask, weights, name + "pair_stack.", config)
    return z


def trunk(inputs, weights, config):
    """s (or None) and z after all blocks. inputs: arrays by the names of IN.npz."""
    z = numpy.asarray(inputs["z"], numpy.float64)
    s = numpy.asarray(inputs["s"], numpy.float64) if "s" in inputs else None
    mask = numpy.asarray(inputs.get("mask", numpy.ones(len(z))), numpy.float64)
    pair_mask = numpy.asarray(inputs.get("pair_mask", mask[:, None] * mask), numpy.float64)
    if config.get("n_msa_blocks", 0) > 0:
        m = numpy.asarray(inputs["m"], numpy.float64)
        msa_mask = numpy.asarray(inputs.get("msa_mask", numpy.ones(m.shape[:2])), numpy.float64)
        z = msa_module(m, msa_mask, z, mask, pair_mask, weights, config)
    for i in range(config.get("n_blocks", 48)):
        s, z = block(s, z, mask, pair_mask, weights, f"pairformer_stack.blocks.{i}.", config)
    return s, z


def read_folder(folder):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = safetensors.numpy.load_file(folder / "model.safetensors")
    return config, {name: value.astype(numpy.float64) for name, value in weights.items()}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    config, weights = read_folder(pathlib.Path(sys.argv[1]))
    with numpy.load(sys.argv[2]) as file:
        inputs = dict(file)
    s, z = trunk(inputs, weights, config)
    results = {"z": z.astype(numpy.float32)}
    if s is not None:
        results["s"] = s.astype(numpy.float32)
    numpy.savez(sys.argv[3], **results)


if __name__ == "__main__":
    main()
