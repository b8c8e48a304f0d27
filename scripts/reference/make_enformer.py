#!/usr/bin/env python3
"""Writes a folder with a random Enformer: config.json, model.safetensors; with --vectors expected.safetensors too.

usage: scripts/reference/make_enformer.py FOLDER [--shape tiny|small|odd|published] [--seed N] [--dtype float16|float32]
                                          [--vectors] [--trunk-names]
       scripts/reference/make_enformer.py FOLDER --table-vectors [--seed N]

Weights are drawn so that every part matters and that positions differ as much as channels do: batch norm has
statistics near those of its input, attention is sharp, biases are smaller than the signal, and the output of attention
is not zero. The vectors are computed by enformer-pytorch in double precision from the numbers that
the file holds, and stored in fp32: every stage for the window "one", the outputs for "two", which has letters that
are no base, and the outputs of "one" with the gamma features divided by their maximum over positions, as
DeepMind's original has it. With --table-vectors FOLDER has no model but expected.safetensors alone: some rows of the
positional features of the published shape with DeepMind's table (use_tf_gamma), the table's rows, and the keys of one
head. Needs requirements.txt and `pip install --no-deps enformer-pytorch==0.8.12`, which pins
another transformers.
"""

import argparse
import importlib.util
import json
import math
import pathlib
import sys
import types

import numpy
import safetensors.torch
import torch
from dna_windows import make_windows, one_hot, set_statistics

SHAPES = {
    "tiny": dict(dim=48, depth=2, heads=2, output_heads=dict(human=7, mouse=5), target_length=16, attn_dim_key=16,
                 num_downsamples=4, dim_divisible_by=8, sequence_length=1024),
    "small": dict(dim=192, depth=2, heads=4, output_heads=dict(human=7, mouse=5), target_length=16, attn_dim_key=16,
                  num_downsamples=4, dim_divisible_by=32, sequence_length=2048),
    # Widths that are no multiple of 8, and a window that is no whole bins.
    "odd": dict(dim=36, depth=1, heads=2, output_heads=dict(human=3), target_length=20, attn_dim_key=10,
                num_downsamples=4, dim_divisible_by=3, sequence_length=1003),
    "published": dict(dim=1536, depth=11, heads=8, output_heads=dict(human=5313, mouse=1643), target_length=896,
                      attn_dim_key=64, num_downsamples=7, dim_divisible_by=128, sequence_length=196608),
}
TABLE_POSITIONS, TABLE_FEATURES, TABLE_ROWS = 1536, 192, 80


def load_original():
    """enformer-pytorch's modelling file, without what its package imports for training."""
    found = importlib.util.find_spec("enformer_pytorch")
    if found is None:
        raise ModuleNotFoundError("No module named 'enformer_pytorch'", name="enformer_pytorch")
    package = types.ModuleType("enformer_pytorch")
    package.__path__ = list(found.submodule_search_locations)
    sys.modules["enformer_pytorch"] = package
    data = types.ModuleType("enformer_pytorch.data")
    data.str_to_one_hot = data.seq_indices_to_one_hot = None
    sys.modules["enformer_pytorch.data"] = data
    from enformer_pytorch import modeling_enformer
    return modeling_enformer


original = load_original()


# Of weights whose products are to be larger than their inputs.
GAINS = {"stem.0.weight": 3, "0.fn.1.to_q.weight": 2, "0.fn.1.to_k.weight": 2, "0.fn.1.to_rel_k.weight": 1,
         "0.fn.1.to_v.weight": 2, "0.fn.1.to_out.weight": 1}


def fill(model, seed):
    generator = torch.Generator().manual_seed(seed)

    def draw(name, tensor):
        noise = torch.randn(tensor.shape, generator=generator)
        if name.endswith("running_var"):  # times that of the input
            return 0.5 + 1.5 * torch.rand(tensor.shape, generator=generator)
        if name.endswith("running_mean"):  # of the input, plus standard deviations
            return 0.3 * noise
        if name.endswith("to_attn_logits.weight"):
            n = tensor.shape[0]
            return (2 * torch.eye(n) + noise.view(n, n) * n ** -0.5).view(tensor.shape)
        if "rel_content_bias" in name or "rel_pos_bias" in name:
            return noise
        if tensor.dim() == 1:
            # Factors of normalisations are near 1.
            return 0.2 * noise + (1.0 if name.endswith("weight") else 0.0)
        n_in = math.prod(tensor.shape[1:])
        return GAINS.get(name.split(".", 2)[-1] if name.startswith("transformer") else name, 1) * n_in ** -0.5 * noise

    with torch.no_grad():
        for name, tensor in sorted(model.state_dict().items()):
            if not name.startswith("_trunk.") and tensor.is_floating_point():
                tensor.copy_(draw(name, tensor))


def make_model(shape, seed, device="cpu"):
    values = dict(SHAPES[shape])
    length = values.pop("sequence_length")
    model = original.Enformer(original.EnformerConfig(**values)).eval()
    fill(model, seed)
    model = model.to(device)
    set_statistics(model, one_hot(make_windows(length)["one"]).to(device))
    return model


def save(model, shape, folder, dtype, trunk_names):
    state = {}
    for name, tensor in model.state_dict().items():
        if name.startswith("_heads.") or name.startswith("_trunk.") == trunk_names:
            state[name] = tensor.to(dtype).contiguous() if tensor.is_floating_point() else tensor
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    config = {"architectures": ["Enformer"], "model_type": "enformer", "use_tf_gamma": False,
              "attn_dropout": 0.05, "dropout_rate": 0.4, "pos_dropout": 0.01, "use_checkpointing": False}
    config.update(SHAPES[shape])
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def gamma_over_positions(positions, features, seq_len, dtype=None):
    mean = torch.linspace(seq_len / features, seq_len, features)[None]
    stddev = seq_len / (2 * features)
    pdf = original.gamma_pdf(positions.abs().to(mean.dtype)[:, None], (mean / stddev) ** 2, mean / stddev ** 2) + 1e-8
    return pdf / pdf.amax(0, keepdim=True)


def run_stages(model, x):
    stages = {}

    def keep(name, transpose):
        def hook(_, __, out):
            stages[name] = (out[0].T if transpose else out[0]).clone()
        return hook

    hooks = [model.stem.register_forward_hook(keep("stem", True))]
    for i, tower in enumerate(model.conv_tower):
        hooks.append(tower.register_forward_hook(keep(f"tower/{i}", True)))
    for i, block in enumerate(model.transformer):
        hooks.append(block.register_forward_hook(keep(f"block/{i}", False)))
    hooks.append(model.crop_final.register_forward_hook(keep("crop", False)))
    outputs, embedding = model(x[None], return_embeddings=True)
    for hook in hooks:
        hook.remove()
    stages["embedding"] = embedding[0]
    stages.update({f"heads/{name}": out[0] for name, out in outputs.items()})
    return stages


def make_vectors(model, windows):
    vectors = {}
    for name, window in windows.items():
        stages = run_stages(model, one_hot(window).to(torch.get_default_dtype()))
        kept = stages if name == "one" else {k: v for k, v in stages.items() if k.startswith("heads/")}
        vectors.update({f"{name}/{k}": v for k, v in kept.items()})
    n = vectors["one/block/0"].shape[0]
    attention = model.transformer[0][0].fn[1]
    features = original.get_positional_embed(n, attention.num_rel_pos_features, "cpu", False, torch.get_default_dtype())
    vectors["features"] = features
    for i, block in enumerate(model.transformer):
        vectors[f"relative/{i}"] = block[0].fn[1].to_rel_k(features)
    form = original.get_positional_features_gamma
    original.get_positional_features_gamma = gamma_over_positions
    vectors["features_positions"] = original.get_positional_embed(n, attention.num_rel_pos_features, "cpu", False,
                                                                  torch.get_default_dtype())
    stages = run_stages(model, one_hot(windows["one"]).to(torch.get_default_dtype()))
    vectors.update({f"positions/{k}": v for k, v in stages.items() if k.startswith("heads/")})
    original.get_positional_features_gamma = form
    return {k: v.float().contiguous() for k, v in vectors.items()}


def write_vectors(folder, vectors):
    safetensors.torch.save_file(vectors, folder / "expected.safetensors")
    (folder / "expected.safetensors").chmod(0o644)
    for name, tensor in vectors.items():
        print(f"{name} {list(tensor.shape)} std {tensor.std():.3g} max {tensor.abs().max():.3g}")


def make_table_vectors(seed):
    """Rows of relative positions: both ends, about 0, and others at random."""
    n_positions, n_features, n_keys = TABLE_POSITIONS, TABLE_FEATURES, 16
    generator = torch.Generator().manual_seed(seed)
    others = 1 + torch.randperm(n_positions - 1, generator=generator)[:TABLE_ROWS]
    signs = 2 * torch.randint(0, 2, others.shape, generator=generator) - 1
    ends = torch.tensor([-n_positions + 1, -n_positions + 2, -2, -1, 0, 1, 2, n_positions - 2, n_positions - 1])
    positions = torch.unique(torch.cat([ends, signs * others]))
    model = original.Enformer(original.EnformerConfig(**{**SHAPES["tiny"], "dim": n_features, "depth": 1, "heads": 1,
                                                         "attn_dim_key": n_keys, "use_tf_gamma": True,
                                                         "dim_divisible_by": 96})).eval()
    fill(model, seed)
    attention = model.double().transformer[0][0].fn[1]
    if not attention.use_tf_gamma or attention.num_rel_pos_features != n_features:
        sys.exit("make_enformer.py: this enformer-pytorch has no table of gamma features, or another number of features")
    features = original.get_positional_embed(n_positions, n_features, "cpu", attention.use_tf_gamma,
                                             torch.get_default_dtype())
    rows = positions + n_positions - 1
    vectors = {"positions": positions, "features": features[rows], "table": original.TF_GAMMAS[rows],
               "to_rel_k": attention.to_rel_k.weight, "relative": attention.to_rel_k(features)[rows]}
    return {k: v.float().contiguous() for k, v in vectors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shape", choices=SHAPES, default="tiny")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", choices=("float16", "float32"), default="float16")
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--trunk-names", action="store_true", help="write the names with _trunk. instead")
    parser.add_argument("--table-vectors", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.table_vectors:
        torch.set_default_dtype(torch.float64)
        with torch.no_grad():
            return write_vectors(arguments.folder, make_table_vectors(arguments.seed))
    model = make_model(arguments.shape, arguments.seed)
    dtype = getattr(torch, arguments.dtype)
    save(model, arguments.shape, arguments.folder, dtype, arguments.trunk_names)
    windows = make_windows(SHAPES[arguments.shape]["sequence_length"])
    (arguments.folder / "windows.fa").write_text("".join(f">{n}\n{s}\n" for n, s in windows.items()))
    if arguments.vectors:
        torch.set_default_dtype(torch.float64)  # of linspace, too
        with torch.no_grad():
            vectors = make_vectors(model.to(dtype).double(), windows)
        write_vectors(arguments.folder, vectors)


if __name__ == "__main__":
    main()
