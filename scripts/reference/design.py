#!/usr/bin/env python3
"""Designs sequences with the original ProteinMPNN, as a command: what `biogpu infer design` is compared with.

usage: scripts/reference/design.py ORIGINAL CHECKPOINT STRUCTURE.pdb DRAWS OUT.tsv [--samples N] [--threads N]
                                   [--summary FILE] [--make-draws]

ORIGINAL is a clone of github.com/dauparas/ProteinMPNN, CHECKPOINT what make_proteinmpnn.py --checkpoint writes. DRAWS is a
safetensors file with the random numbers of every sample, which --make-draws writes (from the number of residues
as the seed), and then stops. A folder of homo-oligomers is designed with tied chains. OUT has a line a sample: score
and sequence. --summary gets the seconds from the structure to the sequences, without loading. Needs torch and safetensors.
"""

import argparse
import json
import pathlib
import time

import safetensors.numpy
import torch

from proteinmpnn_original import Original

TEMPERATURE = 1.0


def tie_all(path, original):
    """Equal positions of all chains, as helper_scripts/make_tied_positions_dict.py --homooligomer 1."""
    protein = original.utils.parse_PDB(str(path))[0]
    chains = sorted(k[-1] for k in protein if k.startswith("seq_chain_"))
    lengths = {len(protein[f"seq_chain_{c}"]) for c in chains}
    if len(lengths) != 1:
        return None
    return {protein["name"]: [{c: [i] for c in chains} for i in range(1, lengths.pop() + 1)]}


def make_draws(name, length, n_samples):
    generator = torch.Generator().manual_seed(length)
    return {f"{name}/order_native": torch.randn(length, generator=generator).numpy(),
            f"{name}/order": torch.randn((n_samples, length), generator=generator).numpy(),
            f"{name}/uniform": torch.rand((n_samples, length), generator=generator).numpy()}


def design(original, path, tied, draws, n_samples):
    """(score, sequence) of each sample; the structure's own sequence is scored too, as the original's program does."""
    f = original.featurize(path, tied=tied)
    name = f["name"]
    native = torch.from_numpy(draws[f"{name}/order_native"])[None]
    original.scores(f, f["S"], original.log_probs(f, f["S"], native))
    texts = []
    for s in range(n_samples):
        order = torch.from_numpy(draws[f"{name}/order"][s])[None]
        letters, log_probs, _ = original.sample(f, order, draws[f"{name}/uniform"][s], TEMPERATURE)
        scores = original.scores(f, letters, log_probs)
        texts.append((f"{scores[0]:.4f}", original.text(f, letters)))
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original", type=pathlib.Path)
    parser.add_argument("checkpoint")
    parser.add_argument("structure", type=pathlib.Path)
    parser.add_argument("draws", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--summary", type=pathlib.Path)
    parser.add_argument("--make-draws", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    original = Original(arguments.original, torch.load(arguments.checkpoint, weights_only=True))
    if arguments.make_draws:
        length = original.featurize(arguments.structure)["X"].shape[1]
        safetensors.numpy.save_file(make_draws(arguments.structure.stem, length, arguments.samples), arguments.draws)
        return
    draws = safetensors.numpy.load_file(arguments.draws)
    begin = time.perf_counter()
    tied = tie_all(arguments.structure, original) if "homooligomer" in str(arguments.structure) else None
    texts = design(original, arguments.structure, tied, draws, arguments.samples)
    compute_s = time.perf_counter() - begin
    arguments.out.write_text("".join(f"{score}\t{text}\n" for score, text in texts), encoding="ascii")
    if arguments.summary:
        arguments.summary.write_text(json.dumps({"compute_s": compute_s}) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
