#!/usr/bin/env python3
"""Makes safetensors of checkpoints that were published as pickles, for `biogpu infer`.

usage: scripts/convert/to_safetensors.py INPUT FOLDER [--contacts FILE.pt]

INPUT is
  a Hugging Face folder with pytorch_model.bin or its shards (ESM-2 3B and 15B, ProtBERT), or
  a fair-esm checkpoint esm2_t*.pt; --contacts adds its *-contact-regression.pt.
FOLDER gets config.json, vocab.txt where INPUT has one, and model.safetensors, or shards and their index where
the weights are more than 5 GB. Weights keep their type.

Only tensors are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and
safetensors; requirements.txt pins them. biogpu itself needs neither.
"""

import argparse
import json
import pathlib
import re
import shutil
import sys

import safetensors.torch
import torch

SHARD_BYTES = 5_000_000_000

# fair-esm's names and those of Hugging Face.
ESM_NAMES = (
    (r"^encoder\.(sentence_encoder\.)?", ""),
    (r"^embed_tokens\.weight$", "esm.embeddings.word_embeddings.weight"),
    (r"^layers\.(\d+)\.self_attn\.q_proj\.", r"esm.encoder.layer.\1.attention.self.query."),
    (r"^layers\.(\d+)\.self_attn\.k_proj\.", r"esm.encoder.layer.\1.attention.self.key."),
    (r"^layers\.(\d+)\.self_attn\.v_proj\.", r"esm.encoder.layer.\1.attention.self.value."),
    (r"^layers\.(\d+)\.self_attn\.out_proj\.", r"esm.encoder.layer.\1.attention.output.dense."),
    (r"^layers\.(\d+)\.self_attn\.rot_emb\.", r"esm.encoder.layer.\1.attention.self.rotary_embeddings."),
    (r"^layers\.(\d+)\.self_attn_layer_norm\.", r"esm.encoder.layer.\1.attention.LayerNorm."),
    (r"^layers\.(\d+)\.final_layer_norm\.", r"esm.encoder.layer.\1.LayerNorm."),
    (r"^layers\.(\d+)\.fc1\.", r"esm.encoder.layer.\1.intermediate.dense."),
    (r"^layers\.(\d+)\.fc2\.", r"esm.encoder.layer.\1.output.dense."),
    (r"^emb_layer_norm_after\.", "esm.encoder.emb_layer_norm_after."),
    (r"^contact_head\.", "esm.contact_head."),
)
ESM_WORDS = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]


def load(path):
    return torch.load(path, map_location="cpu", weights_only=True)


def renamed(state):
    """A fair-esm state under the names of Hugging Face; the head's weight is the embedding's."""
    result = {}
    for name, tensor in state.items():
        for pattern, replacement in ESM_NAMES:
            name = re.sub(pattern, replacement, name)
        if name not in ("lm_head.weight", "esm.contact_head._float_tensor"):
            result[name] = tensor
    return result


def esm_config(state, n_heads):
    layers = 1 + max(int(m.group(1)) for m in (re.search(r"\.layer\.(\d+)\.", n) for n in state) if m)
    inner, width = state["esm.encoder.layer.0.intermediate.dense.weight"].shape
    return {"architectures": ["EsmForMaskedLM"], "model_type": "esm", "hidden_size": width,
            "num_hidden_layers": layers, "num_attention_heads": n_heads, "intermediate_size": inner,
            "vocab_size": 33, "layer_norm_eps": 1e-5, "pad_token_id": 1, "mask_token_id": 32,
            "position_embedding_type": "rotary", "emb_layer_norm_before": False, "token_dropout": True,
            "max_position_embeddings": 1026, "is_folding_model": False}


def from_fair_esm(path, contacts, folder):
    checkpoint = load(path)
    state = checkpoint["model"]
    if contacts:
        state.update(load(contacts)["model"])
    state = renamed(state)
    frequencies = state["esm.encoder.layer.0.attention.self.rotary_embeddings.inv_freq"]
    width = state["esm.embeddings.word_embeddings.weight"].shape[1]
    config = esm_config(state, width // (2 * len(frequencies)))
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "vocab.txt").write_text("\n".join(ESM_WORDS) + "\n")
    return state


def from_folder(path, folder):
    state = {}
    shards = sorted(path.glob("pytorch_model*.bin"))
    if not shards:
        sys.exit(f"{path}: no pytorch_model*.bin")
    for shard in shards:
        state.update(load(shard))
    for name in ("config.json", "vocab.txt"):
        if (path / name).exists() and path != folder:
            shutil.copy(path / name, folder / name)
    return state


def write(state, folder):
    """Tensors that share memory are written once: safetensors has no ties, and biogpu knows them."""
    seen, unique = {}, {}
    for name in sorted(state):
        tensor = state[name]
        if not isinstance(tensor, torch.Tensor):
            continue
        key = (tensor.data_ptr(), tuple(tensor.shape))
        if tensor.numel() > 0 and key in seen and "decoder" in name:
            continue
        seen[key] = name
        unique[name] = tensor.detach().clone().contiguous()
    shards, size = [{}], 0
    for name, tensor in unique.items():
        n_bytes = tensor.numel() * tensor.element_size()
        if size + n_bytes > SHARD_BYTES and shards[-1]:
            shards.append({})
            size = 0
        shards[-1][name] = tensor
        size += n_bytes
    if len(shards) == 1:
        safetensors.torch.save_file(shards[0], folder / "model.safetensors", metadata={"format": "pt"})
        return
    weight_map = {}
    for i, shard in enumerate(shards):
        file = f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
        safetensors.torch.save_file(shard, folder / file, metadata={"format": "pt"})
        weight_map.update({name: file for name in shard})
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--contacts", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.input.is_dir():
        state = from_folder(arguments.input, arguments.folder)
    else:
        state = from_fair_esm(arguments.input, arguments.contacts, arguments.folder)
    write(state, arguments.folder)
    print(f"{arguments.folder}: {len(state)} tensors")


if __name__ == "__main__":
    main()
