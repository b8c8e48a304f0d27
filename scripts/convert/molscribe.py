#!/usr/bin/env python3
"""Makes a folder that `biogpu infer recognize` reads of a checkpoint of MolScribe.

usage: scripts/convert/molscribe.py swin_base_char_aux_1m680k.pth FOLDER

FOLDER gets config.json, the arguments of the training program that tell the network, vocab_chars.json, and
model.safetensors with the tensors of encoder and decoder. Optimizer states and the like are left out.

Only tensors and plain values are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and
safetensors; requirements.txt has their versions.
"""

import argparse
import json
import pathlib
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import torch

import checkpoints
import tensor_names

# Arguments that are kept; the program refuses values that it does not compute.
KEPT = ("encoder", "decoder", "input_size", "coord_bins", "sep_xy", "continuous_coords", "enc_pos_emb", "trunc_encoder",
        "dec_num_layers", "dec_hidden_size", "dec_attn_heads", "max_relative_positions")
LEFT_OUT = ("encoder_optimizer", "decoder_optimizer", "encoder_scheduler", "decoder_scheduler", "global_step")
# The characters of the published models, in the order of their numbers.
CHARACTERS = (["<pad>", "<sos>", "<eos>", "<unk>", "<mask>"] + list(".-=#:/\\()[]@+%0123456789")
              + [chr(ord("a") + i) for i in range(26)] + [chr(ord("A") + i) for i in range(26)]
              + list("*~\x0f!\"$&',;<>?^_`{|}") + ["\u0155"])
# Buffers that the program computes by itself.
BUFFERS = ("relative_position_index", "attn_mask", "make_embedding.pe.pe")
KNOWN = [r"encoder\.transformer\.(patch_embed\.(proj|norm)|norm)\.(weight|bias)",
         r"encoder\.transformer\.layers\.\d+\.blocks\.\d+\.(norm1|norm2|attn\.qkv|attn\.proj|mlp\.fc1|mlp\.fc2)\.(weight|bias)",
         r"encoder\.transformer\.layers\.\d+\.blocks\.\d+\.attn\.relative_position_bias_table",
         r"encoder\.transformer\.layers\.\d+\.downsample\.(norm\.(weight|bias)|reduction\.weight)",
         r"decoder\.decoder\.chartok_coords\.(enc_trans_layer\.0|output_layer|decoder\.layer_norm)\.(weight|bias)",
         r"decoder\.decoder\.chartok_coords\.decoder\.transformer_layers\.\d+\.(self|context)_attn\."
         r"(linear_(query|keys|values)|final_linear)\.(weight|bias)",
         r"decoder\.decoder\.chartok_coords\.decoder\.transformer_layers\.\d+\.(layer_norm_[12]|feed_forward\."
         r"(w_1|w_2|layer_norm))\.(weight|bias)",
         r"decoder\.decoder\.chartok_coords\.embeddings\.make_embedding\.emb_luts\.0\.weight",
         r"decoder\.decoder\.edges\.mlp\.[02]\.(weight|bias)"]


def fail(path, what):
    sys.exit(f"molscribe.py: {path}: {what}")


def tensors_of(path, states):
    """Encoder and decoder as one dictionary, without wrappers, which may be in the middle of a name."""
    tensors = {}
    for part in ("encoder", "decoder"):
        state = states.get(part)
        if not isinstance(state, dict) or not all(isinstance(x, torch.Tensor) for x in state.values()):
            fail(path, f"has no tensors of the {part}")
        for name, tensor in state.items():
            known = f"{part}.{name.replace('module.', '')}"
            if known in tensors:
                fail(path, f"has {known} twice")
            if not known.endswith(BUFFERS):
                tensors[known] = tensor.detach().float().contiguous().clone()
    unread = tensor_names.unread(tensors, KNOWN)
    if unread:
        fail(path, tensor_names.listed(unread))
    return tensors


def config_of(path, args):
    if not isinstance(args, dict):
        fail(path, "has no args of the training program")
    formats = args.get("formats", ["chartok_coords", "edges"])
    formats = formats.split(",") if isinstance(formats, str) else list(formats)
    if formats != ["chartok_coords", "edges"]:
        fail(path, f"formats is {formats}; known is chartok_coords,edges")
    config = {"model_type": "molscribe", "formats": formats, "vocab_file": "vocab_chars.json"}
    config.update({key: args[key] for key in KEPT if args.get(key) is not None})
    return config


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    states = checkpoints.load(args.input, fail, "tensors and plain values")
    if not isinstance(states, dict):
        fail(args.input, "holds no checkpoint of MolScribe")
    others = sorted(set(map(str, states)) - {"encoder", "decoder", "args", *LEFT_OUT})
    if others:
        fail(args.input, f"holds also {', '.join(others[:10])}, which is of another program")
    tensors = tensors_of(args.input, states)
    config = config_of(args.input, states.get("args"))
    n_tokens = tensors["decoder.decoder.chartok_coords.output_layer.weight"].shape[0] - 2 * config.get("coord_bins", 64)
    if n_tokens != len(CHARACTERS):
        fail(args.input, f"has {n_tokens} characters; the published models have {len(CHARACTERS)}")
    numbers = {text: i for i, text in enumerate(CHARACTERS)}
    checkpoints.write(args.folder, config, tensors, fail, {"vocab_chars.json": json.dumps(numbers) + "\n"})


if __name__ == "__main__":
    main()
