#!/usr/bin/env python3
"""Writes checkpoints as fair-esm publishes them, of an ESM-2 in Hugging Face's names, and files that must be refused.

usage: tests/support/fair_esm.py MODEL FOLDER

esm2_t2.pt has its options in {"cfg": {"model": Namespace}}, args.pt in {"args": Namespace}, zip_less.pt in torch's
oldest format; shared is a folder. Needs torch and safetensors.
"""

import argparse
import os
import pathlib
import sys

import safetensors.torch
import torch

NAMES = (
    ("esm.embeddings.word_embeddings", "encoder.sentence_encoder.embed_tokens"),
    ("esm.encoder.layer.", "encoder.sentence_encoder.layers."),
    ("esm.encoder.emb_layer_norm_after", "encoder.sentence_encoder.emb_layer_norm_after"),
    (".attention.self.query.", ".self_attn.q_proj."),
    (".attention.self.key.", ".self_attn.k_proj."),
    (".attention.self.value.", ".self_attn.v_proj."),
    (".attention.output.dense.", ".self_attn.out_proj."),
    (".attention.self.rotary_embeddings.", ".self_attn.rot_emb."),
    (".attention.LayerNorm.", ".self_attn_layer_norm."),
    (".LayerNorm.", ".final_layer_norm."),
    (".intermediate.dense.", ".fc1."),
    (".output.dense.", ".fc2."),
    ("lm_head.", "encoder.lm_head."),
    ("esm.contact_head.", "contact_head."),
)


class RunsCode:
    def __reduce__(self):
        return os.system, ("touch ran",)


def main():
    model, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    state = {}
    for name, tensor in safetensors.torch.load_file(model / "model.safetensors").items():
        for old, new in NAMES:
            name = name.replace(old, new)
        state[name] = tensor
    words = state["encoder.sentence_encoder.embed_tokens.weight"]
    state["encoder.lm_head.weight"] = words
    contacts = {name: state.pop(name) for name in list(state) if name.startswith("contact_head.")}
    options = argparse.Namespace(encoder_layers=2, token_dropout=True)
    checkpoints = {
        "esm2_t2": {"cfg": {"_name": None, "model": options}, "model": state},
        "args": {"args": options, "model": state},
        "esm2_t2-contact-regression": {"model": contacts},
        "runs_code": {"cfg": {"model": RunsCode()}, "model": state},
        "other_class": {"cfg": {"model": pathlib.PurePosixPath("a")}, "model": state},
        "other_model": {"args": options, "model": {n: t for n, t in state.items() if "rot_emb" not in n}},
        "list": [torch.zeros(1)],
        "untied": {"args": options, "model": {**state, "encoder.lm_head.weight": words + 1}},
    }
    for name, checkpoint in checkpoints.items():
        torch.save(checkpoint, folder / f"{name}.pt")
    # A folder of Hugging Face whose head shares memory with the embedding.
    tensors = safetensors.torch.load_file(model / "model.safetensors")
    tensors["lm_head.decoder.weight"] = tensors["esm.embeddings.word_embeddings.weight"]
    (folder / "shared").mkdir()
    torch.save(tensors, folder / "shared" / "pytorch_model.bin")
    torch.save(checkpoints["esm2_t2"], folder / "zip_less.pt", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
