#!/usr/bin/env python3
"""Writes the reference scores of the small models in tests/data/models: MODEL/scores.json.

usage: scripts/reference/make_scores.py [FOLDER]      default: tests/data/models

The models are read as they lie there and run by transformers in double precision, each sequence alone. Columns are
those of `biogpu infer score` and `fill-mask`:
  likelihood        sum over the residues of log p(residue) while that residue alone is masked
  masked-marginal   of a variant: sum of log p(new) - log p(old), each of its positions masked in a pass of its own
  wt-marginal       the same of one pass over the sequence as it is
  fill-mask         the likeliest words of every mask, with their probabilities among all words
Needs torch, transformers and safetensors.
"""

import json
import math
import pathlib
import sys

import safetensors.torch
import torch
import transformers

import make_model
import make_vectors

MODELS = ("esm2_head16", "protbert_head16")
VARIANTS = {  # positions from 1; also in a sequence with masks, which change the scale of ESM-2's embeddings
    "seven": ("M1A", "A7W", "T3C:Y5F"),
    "masked": ("K2R", "G8P:D13E"),
    "longer": ("G1A", "I58V", "R5K:E10D", "W8F:V9I:K12R"),
}
N_TOP = 3


def load(folder, shape):
    """The model of a folder in double precision, and its words."""
    model, words = make_model.make_model(shape)
    model.double()
    state = safetensors.torch.load_file(folder / "model.safetensors")
    state = {name: tensor.double() for name, tensor in state.items()}
    frequencies = state.get("esm.encoder.layer.0.attention.self.rotary_embeddings.inv_freq")
    if frequencies is not None:
        state["esm.rotary_embeddings.inv_freq"] = frequencies
    missing = [name for name in model.load_state_dict(state, strict=False).missing_keys if "decoder" not in name]
    if any("position_ids" not in name for name in missing):
        sys.exit(f"{folder}: has no {missing}")
    model.tie_weights()
    return model, words


class Scorer:
    def __init__(self, model, words):
        self.model, self.words = model, words
        self.bert = model.config.model_type == "bert"
        self.mask = words.index("[MASK]" if self.bert else "<mask>")

    def ids(self, sequence):
        return make_vectors.words_of(sequence, self.words, self.bert)

    def log_probabilities(self, ids):
        """[tokens, words] of one sequence."""
        batch = torch.tensor([ids])
        with torch.no_grad():
            logits = self.model(input_ids=batch, attention_mask=torch.ones_like(batch)).logits[0]
        return logits.log_softmax(-1)

    def at(self, ids, position, masked):
        """Of one position; masked: while it alone is masked."""
        if masked:
            ids = [*ids[:position], self.mask, *ids[position + 1:]]
        return self.log_probabilities(ids)[position]

    def likelihood(self, sequence):
        ids = self.ids(sequence)
        positions = [p for p in range(1, len(ids) - 1) if ids[p] != self.mask]
        total = sum(float(self.at(ids, p, True)[ids[p]]) for p in positions)
        return {"residues": len(positions), "log_likelihood": total, "perplexity": math.exp(-total / len(positions))}

    def variant(self, sequence, mutant, masked):
        ids, score = self.ids(sequence), 0.0
        for text in mutant.split(":"):
            position = int(text[1:-1])
            if sequence[position - 1] != text[0]:
                sys.exit(f"{mutant}: the sequence has {sequence[position - 1]} at {position}")
            row = self.at(ids, position, masked)
            score += float(row[self.words.index(text[-1])] - row[self.words.index(text[0])])
        return score

    def fill_mask(self, sequence):
        ids = self.ids(sequence)
        rows = self.log_probabilities(ids)
        for position in (p for p in range(len(ids)) if ids[p] == self.mask):
            top = rows[position].topk(N_TOP)
            for rank, (value, word) in enumerate(zip(top.values.tolist(), top.indices.tolist()), 1):
                yield {"position": position, "rank": rank, "residue": self.words[word], "probability": math.exp(value)}


def scores_of(scorer):
    sequences = make_vectors.SEQUENCES
    variants = [(name, mutant) for name, mutants in VARIANTS.items() for mutant in mutants]
    marginals = {kind: [{"name": name, "mutant": mutant, "score": scorer.variant(sequences[name], mutant, masked)}
                        for name, mutant in variants]
                 for kind, masked in (("masked-marginal", True), ("wt-marginal", False))}
    return {"likelihood": [{"name": name, **scorer.likelihood(text)} for name, text in sequences.items()], **marginals,
            "fill-mask": [{"name": name, **row} for name, text in sequences.items() for row in scorer.fill_mask(text)]}


def main():
    root = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "models"
    if len(sys.argv) > 1:
        root = pathlib.Path(sys.argv[1])
    origin = ("scripts/reference/make_scores.py, double precision, "
              f"torch {torch.__version__}, transformers {transformers.__version__}")
    for name in MODELS:
        scores = scores_of(Scorer(*load(root / name, make_vectors.MODELS[name])))
        lines = [f'"origin": {json.dumps(origin)}']
        for kind, rows in scores.items():
            lines.append(f'"{kind}": [\n' + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]")
        (root / name / "scores.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")
        print(name, sum(len(rows) for rows in scores.values()), "scores")


if __name__ == "__main__":
    main()
