#!/usr/bin/env python3
"""Makes a folder that `biogpu infer trunk` reads of the token transformer in a checkpoint's diffusion module.

usage: scripts/convert/diffusion_transformer.py CHECKPOINT FOLDER

CHECKPOINT is a .pt or .ckpt of Protenix, OpenFold3 or Boltz-2, or a .safetensors of its state dictionary; the names of the
tensors tell which. FOLDER gets config.json, derived from the shapes, and model.safetensors with the blocks under the names of
Protenix. The tensors of other parts are left out; the program says how many. OpenFold3's norm of pairs for all blocks (since
0.5) becomes one of each block; Boltz-2's norms and maps of pairs lie in its diffusion_conditioning and come from there.

Only tensors are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and safetensors;
requirements.txt has their versions.
"""

import argparse
import pathlib
import re
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import torch

import checkpoints
import pairformer
import tensor_names

PART = "diffusion_module.diffusion_transformer"
BOLTZ_LAYERS = "structure_module.score_model.token_transformer.layers."
BOLTZ_BIAS = "diffusion_conditioning.token_trans_proj_z."
_ADAPTIVE = r"(layernorm_s\.weight|linear_s\.(weight|bias)|linear_nobias_s\.weight)"
BLOCK = re.compile(
    rf"blocks\.\d+\.(attention_pair_bias\.(layernorm_a\.{_ADAPTIVE}|layernorm_z\.(weight|bias)|linear_nobias_z\.weight"
    r"|attention\.(linear_q\.bias|linear_[qkvgo]\.weight)|linear_a_last\.(weight|bias))"
    rf"|conditioned_transition_block\.(adaln\.{_ADAPTIVE}|linear_nobias_(a[123]|b)\.weight|linear_s\.(weight|bias)))")
_ATTENTION, _TRANSITION = "attention_pair_bias.", "conditioned_transition_block."
_ADAPTIVE3 = {"layer_norm_s": "layernorm_s", "linear_g": "linear_s", "linear_s": "linear_nobias_s"}
_ADAPTIVE_BOLTZ = {"s_norm": "layernorm_s", "s_scale": "linear_s", "s_bias": "linear_nobias_s"}
OPENFOLD3 = {
    **{f"attention_pair_bias.layer_norm_a.{old}.": f"{_ATTENTION}layernorm_a.{new}." for old, new in _ADAPTIVE3.items()},
    **{f"attention_pair_bias.{old}.": f"{_ATTENTION}{new}." for old, new in (
        ("layer_norm_z", "layernorm_z"), ("linear_z", "linear_nobias_z"), ("mha", "attention"),
        ("linear_ada_out", "linear_a_last"))},
    **{f"conditioned_transition.layer_norm.{old}.": f"{_TRANSITION}adaln.{new}." for old, new in _ADAPTIVE3.items()},
    **{f"conditioned_transition.{old}.": f"{_TRANSITION}{new}." for old, new in (
        ("swiglu.linear_a", "linear_nobias_a1"), ("swiglu.linear_b", "linear_nobias_a2"), ("linear_out", "linear_nobias_b"),
        ("linear_g", "linear_s"))},
}
BOLTZ2 = {
    **{f"adaln.{old}.": f"{_ATTENTION}layernorm_a.{new}." for old, new in _ADAPTIVE_BOLTZ.items()},
    **{f"pair_bias_attn.proj_{part}.": f"{_ATTENTION}attention.linear_{part}." for part in "qkvgo"},
    "output_projection_linear.": f"{_ATTENTION}linear_a_last.",
    **{f"transition.adaln.{old}.": f"{_TRANSITION}adaln.{new}." for old, new in _ADAPTIVE_BOLTZ.items()},
    "transition.a_to_b.": f"{_TRANSITION}linear_nobias_a2.",
    "transition.b_to_a.": f"{_TRANSITION}linear_nobias_b.",
    "transition.output_projection.0.": f"{_TRANSITION}linear_s.",
}
BOLTZ2_BIAS = {"0.": f"{_ATTENTION}layernorm_z.", "1.": f"{_ATTENTION}linear_nobias_z."}


def fail(path, what):
    sys.exit(f"diffusion_transformer.py: {path}: {what}")


def renamed(rest, table):
    return next((new + rest[len(old):] for old, new in table.items() if rest.startswith(old)), rest)


def from_boltz(path, state):
    """The blocks under the names of Protenix, and how many tensors of the checkpoint they are."""
    blocks, n_taken = {}, 0
    for name, value in state.items():
        is_layer = name.startswith(BOLTZ_LAYERS)
        if not is_layer and not name.startswith(BOLTZ_BIAS):
            continue
        n_taken += 1
        index, _, rest = name[len(BOLTZ_LAYERS if is_layer else BOLTZ_BIAS):].partition(".")
        block = f"blocks.{index}."
        if not is_layer:
            blocks[block + renamed(rest, BOLTZ2_BIAS)] = value
        elif rest == "transition.swish_gate.0.weight":  # the second half passes through SiLU
            factor, gate = pairformer.halves(path, name, value, fail)
            blocks[f"{block}{_TRANSITION}linear_nobias_a1.weight"] = gate
            blocks[f"{block}{_TRANSITION}linear_nobias_a3.weight"] = factor
        elif rest.startswith("output_projection.0."):  # one parameter under two names, of which a .safetensors keeps one
            linear = rest.replace("output_projection.0.", "output_projection_linear.")
            other = f"{BOLTZ_LAYERS}{index}.{linear}"
            if not torch.equal(state.get(other, value), value):
                fail(path, f"{name} and {other} differ; they are one tensor of the model")
            blocks[block + renamed(linear, BOLTZ2)] = value
        else:
            blocks[block + renamed(rest, BOLTZ2)] = value
    return blocks, n_taken


def take_blocks(path, state):
    """The blocks under the names of Protenix, and how many tensors of the checkpoint they are."""
    if any(name.startswith(BOLTZ_LAYERS) for name in state):
        return from_boltz(path, state)
    taken = {name[len(PART) + 1:]: value for name, value in state.items() if name.startswith(PART + ".")}
    if not taken:
        fail(path, f"has no {PART}, nor {BOLTZ_LAYERS[:-1]}")
    n_taken, shared = len(taken), taken.pop("layer_norm_z.weight", None)
    blocks = {}
    for name, value in taken.items():
        block, index, rest = name.split(".", 2) if name.count(".") > 1 else ("", "", name)
        blocks[f"{block}.{index}.{renamed(rest, OPENFOLD3)}" if block == "blocks" else name] = value
    if shared is not None:
        for index in {name.split(".")[1] for name in blocks if name.startswith("blocks.")}:
            blocks[f"blocks.{index}.{_ATTENTION}layernorm_z.weight"] = shared
    return blocks, n_taken


def derive_config(path, blocks):
    shape = pairformer.shape_in(path, blocks, fail)
    c_token = shape(_ATTENTION + "attention.linear_q.weight", 0)
    return {
        "model_type": "diffusion_transformer",
        "n_blocks": pairformer.n_blocks(blocks),
        "c_token": c_token,
        "c_s": shape(_ATTENTION + "linear_a_last.weight", 1),
        "c_z": shape(_ATTENTION + "linear_nobias_z.weight", 1),
        "n_heads": shape(_ATTENTION + "linear_nobias_z.weight", 0),
        "n_transition": shape(_TRANSITION + "linear_nobias_b.weight", 1) // c_token,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    path = arguments.checkpoint
    state = tensor_names.unwrapped_state(path, pairformer.read_state(path, fail), fail)
    blocks, n_taken = take_blocks(path, state)
    unread = sorted(name for name in blocks if not BLOCK.fullmatch(name))
    if unread:
        fail(path, tensor_names.listed(unread))
    config = derive_config(path, blocks)
    tensors = {f"{PART}.{name}": value.clone().contiguous() for name, value in blocks.items()}
    checkpoints.write(arguments.folder, config, tensors, fail)
    print(f"{arguments.folder}: {config['n_blocks']} blocks, {len(tensors)} tensors; {len(state) - n_taken} tensors of other "
          "parts are left out")


if __name__ == "__main__":
    main()
