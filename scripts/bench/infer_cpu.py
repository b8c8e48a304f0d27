#!/usr/bin/env python3
"""biogpu infer compared with transformers on PyTorch's CPU backend: equal outputs first, then time.

usage: scripts/bench/infer_cpu.py BIOGPU FOLDER [--threads N] [--runs N] [--json FILE]

FOLDER is a model as scripts/reference/make_model.py writes it. Cases: one sequence of 256 residues, a batch
of equal lengths, and 64 sequences with lengths like a proteome's. transformers gets its fastest way to do
each: SDPA attention, inference mode, batches sorted by length and padded, one warm-up. Both sides are measured
in turn on the same machine with the same threads, after a rest, for PyTorch's threads spin for a while when their
work is done; loading is not counted (biogpu's own clock around its passes, from --json). The figures are medians; CPU
seconds are what to trust on a machine that others use. Needs torch and transformers.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SCRIPTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "reference")]

import numpy  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402

from embed import Embedder  # noqa: E402
from measure import inputs  # noqa: E402
from measure.bench_tables import infer_cpu  # noqa: E402

REST_S = 0.5


def cases(seed=7):
    rng = inputs.generator(seed)
    lengths = inputs.proteome_lengths(rng, 64)
    return {"1 x 256": [inputs.protein(rng, 256)],
            "8 x 256": [inputs.protein(rng, 256) for _ in range(8)],
            "64, proteome": [inputs.protein(rng, n) for n in lengths]}


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
        time.sleep(REST_S)
        wall, cpu = time.perf_counter(), time.process_time()
        reference.run(sequences)
        times["transformers_s"].append(time.perf_counter() - wall)
        times["transformers_cpu_s"].append(time.process_time() - cpu)
        time.sleep(REST_S)
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
    reference = Embedder(arguments.folder)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for name, sequences in cases().items():
            row = {"case": name, "residues": sum(map(len, sequences)),
                   **measure(arguments, reference, sequences, pathlib.Path(work))}
            rows.append(row)
            print(f"{name}: {row['ratio']:.2f} times as fast", file=sys.stderr, flush=True)
    result = {"model": pathlib.Path(arguments.folder).name, "threads": arguments.threads, "torch": torch.__version__,
              "transformers": transformers.__version__, "cases": rows}
    print("\n".join(infer_cpu(result)))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
