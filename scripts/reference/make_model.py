#!/usr/bin/env python3
"""Writes a folder with a random model: config.json, model.safetensors, vocab.txt.

usage: scripts/reference/make_model.py SHAPE FOLDER [--seed N] [--dtype float32|float16]

SHAPE is a published one (esm2_8M, esm2_35M, esm2_150M, esm2_650M, esm2_3B, esm2_15B, protbert) or
kind:layers,width,heads,inner[,positions], as esm2:2,64,4,256 or protbert:2,64,4,128,256.

Weights are drawn so that every part matters: attention is peaked, normalisations and biases are not
trivial. The same seed gives the same weights. Needs torch, transformers and safetensors.
"""

import argparse
import json
import pathlib

import safetensors.torch
import torch
import transformers

PUBLISHED = {
    "esm2_8M": "esm2:6,320,20,1280",
    "esm2_35M": "esm2:12,480,20,1920",
    "esm2_150M": "esm2:30,640,20,2560",
    "esm2_650M": "esm2:33,1280,20,5120",
    "esm2_3B": "esm2:36,2560,40,10240",
    "esm2_15B": "esm2:48,5120,40,20480",
    "protbert": "protbert:30,1024,16,4096,40000",
}
ESM_WORDS = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
BERT_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"LAGVESIKRDTPNQFYMHCWXUBZO"]


def parse_shape(text):
    kind, numbers = PUBLISHED.get(text, text).split(":")
    numbers = [int(n) for n in numbers.split(",")]
    if kind == "esm2":
        layers, width, heads, inner = numbers
        config = transformers.EsmConfig(
            vocab_size=33, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
            intermediate_size=inner, max_position_embeddings=1026, layer_norm_eps=1e-5, pad_token_id=1,
            mask_token_id=32, position_embedding_type="rotary", emb_layer_norm_before=False,
            token_dropout=True, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        return config, transformers.EsmForMaskedLM, ESM_WORDS
    if kind == "protbert":
        layers, width, heads, inner, positions = numbers
        config = transformers.BertConfig(
            vocab_size=30, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
            intermediate_size=inner, max_position_embeddings=positions, type_vocab_size=2,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        return config, transformers.BertForMaskedLM, BERT_WORDS
    raise SystemExit(f"unknown kind of model: {kind}")


def std_of(name, shape):
    """Standard deviation of a matrix: products keep their size, queries and keys are larger."""
    if "embeddings" in name:
        return 0.5
    std = shape[-1] ** -0.5
    return 2 * std if ".query." in name or ".key." in name else std


def fill(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in sorted(model.named_parameters()):
            noise = torch.randn(tensor.shape, generator=generator)
            if "LayerNorm" in name or "layer_norm" in name:
                tensor.copy_(0.1 * noise + (1.0 if name.endswith("weight") else 0.0))
            elif "contact_head" in name:
                tensor.copy_(noise)
            elif tensor.dim() == 1:
                tensor.copy_(0.1 * noise)
            else:
                tensor.copy_(std_of(name, tensor.shape) * noise)


def make_model(shape, seed=1):
    """A model in evaluation mode, fp32, eager attention, and its words."""
    config, kind, words = parse_shape(shape)
    config._attn_implementation = "eager"
    torch.manual_seed(seed)
    model = kind(config).eval()
    fill(model, seed)
    model.tie_weights()
    if config.model_type == "esm":
        # Training rounded the published frequencies to 16 bits.
        frequencies = model.esm.rotary_embeddings.inv_freq
        frequencies.copy_(frequencies.half().float())
    return model, words


def published_names(model):
    """The state under the names of the published files: frequencies in each layer, no tied words."""
    state = {}
    for name, tensor in model.state_dict().items():
        if name == "esm.rotary_embeddings.inv_freq":
            for i in range(model.config.num_hidden_layers):
                state[f"esm.encoder.layer.{i}.attention.self.rotary_embeddings.inv_freq"] = tensor.clone()
        elif "decoder" not in name and "position_ids" not in name:
            state[name] = tensor.contiguous()
    return state


def save(model, words, folder, dtype=torch.float32):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    state = {k: v if k.endswith("inv_freq") else v.to(dtype) for k, v in published_names(model).items()}
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    # As bare as the published files: what is not here has to be known.
    keep = ["architectures", "hidden_act", "hidden_size", "intermediate_size", "max_position_embeddings",
            "num_attention_heads", "num_hidden_layers", "vocab_size"]
    if model.config.model_type == "esm":
        keep += ["emb_layer_norm_before", "is_folding_model", "layer_norm_eps", "mask_token_id", "model_type",
                 "pad_token_id", "position_embedding_type", "token_dropout"]
    else:
        keep += ["type_vocab_size"]
    config = model.config.to_dict()
    config["architectures"] = [type(model).__name__]
    config = {k: config[k] for k in sorted(keep) if k in config}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    arguments = parser.parse_args()
    model, words = make_model(arguments.shape, arguments.seed)
    save(model, words, arguments.folder, getattr(torch, arguments.dtype))
    print(f"{arguments.folder}: {sum(p.numel() for p in model.parameters())} parameters")


if __name__ == "__main__":
    main()
