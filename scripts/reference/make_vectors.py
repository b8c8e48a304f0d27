#!/usr/bin/env python3
"""Writes the small models and reference vectors of tests/data/models.

usage: scripts/reference/make_vectors.py [FOLDER]      default: tests/data/models

Each model's weights are stored in 16 bits, which hold them exactly; the vectors are computed from them
in double precision by transformers, each sequence alone, and stored in fp32 under the keys that
`biogpu infer` uses: name/residues/LAYER, name/mean/LAYER, name/cls/LAYER, name/logits, name/contacts.
"""

import pathlib
import sys

import numpy
import safetensors.numpy
import torch

import make_model

MODELS = {  # kind:layers,width,heads,inner[,positions]: heads of 10 to 128
    "esm2_head16": "esm2:2,64,4,256",
    "esm2_head24": "esm2:1,96,4,384",
    "esm2_head32": "esm2:2,64,2,128",
    "esm2_head64": "esm2:1,128,2,256",
    "esm2_head128": "esm2:1,128,1,256",
    "protbert_head16": "protbert:2,64,4,128,128",
    "protbert_head32": "protbert:2,64,2,128,128",
    # Widths that are no multiple of 8.
    "esm2_head10": "esm2:2,30,3,50",
    "protbert_head11": "protbert:1,33,3,47,128",
}
# Lengths from 1, masks, and every letter of the alphabet.
SEQUENCES = {
    "one": "M",
    "seven": "MKTAYIA",
    "masked": "MKT#LLAGPW#CDE#FG",
    "letters": "LAGVSERTIDPKQNFYMHWCXBUZO",
    "longer": "GSHMRYDWVELKNATCIPQFLSTEEWGKRAHVDINQYPMCLLAVGKTSDERFWNHQYI",
}


def words_of(sequence, words, bert):
    mask = "[MASK]" if bert else "<mask>"
    rare = set("UZOB") if bert else set()
    ids = {w: i for i, w in enumerate(words)}
    inner = [ids[mask] if c == "#" else ids["X" if c in rare else c] for c in sequence]
    return [ids["[CLS]" if bert else "<cls>"], *inner, ids["[SEP]" if bert else "<eos>"]]


def run(model, words, bert):
    vectors = {}
    for name, sequence in SEQUENCES.items():
        ids = torch.tensor([words_of(sequence, words, bert)])
        with torch.no_grad():
            out = model(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
            for layer, hidden in enumerate(out.hidden_states):
                vectors[f"{name}/residues/{layer}"] = hidden[0, 1:-1]
                vectors[f"{name}/mean/{layer}"] = hidden[0, 1:-1].mean(0)
                vectors[f"{name}/cls/{layer}"] = hidden[0, 0]
            vectors[f"{name}/logits"] = out.logits[0, 1:-1]
            if not bert:
                vectors[f"{name}/contacts"] = model.predict_contacts(ids, torch.ones_like(ids))[0]
    return {k: v.numpy().astype(numpy.float32).copy() for k, v in vectors.items()}


def main():
    root = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "models"
    if len(sys.argv) > 1:
        root = pathlib.Path(sys.argv[1])
    for number, (name, shape) in enumerate(MODELS.items()):
        model, words = make_model.make_model(shape, seed=100 + number)
        make_model.save(model, words, root / name, torch.float16)
        model.half().float().double()  # what the file holds
        if model.config.model_type == "esm":
            frequencies = model.esm.rotary_embeddings.inv_freq
            frequencies.copy_(frequencies.half().double())
        vectors = run(model, words, model.config.model_type == "bert")
        safetensors.numpy.save_file(vectors, root / name / "expected.safetensors")
        (root / name / "expected.safetensors").chmod(0o644)
        print(name, sum(v.nbytes for v in vectors.values()), "bytes of vectors")
    fasta = "".join(f">{n}\n{s.replace('#', '<mask>')}\n" for n, s in SEQUENCES.items())
    (root / "proteins.fa").write_text(fasta)


if __name__ == "__main__":
    main()
