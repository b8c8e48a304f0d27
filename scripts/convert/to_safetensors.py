#!/usr/bin/env python3
"""Makes safetensors of checkpoints that were published as pickles, for `biogpu infer`.

usage: scripts/convert/to_safetensors.py INPUT FOLDER [--contacts FILE.pt]

INPUT is
  a Hugging Face folder with pytorch_model.bin or its shards (ESM-2 3B and 15B, ProtBERT, Borzoi), or
  a fair-esm checkpoint esm2_t*.pt; --contacts adds its *-contact-regression.pt.
FOLDER gets config.json, vocab.txt where INPUT has one, and model.safetensors, or shards and their index where
the weights are more than 5 GB. Weights keep their type.

Only tensors are unpickled, and argparse.Namespace, in which fair-esm keeps its options (torch.load with
weights_only): a checkpoint cannot run code. Needs torch and safetensors; requirements.txt has their versions. biogpu itself
needs neither.
"""

import argparse
import json
import pathlib
import pickle
import re
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import safetensors.torch
import torch

import checkpoints
import tensor_names
import whole_files

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
    (r"^lm_head\.weight$", "lm_head.decoder.weight"),
)
ESM_WORDS = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]


def fail(path, what):
    sys.exit(f"to_safetensors.py: {path}: {what}")


def load(path):
    checkpoints.check(path, fail)
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        # torch's message has a page of advice around the name; the advice is to run what the file holds.
        name = re.search(r"GLOBAL (\S+)", str(error)) or re.search(r"(?:class|instantiated|type) ([\w.]+)", str(error))
        fail(path, f"holds {name[1]}, which is neither a tensor nor an option of fair-esm and is not loaded" if name
             else "is damaged, or no checkpoint of torch")
    except MemoryError:
        fail(path, "there is not enough memory for it")
    except Exception as error:  # bytes of something else make an unpickler fail in any way
        fail(path, f"is damaged, or no checkpoint of torch ({str(error).strip().split(chr(10))[0]})")


def state_of(path):
    """The tensors of a file of fair-esm."""
    checkpoint = load(path)
    if not isinstance(checkpoint, dict) or not isinstance(checkpoint.get("model"), dict):
        fail(path, "has no 'model'; expected a checkpoint of fair-esm")
    return tensor_names.unwrapped_state(path, checkpoint["model"], fail)


def renamed(state):
    """A fair-esm state under the names of Hugging Face. The head's weight is the embedding's: as the same memory it is
    not written, and biogpu refuses one that differs."""
    result = {}
    for name, tensor in state.items():
        for pattern, replacement in ESM_NAMES:
            name = re.sub(pattern, replacement, name)
        if name != "esm.contact_head._float_tensor":
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


def from_fair_esm(path, contacts):
    """The weights, and the texts of the files beside them."""
    state = state_of(path)
    if state and all(name.startswith("contact_head.") for name in state):
        fail(path, "holds a contact head and no model; it goes with --contacts beside the model's file")
    if contacts:
        head = state_of(contacts)
        if not any(name.startswith("contact_head.") for name in head):
            fail(contacts, "holds no contact head; expected a *-contact-regression.pt")
        state.update(head)
    state = renamed(state)
    frequencies = state.get("esm.encoder.layer.0.attention.self.rotary_embeddings.inv_freq")
    if frequencies is None or "esm.embeddings.word_embeddings.weight" not in state:
        fail(path, "has no rotary frequencies; expected a checkpoint of ESM-2")
    width = state["esm.embeddings.word_embeddings.weight"].shape[1]
    config = esm_config(state, width // (2 * len(frequencies)))
    return state, {"config.json": json.dumps(config, indent=2) + "\n", "vocab.txt": "\n".join(ESM_WORDS) + "\n"}


def from_folder(path):
    state = {}
    shards = sorted(path.glob("pytorch_model*.bin"))
    if not shards:
        fail(path, "no pytorch_model*.bin")
    for shard in shards:
        part = load(shard)
        if not isinstance(part, dict):
            fail(shard, "holds no tensors by name")
        state.update(part)
    return tensor_names.unwrapped_state(path, state, fail), {name: (path / name).read_text(encoding="utf-8")
                   for name in ("config.json", "vocab.txt") if (path / name).exists()}


def config_of(path, texts):
    try:
        config = json.loads(texts.get("config.json", "{}"))
    except ValueError:
        config = None
    if not isinstance(config, dict):
        fail(path / "config.json", "is no JSON object")
    return config


def check_tensors(path, state, config):
    others = sorted(name for name, value in state.items() if not isinstance(value, torch.Tensor))
    if others:
        fail(path, f"{', '.join(others[:10])}: no tensor")
    # ProtBERT's published config.json has no model_type; it is known by a key that BERT alone has.
    model_type = config.get("model_type", "bert" if "type_vocab_size" in config else None)
    unread = tensor_names.unread_transformer(state, model_type)
    if unread:
        fail(path, tensor_names.listed(unread))


def weight_files(state, tied):
    """What whole_files.write() takes. A decoder that shares the embedding's memory is written once where the two are tied: biogpu knows that."""
    seen, unique = {}, {}
    for name in sorted(state):
        tensor = state[name]
        key = (tensor.data_ptr(), tuple(tensor.shape))
        if tied and tensor.numel() > 0 and key in seen and "decoder" in name:
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
    def writer(shard):
        return lambda path: safetensors.torch.save_file(shard, path, metadata={"format": "pt"})

    if len(shards) == 1:
        return {"model.safetensors": writer(shards[0])}
    files, weight_map = {}, {}
    for i, shard in enumerate(shards):
        file = f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
        files[file] = writer(shard)
        weight_map.update({name: file for name in shard})
    index = {"metadata": {}, "weight_map": weight_map}
    return {**files, "model.safetensors.index.json": json.dumps(index, indent=2) + "\n"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--contacts", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.input.is_dir():
        if arguments.contacts:
            parser.error("--contacts is for a file of fair-esm")
        state, texts = from_folder(arguments.input)
    else:
        state, texts = from_fair_esm(arguments.input, arguments.contacts)
    config = config_of(arguments.input, texts)
    check_tensors(arguments.input, state, config)
    # The head's words are the embedding's where config.json says nothing.
    tied = config.get("tie_word_embeddings", True)
    # Made when all was read: no folder is left of an input that is refused.
    is_same = arguments.folder.resolve() == arguments.input.resolve()
    try:
        whole_files.write(arguments.folder, {**({} if is_same else texts), **weight_files(state, tied)}, fail,
                          stale=["model.safetensors", "model.safetensors.index.json", "model-*-of-*.safetensors"])
    except safetensors.SafetensorError as error:
        fail(arguments.folder, f"cannot be written: {error}")
    print(f"{arguments.folder}: {len(state)} tensors")


if __name__ == "__main__":
    main()
