#!/usr/bin/env python3
"""biogpu infer beside transformers on PyTorch's CPU backend: equal outputs first, then time.

usage: scripts/bench/infer_cpu.py BIOGPU FOLDER [--threads N] [--runs N] [--json FILE]

FOLDER is a model as scripts/reference/make_model.py writes it. Cases: one sequence of 256 residues, a batch
of equal lengths, and 64 sequences with lengths like a proteome's. transformers gets its fastest way to do
each: SDPA attention, inference mode, batches sorted by length and padded, one warm-up. Both sides are measured
in turn on the same machine with the same threads; loading is not counted (biogpu's own clock around its passes,
from --json). The figures are medians; CPU seconds are what to trust on a machine that others use. Needs torch and
transformers.
"""

import argparse
import json
import pathlib
import random
import resource
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


def run_biogpu(biogpu, folder, fasta, threads, out):
    """Seconds inside the passes, CPU seconds of the process, and the means."""
    command = [biogpu, "infer", "embed", "--model", folder, "--device", "cpu", "-t", str(threads), "-q",
               "--json", f"{out}.json", "-o", str(out), str(fasta)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(pathlib.Path(f"{out}.json").read_text())["time"]["compute_s"], cpu, numpy.load(out)


def measure(arguments, reference, sequences, work):
    """Both sides in turn. biogpu's loading is measured with one residue and taken off its CPU time."""
    fasta, one, out = work / "in.fa", work / "one.fa", work / "out.npy"
    fasta.write_text("".join(f">s{i}\n{s}\n" for i, s in enumerate(sequences)))
    one.write_text(">s\nM\n")
    right = reference.run(sequences)
    got = run_biogpu(arguments.biogpu, arguments.folder, fasta, arguments.threads, out)[2]
    error = float(numpy.abs(got - right).max() / numpy.abs(right).max())
    if error > 1e-4:
        sys.exit(f"outputs differ by {error:.2g} of the largest number; nothing was timed")
    times = {"biogpu_s": [], "transformers_s": [], "biogpu_cpu_s": [], "transformers_cpu_s": []}
    for _ in range(arguments.runs):
        wall, cpu = time.perf_counter(), time.process_time()
        reference.run(sequences)
        times["transformers_s"].append(time.perf_counter() - wall)
        times["transformers_cpu_s"].append(time.process_time() - cpu)
        seconds, cpu, _ = run_biogpu(arguments.biogpu, arguments.folder, fasta, arguments.threads, out)
        loading = run_biogpu(arguments.biogpu, arguments.folder, one, arguments.threads, out)[1]
        times["biogpu_s"].append(seconds)
        times["biogpu_cpu_s"].append(cpu - loading)
    row = {"error": error, "runs": times, **{k: statistics.median(v) for k, v in times.items()}}
    row["ratio"] = row["transformers_s"] / row["biogpu_s"]
    row["cpu_ratio"] = row["transformers_cpu_s"] / max(1e-9, row["biogpu_cpu_s"])
    return row


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
            row = {"case": name, "residues": sum(map(len, sequences)),
                   **measure(arguments, reference, sequences, pathlib.Path(work))}
            rows.append(row)
            print(f"{name}: biogpu {1e3 * row['biogpu_s']:.1f} ms, transformers {1e3 * row['transformers_s']:.1f} ms, "
                  f"{row['ratio']:.2f}x; CPU seconds {row['cpu_ratio']:.2f}x; error {row['error']:.1g}", flush=True)
    if arguments.json:
        result = {"model": pathlib.Path(arguments.folder).name, "threads": arguments.threads, "torch": torch.__version__,
                  "transformers": transformers.__version__, "cases": rows}
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
