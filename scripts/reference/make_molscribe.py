#!/usr/bin/env python3
"""Writes a folder of MolScribe with random weights, and what scripts/reference/molscribe.py computes with it.

usage: make_molscribe.py FOLDER [--shape tiny|base] [--seed N] [--pictures N]

FOLDER gets config.json, vocab_chars.json and model.safetensors. With --pictures also so many drawings as PNG files and
expected.json: of each picture the tokens, margins, atoms, bonds and confidence, in double precision. Weights are large
enough that every part matters: sequences differ between pictures and end at different lengths.
"""
import argparse
import json
import pathlib

import cv2
import numpy as np
import safetensors.torch
import torch

import molscribe

TINY = {"input_size": 96, "coord_bins": 8, "dec_num_layers": 2, "dec_hidden_size": 32, "dec_attn_heads": 2,
        "swin_embed_dim": 8, "swin_window": 3, "swin_depths": [2, 2, 1, 2], "swin_heads": [1, 2, 4, 8],
        "max_length": 60}
PUBLISHED = {"encoder": "swin_base", "decoder": "transformer", "formats": ["chartok_coords", "edges"],
             "sep_xy": True, "continuous_coords": False, "enc_pos_emb": False, "vocab_file": "vocab_chars.json"}
ORDER = (["<pad>", "<sos>", "<eos>", "<unk>", "<mask>"] + list(".-=#:/\\()[]@+%0123456789")
         + [chr(ord("a") + i) for i in range(26)] + [chr(ord("A") + i) for i in range(26)]
         + list("*~\x0f!\"$&',;<>?^_`{|}") + ["\u0155"])


def random_tensors(config, n_tokens, random):
    shape = {**molscribe.DEFAULTS, **config}
    tensors = {}

    def normal(*size, std=1.0):
        return torch.from_numpy(random.standard_normal(size) * std).float()

    def linear(name, n_out, n_in, gain=1.0, bias=True):
        tensors[name + ".weight"] = normal(n_out, n_in, std=gain / n_in ** 0.5)
        if bias:
            tensors[name + ".bias"] = normal(n_out, std=0.2)

    def norm(name, n):
        tensors[name + ".weight"] = 1 + normal(n, std=0.2)
        tensors[name + ".bias"] = normal(n, std=0.2)

    root, d = "encoder.transformer.", shape["swin_embed_dim"]
    tensors[root + "patch_embed.proj.weight"] = normal(d, 3, 4, 4, std=0.15)
    tensors[root + "patch_embed.proj.bias"] = normal(d, std=0.2)
    norm(root + "patch_embed.norm", d)
    for s, depth in enumerate(shape["swin_depths"]):
        c = d << s
        for b in range(depth):
            name = f"{root}layers.{s}.blocks.{b}."
            norm(name + "norm1", c)
            linear(name + "attn.qkv", 3 * c, c, 1.4)
            tensors[name + "attn.relative_position_bias_table"] = normal(
                (2 * shape["swin_window"] - 1) ** 2, shape["swin_heads"][s], std=0.5)
            linear(name + "attn.proj", c, c, 0.7)
            norm(name + "norm2", c)
            linear(name + "mlp.fc1", 4 * c, c)
            linear(name + "mlp.fc2", c, 4 * c, 0.7)
        if s + 1 < len(shape["swin_depths"]):
            norm(f"{root}layers.{s}.downsample.norm", 4 * c)
            linear(f"{root}layers.{s}.downsample.reduction", 2 * c, 4 * c, bias=False)
    norm(root + "norm", c)
    root, d = "decoder.decoder.chartok_coords.", shape["dec_hidden_size"]
    linear(root + "enc_trans_layer.0", d, c, 2.0)
    for i in range(shape["dec_num_layers"]):
        name = f"{root}decoder.transformer_layers.{i}."
        for kind, gain in (("self_attn", 1.5), ("context_attn", 2.5)):
            for part in ("linear_query", "linear_keys", "linear_values"):
                linear(name + kind + "." + part, d, d, gain)
            linear(name + kind + ".final_linear", d, d, gain)
        for part in ("layer_norm_1", "layer_norm_2", "feed_forward.layer_norm"):
            norm(name + part, d)
        linear(name + "feed_forward.w_1", 4 * d, d, 1.5)
        linear(name + "feed_forward.w_2", d, 4 * d, 1.5)
    norm(root + "decoder.layer_norm", d)
    tensors[root + "embeddings.make_embedding.emb_luts.0.weight"] = normal(n_tokens, d, std=2.5 / d ** 0.5)
    linear(root + "output_layer", n_tokens, d, 3.0)
    linear("decoder.decoder.edges.mlp.0", d, 2 * d, 1.0)
    linear("decoder.decoder.edges.mlp.2", 7, d, 3.0)
    return tensors


def favour_atoms(tensors, vocabulary, random):
    """Bins of x behind letters and letters behind bins of y, as in real sequences; the stop token now and then."""
    root = "decoder.decoder.chartok_coords."
    embeddings = tensors[root + "embeddings.make_embedding.emb_luts.0.weight"]
    weight, bias = (tensors[root + "output_layer." + part] for part in ("weight", "bias"))
    d, n, bins = embeddings.shape[1], vocabulary.n, vocabulary.bins
    letters = [i for i in range(n) if vocabulary.begins_atom(i)]
    behind_letter, behind_place = (torch.from_numpy(random.standard_normal(d)).float() for _ in range(2))
    embeddings[letters] += behind_letter * 4 / d ** 0.5
    embeddings[n + bins:] += behind_place * 4 / d ** 0.5
    weight[n:n + bins] += behind_letter * 10 / d
    weight[letters] += behind_place * 5 / d
    weight[molscribe.STOP] += behind_place * 5 / d
    bias[molscribe.STOP] += 1.5


def spread(network, pictures):
    """Hidden states of a random network are much alike, and so is what follows of them: takes their mean off what the
    last products read, and makes their differences large."""
    names = ("decoder.decoder.chartok_coords.output_layer", "decoder.decoder.edges.mlp.0")
    before = {name: network.tensors[name + ".bias"].clone() for name in names}
    for _ in range(3):
        states = torch.cat([network.decode(network.encode(picture))[3] for picture in pictures])
        mean = states.mean(0)
        output, pairs = (network.tensors[name + ".weight"] for name in names)
        network.tensors[names[0] + ".bias"] = before[names[0]] - output @ mean
        network.tensors[names[1] + ".bias"] = before[names[1]] - pairs @ torch.cat([mean, mean])
    pairs *= 6 / float((states - mean).std())
    network.tensors[names[1] + ".bias"] = before[names[1]] - pairs @ torch.cat([mean, mean])
    last = "decoder.decoder.edges.mlp.2.bias"
    both = torch.cat([states[::3].repeat_interleave(len(states[::3]), 0), states[::3].repeat(len(states[::3]), 1)], 1)
    hidden = torch.nn.functional.gelu(network.linear(names[1], both))
    network.tensors[last] = -(network.tensors["decoder.decoder.edges.mlp.2.weight"] @ hidden.mean(0))
    network.tensors[last][0] += 2


def drawing(random):
    """Lines and letters on white, [h, w, 3]."""
    height, width = (int(n) for n in random.integers(50, 140, 2))
    picture = np.full((height, width, 3), 255, np.uint8)
    for _ in range(int(random.integers(3, 14))):
        a, b = ([int(random.integers(0, n)) for n in (width, height)] for _ in range(2))
        cv2.line(picture, a, b, (0, 0, 0), int(random.integers(1, 3)))
    for letter in random.choice(list("NOSFCl"), 4):
        at = [int(random.integers(0, n)) for n in (width, height)]
        cv2.putText(picture, str(letter), at, cv2.FONT_HERSHEY_SIMPLEX, 0.6, (200, 0, 0), 1)
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shape", choices=("tiny", "base"), default="tiny")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", type=int, default=0)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    numbers = {text: i for i, text in enumerate(ORDER)}
    config = {"model_type": "molscribe", **PUBLISHED, **(TINY if args.shape == "tiny" else {})}
    bins = {**molscribe.DEFAULTS, **config}["coord_bins"]
    tensors = random_tensors(config, len(numbers) + 2 * bins, random)
    network = molscribe.Network(config, tensors, numbers)
    favour_atoms(tensors, network.vocabulary, random)
    size = network.config["input_size"]
    with torch.no_grad():
        spread(network, [molscribe.prepare(drawing(random), size) for _ in range(2)])
    if args.shape == "tiny":  # to be small: numbers that 16 bits hold
        tensors.update({name: x.half().float() for name, x in tensors.items()})
    args.folder.mkdir(parents=True, exist_ok=True)
    (args.folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (args.folder / "vocab_chars.json").write_text(json.dumps(numbers) + "\n")
    stored = {name: x.half() for name, x in tensors.items()} if args.shape == "tiny" else tensors
    safetensors.torch.save_file(stored, args.folder / "model.safetensors")
    if not args.pictures:
        return
    network.double()
    expected = {}
    for i in range(args.pictures):
        path = args.folder / f"picture{i}.png"
        cv2.imwrite(str(path), drawing(random))
        gray = molscribe.read_picture(path, network.config["input_size"])
        result = network.predict(gray)
        result["encoded"] = network.encode(gray).detach().flatten().tolist() if i == 0 else []
        result["margins"] = float(min(result["margins"]))
        del result["pair_margins"]
        result["logarithms"] = [round(x, 9) for x in result["logarithms"]]
        result["gray_sum"] = int((gray.astype(np.int64).ravel() * (np.arange(gray.size) % 251 + 1)).sum())
        expected[path.name] = result
        print(path.name, len(result["tokens"]), "tokens", len(result["atoms"]), "atoms", len(result["bonds"]), "bonds",
              f"margins {result['margins']:.2g} {result['pair_margin']} confidence {result['confidence']:.3g}")
    (args.folder / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
