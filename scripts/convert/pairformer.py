#!/usr/bin/env python3
"""Makes a folder that `biogpu infer trunk` reads of a Pairformer stack in a checkpoint of Protenix.

usage: scripts/convert/pairformer.py CHECKPOINT FOLDER [--part NAME]

CHECKPOINT is a .pt of Protenix (base, mini, tiny, v2) or a .safetensors of its state dictionary. FOLDER gets config.json,
derived from the shapes, and model.safetensors with the tensors of one stack: --part pairformer_stack (the default), or
another with the same blocks, as confidence_head.pairformer_stack or template_embedder.pairformer_stack, whose tensors are
renamed. The tensors of other parts are left out; the program says how many.

Only tensors are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and safetensors;
requirements.txt pins them.
"""

import argparse
import pathlib
import re
import sys

import safetensors
import safetensors.torch
import torch

import checkpoints
import tensor_names

STACK = "pairformer_stack"
_ATTENTION = r"linear_(q|k|v|g|o)\.weight"
_NORM = r"(weight|bias)"
BLOCK = re.compile(
    rf"blocks\.\d+\.(tri_mul_(out|in)\.(layer_norm_(in|out)\.{_NORM}|linear_([ab]_[pg]|g|z)\.weight)"
    rf"|tri_att_(start|end)\.(layer_norm\.{_NORM}|linear\.weight|mha\.{_ATTENTION})"
    rf"|(pair|single)_transition\.(layernorm1\.{_NORM}|linear_no_bias(_a|_b)?\.weight)"
    rf"|attention_pair_bias\.(layernorm_[az]\.{_NORM}|linear_nobias_z\.weight|attention\.(linear_q\.bias|{_ATTENTION})))")


def fail(path, what):
    sys.exit(f"pairformer.py: {path}: {what}")


def read_state(path):
    if path.suffix.lower() == ".safetensors":
        checkpoints.refuse_pointer(path, fail)
        try:
            return safetensors.torch.load_file(path)
        except (OSError, safetensors.SafetensorError) as error:
            fail(path, f"cannot be read: {error}")
    state = checkpoints.load(path, fail)
    if isinstance(state, dict) and isinstance(state.get("model"), dict):
        state = state["model"]
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(path, "holds no tensors by name; expected a checkpoint of Protenix")
    return state


def take_stack(path, state, part):
    """The tensors of the part, by their names in it, and the number of others."""
    state = tensor_names.unwrapped_state(path, state, fail)
    stack = {name[len(part) + 1:]: value for name, value in state.items() if name.startswith(part + ".")}
    if not stack:
        parts = sorted({match[1] for name in state if (match := re.match(r"(.*)\.blocks\.0\.tri_mul_out\.", name))})
        fail(path, f"has no part {part}; " + (f"there are {', '.join(parts)}" if parts else "there is no Pairformer"))
    unread = sorted(name for name in stack if not BLOCK.fullmatch(name))
    if unread:
        fail(path, f"{part}: {tensor_names.listed(unread)}")
    return stack, len(state) - len(stack)


def derive_config(path, stack):
    def shape(name, axis):
        value = stack.get("blocks.0." + name)
        if value is None or value.ndim <= axis:
            fail(path, f"has no tensor blocks.0.{name} of {axis + 1} axes")
        return value.shape[axis]

    c_z, heads = shape("tri_mul_out.layer_norm_in.weight", 0), shape("tri_att_start.linear.weight", 0)
    has_single = any(".attention_pair_bias." in name for name in stack)
    return {
        "model_type": "pairformer",
        "n_blocks": 1 + max(int(name.split(".")[1]) for name in stack),
        "c_z": c_z,
        "c_s": shape("attention_pair_bias.layernorm_a.weight", 0) if has_single else 0,
        "n_heads": shape("attention_pair_bias.linear_nobias_z.weight", 0) if has_single else 1,
        "c_hidden_mul": shape("tri_mul_out.linear_a_p.weight", 0),
        "c_hidden_pair_att": shape("tri_att_start.mha.linear_q.weight", 0) // heads,
        "no_heads_pair": heads,
        "num_intermediate_factor": shape("pair_transition.linear_no_bias_a.weight", 0) // c_z,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--part", default=STACK, help=f"the stack's name in the checkpoint [{STACK}]")
    arguments = parser.parse_args()
    stack, n_others = take_stack(arguments.checkpoint, read_state(arguments.checkpoint), arguments.part)
    config = derive_config(arguments.checkpoint, stack)
    tensors = {f"{STACK}.{name}": value.contiguous() for name, value in stack.items()}
    checkpoints.write(arguments.folder, config, tensors, fail)
    print(f"{arguments.folder}: {config['n_blocks']} blocks, {len(tensors)} tensors; {n_others} tensors of other parts "
          "are left out")


if __name__ == "__main__":
    main()
