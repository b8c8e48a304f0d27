#!/usr/bin/env python3
"""biogpu infer beside transformers on PyTorch's CPU backend: equal outputs first, then time.

usage: scripts/bench/infer_cpu.py BIOGPU FOLDER [--threads N] [--runs N] [--json FILE]

FOLDER is a model as scripts/reference/make_model.py writes it. Cases: one sequence of 256 residues, a batch
of equal lengths, and 64 sequences with lengths like a proteome's. transformers gets its fastest way to do
each: SDPA attention, inference mode, batches sorted by length and padded, one warm-up. Both sides are measured
in turn on the same machine with the same threads; loading is not counted (biogpu's own clock around its passes,
from --json). The figures are medians. Needs torch and transformers.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
import transformers

LETTERS = "LAGVSERTIDPKQNFYMHWC"
WEIGHTS = [9.9, 8.3, 7.1, 6.9, 6.6, 6.7, 5.5, 5.3, 5.9, 5.5, 4.7, 5.8, 3.9, 4.1, 3.9, 2.9, 2.4, 2.3, 1.1, 1.4]


def cases(seed=7):
    rng = random.Random(seed)

    def protein(n):
        return "".join(rng.choices(LETTERS, WEIGHTS, k=n))

    # Lengths of a proteome: log-normal, median 290, cut to 30 and 1022.
    lengths = [min(1022, max(30, int(rng.lognormvariate(5.67, 0.75)))) for _ in range(64)]
    return {"1 x 256": [protein(256)],
            "8 x 256": [protein(256) for _ in range(8)],
            "64, proteome": [protein(n) for n in lengths]}


class Reference:
    """Mean embeddings of the last layer by transformers."""

    def __init__(self, folder, batch_tokens=4096):
        self.model = transformers.EsmModel.from_pretrained(
            folder, add_pooling_layer=False, attn_implementation="sdpa").eval()
        self.batch_tokens = batch_tokens
        words = (pathlib.Path(folder) / "vocab.txt").read_text().split()
        self.ids = {w: i for i, w in enumerate(words)}

    def run(self, sequences):
        order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
        means = [None] * len(sequences)
        begin = 0
        with torch.inference_mode():
            while begin < len(order):
                width = len(sequences[order[begin]]) + 2
                batch = order[begin:begin + max(1, self.batch_tokens // width)]
                begin += len(batch)
                ids = torch.full((len(batch), width), 1)
                for row, i in enumerate(batch):
                    tokens = [0, *(self.ids[c] for c in sequences[i]), 2]
                    ids[row, :len(tokens)] = torch.tensor(tokens)
                hidden = self.model(input_ids=ids, attention_mask=(ids != 1).long()).last_hidden_state
                for row, i in enumerate(batch):
                    means[i] = hidden[row, 1:len(sequences[i]) + 1].mean(0).numpy()
        return numpy.stack(means)


def run_biogpu(biogpu, folder, fasta, threads, out, repeats):
    """The seconds inside the passes, and the means. The sequences are there `repeats` times over."""
    command = [biogpu, "infer", "embed", "--model", folder, "--device", "cpu", "-t", str(threads), "-q",
               "--json", f"{out}.json", "-o", str(out), str(fasta)]
    subprocess.run(command, check=True)
    return json.loads(pathlib.Path(f"{out}.json").read_text())["time"]["compute_s"] / repeats, numpy.load(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu")
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    transformers.logging.set_verbosity_error()
    reference = Reference(arguments.folder)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for name, sequences in cases().items():
            fasta = pathlib.Path(work) / "in.fa"
            fasta.write_text("".join(f">s{i}\n{s}\n" for i, s in enumerate(sequences)))
            out = pathlib.Path(work) / "out.npy"
            right = reference.run(sequences)
            got = run_biogpu(arguments.biogpu, arguments.folder, fasta, arguments.threads, out, 1)[1]
            error = float(numpy.abs(got - right).max() / numpy.abs(right).max())
            if error > 1e-4:
                sys.exit(f"{name}: outputs differ by {error:.2g} of the largest number; nothing was timed")
            # One sequence takes milliseconds: repeated in one run, a pass each, as --batch makes it.
            ours, theirs = [], []
            for _ in range(arguments.runs):
                begin = time.perf_counter()
                reference.run(sequences)
                theirs.append(time.perf_counter() - begin)
                ours.append(run_biogpu(arguments.biogpu, arguments.folder, fasta, arguments.threads, out, 1)[0])
            row = {"case": name, "residues": sum(map(len, sequences)), "error": error,
                   "biogpu_s": statistics.median(ours), "transformers_s": statistics.median(theirs),
                   "biogpu_all_s": ours, "transformers_all_s": theirs}
            row["ratio"] = row["transformers_s"] / row["biogpu_s"]
            rows.append(row)
            print(f"{name}: biogpu {1e3 * row['biogpu_s']:.1f} ms, transformers {1e3 * row['transformers_s']:.1f} ms, "
                  f"{row['ratio']:.2f}x, error {error:.1g}", flush=True)
    if arguments.json:
        result = {"model": pathlib.Path(arguments.folder).name, "threads": arguments.threads, "torch": torch.__version__,
                  "transformers": transformers.__version__, "cases": rows}
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
