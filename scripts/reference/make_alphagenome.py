#!/usr/bin/env python3
"""Writes a folder with a random AlphaGenome: config.json, model.safetensors; with --vectors expected.safetensors too.

usage: scripts/reference/make_alphagenome.py FOLDER [--shape tiny|small|published] [--seed N] [--vectors]

Weights are drawn so that every part matters: variances, scales and offsets of all norms differ by channel, relative
positions and the caps of attention change results, factors of tracks are not 1. The vectors are computed in double
precision by alphagenome.py from the numbers that the file holds, and stored in fp32: every part for the window "one",
tracks for "two", which has letters that are no base, both organisms, both forms of GELU in the pair parts. Needs
requirements.txt.
"""

import argparse
import json
import pathlib

import alphagenome
import safetensors.torch
import torch
from dna_windows import make_windows, one_hot

PUBLISHED = dict(
    num_organisms=2, num_channels=768, channel_increment=128, num_down_blocks=6, num_transformer_blocks=9, num_heads=8,
    qk_head_dim=128, v_head_dim=192, pair_channels=128, pair_heads=32, pair_head_dim=128, position_features=64,
    splice_junction_channels=768, splice_junction_tissues=367,
    track_heads=dict(atac=256, dnase=384, procap=128, cage=640, rna_seq=768, chip_tf=1664, chip_histone=1152),
    contact_tracks=28, splice_usage_tracks=734)
SHAPES = {
    # The coarse resolution is 8 bases, and a position of pairs is 128.
    "tiny": dict(PUBLISHED, num_channels=12, channel_increment=4, num_down_blocks=2, num_transformer_blocks=3, num_heads=2,
                 qk_head_dim=6, v_head_dim=10, pair_channels=10, pair_heads=3, pair_head_dim=6, position_features=10,
                 splice_junction_channels=6, splice_junction_tissues=3,
                 track_heads=dict(atac=5, dnase=3, procap=2, cage=4, rna_seq=6, chip_tf=7, chip_histone=3),
                 contact_tracks=3, splice_usage_tracks=6),
    "small": dict(PUBLISHED, num_channels=96, channel_increment=16, num_transformer_blocks=4, num_heads=4, qk_head_dim=32,
                  v_head_dim=48, pair_channels=32, pair_heads=8, pair_head_dim=32, position_features=64,
                  splice_junction_channels=96, splice_junction_tissues=10,
                  track_heads=dict(atac=16, dnase=24, procap=8, cage=40, rna_seq=48, chip_tf=100, chip_histone=72),
                  contact_tracks=8, splice_usage_tracks=20),
    "published": PUBLISHED,
}
LENGTHS = {"tiny": 1024, "small": 16384, "published": 131072}
COARSE_ONLY = ("chip_tf", "chip_histone")


def tensor_shapes(c):
    """Every tensor of the port's state dictionary with its shape."""
    shapes = {}
    organisms = max(1, c["num_organisms"])
    first, step, n_down = c["num_channels"], c["channel_increment"], c["num_down_blocks"]
    width, pair = first + n_down * step, c["pair_channels"]
    q, v, heads = c["qk_head_dim"], c["v_head_dim"], c["num_heads"]

    def linear(name, n_out, n_in, bias=True, taps=None):
        shapes[name + ".weight"] = (n_out, n_in) if taps is None else (n_out, n_in, taps)
        if bias:
            shapes[name + ".bias"] = (n_out,)

    def norm(name, d, running=False):
        shapes[name + ".weight"] = shapes[name + ".bias"] = (d,)
        if running:
            shapes[name + ".running_var"] = (d,)

    def conv_block(name, n_out, n_in, taps):
        norm(name + ".norm", n_in, True)
        linear(name + ".conv", n_out, n_in, taps=taps)
        if taps > 1:
            shapes[name + ".conv.scale"] = (n_out, 1, 1)

    linear("encoder.dna_embedder.conv1", first, 4, taps=15)
    conv_block("encoder.dna_embedder.block", first, first, 5)
    for i in range(n_down):
        n_in = first + i * step
        conv_block(f"encoder.down_blocks.{i}.block1", n_in + step, n_in, 5)
        conv_block(f"encoder.down_blocks.{i}.block2", n_in + step, n_in + step, 5)
    if c["num_organisms"] > 0:
        shapes["organism_embed.weight"] = (organisms, width)
    for i in range(c["num_transformer_blocks"]):
        block = f"tower.blocks.{i}."
        if i % 2 == 0:
            s = block + "pair_update.seq2pair."
            n_qk = c["pair_heads"] * c["pair_head_dim"]
            shapes[s + "q_r_bias"] = shapes[s + "k_r_bias"] = (1, 1, c["pair_heads"], c["pair_head_dim"])
            norm(s + "norm_seq2pair", width)
            linear(s + "linear_q", n_qk, width, False)
            linear(s + "linear_k", n_qk, width, False)
            linear(s + "linear_pos_features", n_qk, c["position_features"])
            linear(s + "linear_y_q", pair, width, False)
            linear(s + "linear_y_k", pair, width, False)
            linear(s + "linear_pair", pair, c["pair_heads"])
            r = block + "pair_update.row_attn."
            norm(r + "norm", pair)
            linear(r + "linear_q", pair, pair, False)
            linear(r + "linear_k", pair, pair, False)
            linear(r + "linear_v", pair, pair)
            m = block + "pair_update.pair_mlp."
            norm(m + "norm", pair)
            linear(m + "linear1", 2 * pair, pair)
            linear(m + "linear2", pair, 2 * pair)
        norm(block + "attn_bias.norm", pair, True)
        linear(block + "attn_bias.proj", heads, pair, False)
        m = block + "mha."
        norm(m + "norm", width, True)
        linear(m + "q_proj", heads * q, width, False)
        norm(m + "norm_q", q)
        linear(m + "k_proj", q, width, False)
        norm(m + "norm_k", q)
        linear(m + "v_proj", v, width, False)
        norm(m + "norm_v", v)
        linear(m + "linear_embedding", width, heads * v)
        norm(m + "final_norm", width, True)
        m = block + "mlp."
        norm(m + "norm", width, True)
        linear(m + "fc1", 2 * width, width)
        linear(m + "fc2", width, 2 * width)
        norm(m + "final_norm", width, True)
    n_in = width
    for i in range(n_down + 1):
        name = f"decoder.up_blocks.{i}."
        n_skip = first + (n_down - i) * step
        shapes[name + "residual_scale"] = (1,)
        conv_block(name + "conv_in", n_skip, n_in, 5)
        conv_block(name + "pointwise", n_skip, n_skip, 1)
        conv_block(name + "conv_out", n_skip, n_skip, 5)
        n_in = n_skip
    linear("embedder_128bp.project_in", 2 * width, width, taps=1)
    linear("embedder_1bp.project_in", 2 * first, first, taps=1)
    linear("embedder_1bp.project_skip", 2 * first, 2 * width, False, taps=1)
    for name, d in (("embedder_128bp", 2 * width), ("embedder_1bp", 2 * first), ("embedder_pair", pair)):
        if c["num_organisms"] > 0:
            shapes[name + ".organism_embed.weight"] = (organisms, d)
        norm(name + ".norm", d, name != "embedder_pair")
    for name, n in c["track_heads"].items():
        head = f"heads.{name}."
        shapes[head + "track_means"] = (organisms, n)
        for resolution, d in ((1, 2 * first), (128, 2 * width)):
            if resolution == 1 and name in COARSE_ONLY:
                continue
            shapes[head + f"convs.{resolution}.weight"] = (organisms, n, d)
            shapes[head + f"convs.{resolution}.bias"] = (organisms, n)
            shapes[head + f"residual_scales.{resolution}"] = (organisms, n)
    shapes["contact_maps_head.linear.weight"] = (organisms, pair, c["contact_tracks"])
    shapes["contact_maps_head.linear.bias"] = (organisms, c["contact_tracks"])
    for name, n in (("classification", 5), ("usage", c["splice_usage_tracks"]), ("junction", c["splice_junction_channels"])):
        shapes[f"splice_sites_{name}_head.conv.weight"] = (organisms, n, 2 * first)
        shapes[f"splice_sites_{name}_head.conv.bias"] = (organisms, n)
    for kind in ("pos_donor", "pos_acceptor", "neg_donor", "neg_acceptor"):
        shapes[f"splice_sites_junction_head.rope_params.{kind}"] = (
            organisms, 2, c["splice_junction_tissues"], c["splice_junction_channels"])
    return shapes


def draw(name, shape, generator):
    noise = torch.randn(shape, generator=generator)
    if name.endswith("running_var"):
        return 0.5 + 1.5 * torch.rand(shape, generator=generator)
    if name.endswith("track_means"):
        return 0.2 + torch.rand(shape, generator=generator)
    if name.endswith("residual_scale") or name.endswith(".conv.scale"):
        return 0.9 + 0.2 * noise
    if "norm" in name and name.endswith("weight"):
        return 1 + 0.2 * noise
    if "_r_bias" in name or "rope_params" in name:
        return 0.5 * noise
    if "residual_scales" in name:
        return 1 + 2 * noise
    if name.endswith("bias") or len(shape) < 2 or "organism_embed" in name:
        return 0.1 * noise
    if name == "contact_maps_head.linear.weight":
        return 3 * shape[1] ** -0.5 * noise
    # Gains keep what differs by position from being lost among what does not.
    gain = 6 if "head" in name else 2 if "mha." in name or "_pos_features" in name else 1
    n_in = shape[-1] if "head" in name else noise[0].numel()
    return gain * n_in ** -0.5 * noise


def make_weights(config, seed):
    generator = torch.Generator().manual_seed(seed)
    weights = {name: draw(name, shape, generator) for name, shape in sorted(tensor_shapes(config).items())}
    # A window of one position of pairs more than the first is enough.
    coarse = 2 ** (config["num_down_blocks"] + 1)
    window = one_hot(make_windows(max(1024, 32 * coarse))["one"]).float()
    calibration = Calibration(weights, dtype=torch.float32)
    calibration.run(window, 0)
    weights |= {name: calibration.w[name] for name in weights if name.endswith("running_var")}
    # Heads read embeddings less their means, so that tracks do not differ more than positions do.
    for organism in range(max(1, config["num_organisms"])):
        parts = alphagenome.AlphaGenome(weights, dtype=torch.float32).run(window, organism)
        for name in weights:
            if "head" not in name or not name.endswith(".bias"):
                continue
            weight = weights[name[:-4] + "weight"][organism]
            if name.startswith("contact_maps"):
                weight = weight.T
            kind = "pair" if name.startswith("contact_maps") else "128" if name.endswith("128.bias") else "1"
            weights[name][organism] -= weight @ parts["embedding/" + kind].flatten(0, -2).mean(0)
    return weights


class Calibration(alphagenome.AlphaGenome):
    """Turns each drawn variance into that times the mean square of what the norm reads."""

    def rbn(self, x, name):
        self.w[name + ".running_var"] *= x.square().mean()
        return super().rbn(x, name)


def make_vectors(weights, windows):
    vectors = {}
    for form in ("tanh", "erf"):
        model = alphagenome.AlphaGenome(weights, form)
        for organism in (0, 1):
            if form == "erf" and organism == 1:
                continue
            for name, window in windows.items():
                parts = model.run(one_hot(window).double(), organism)
                for part, values in parts.items():
                    whole = name == "one" and form == "tanh" and organism == 0
                    if not whole and part not in ("atac/1", "rna_seq/128", "contact_maps"):
                        continue
                    vectors[f"{name}/{form}/{organism}/{part}"] = values[:24, :24] if part == "splice_junctions" else values
    return {name: values.float().contiguous() for name, values in vectors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shape", choices=SHAPES, default="tiny")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vectors", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    config = SHAPES[args.shape]
    weights = make_weights(config, args.seed)
    safetensors.torch.save_file(weights, args.folder / "model.safetensors", metadata={"format": "pt"})
    (args.folder / "model.safetensors").chmod(0o644)
    text = {"model_type": "alphagenome", "sequence_length": LENGTHS[args.shape]}
    text |= config if args.shape != "published" else {"num_organisms": 2}
    (args.folder / "config.json").write_text(json.dumps(text, indent=2) + "\n")
    if not args.vectors:
        return
    windows = make_windows(LENGTHS[args.shape])
    (args.folder / "windows.fa").write_text("".join(f">{name}\n{window}\n" for name, window in windows.items()))
    vectors = make_vectors(weights, windows)
    safetensors.torch.save_file(vectors, args.folder / "expected.safetensors")
    (args.folder / "expected.safetensors").chmod(0o644)
    for name, values in vectors.items():
        print(f"{name} {list(values.shape)} std {values.std():.3g} over positions {values.std(0).mean():.3g}")


if __name__ == "__main__":
    main()
