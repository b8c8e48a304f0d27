#!/usr/bin/env python3
"""What `biogpu infer variants` takes for the first and for each further substitution of a window.

usage: scripts/bench/variant_windows.py BIOGPU --model FOLDER [--head NAME,... --bins centre:501 | --scorers NAME,...] [--counts 1,9,41]
           [--window BASES] [--grid BASES] [--step BASES] [--precision fp16] [--device gpu] [--threads N] [--repeats N] [--json FILE] [--folder FOLDER]

Random substitutions share a window (--grid, a quarter of the window, at most 100,000 bases), --step bases apart (300, or
what the grid has room for). Runs of the first 1, 9 and 41 of them: what a run has in common with the next, and with one without reuse of the reference
(--no-reuse), must be equal on the CPU, and on a GPU, where the library's products differ by the size of a batch, within
MAX_DIFFERENCE of the largest score. Prints seconds from the start to the end of a run, of reading weights, of the first
variant (its reference and its alternate), of each further one, and what that is without reuse. --window: other than the
folder's, for models that take it (a copy of config.json). --scorers: AlphaGenome's centre masks and contact maps.
"""

import argparse
import contextlib
import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import machine  # noqa: E402
from measure.text import seconds, table  # noqa: E402

MAX_DIFFERENCE = {"fp32": 1e-3, "tf32": 1e-2, "fp16": 2e-2, "bf16": 1e-1}
MAX_STEP = 300
MAX_GRID = 100_000


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def model_with_window(source, folder, n_bases):
    """The same model with another window: its files by links."""
    target = folder / "model"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for path in source.iterdir():
        if path.name != "config.json":
            (target / path.name).symlink_to(path.resolve())
    config = json.loads((source / "config.json").read_text())
    (target / "config.json").write_text(json.dumps(dict(config, sequence_length=n_bases)))
    return target


def window_of(biogpu, model):
    """Bases of a window, as the program tells them."""
    done = subprocess.run([biogpu, "infer", "info", str(model)], capture_output=True, text=True, check=False)
    found = re.search(r"^window\t(\d+) bases", done.stdout, re.MULTILINE)
    if not found:
        raise SystemExit(f"{model}: {done.stderr.strip() or 'is no model of DNA'}")
    return int(found[1])


def set_distances(options):
    """The grid and the step that were not given."""
    n_bases = window_of(options.biogpu, options.model)
    options.grid = options.grid or min(MAX_GRID, n_bases // 4)
    room = options.grid - options.grid // 4
    options.step = options.step or max(1, min(MAX_STEP, room // max(options.counts)))
    if options.step * (max(options.counts) - 1) >= room:
        raise SystemExit(f"{max(options.counts)} variants at steps of {options.step} do not fit a grid of {options.grid} bases")
    return n_bases


def write_inputs(folder, rng, options, n_bases):
    n = max(3_000_000, 3 * n_bases)
    bases = "".join(rng.choices("ACGT", k=n))
    (folder / "genome.fa").write_text(">chr1\n" + "\n".join(bases[i:i + 60] for i in range(0, n, 60)) + "\n")
    begin = n // 2 // options.grid * options.grid + options.grid // 4
    for count in options.counts:
        with open(folder / f"{count}.vcf", "w", encoding="ascii") as out:
            out.write("##fileformat=VCFv4.2\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
            for number in range(count):
                at = begin + number * options.step
                other = "ACGT"[("ACGT".index(bases[at]) + 1 + number % 3) % 4]
                out.write(f"chr1\t{at + 1}\tv{number}\t{bases[at]}\t{other}\t.\t.\t.\n")


def run_variants(options, folder, device, vcf, *words):
    """Seconds of the whole command, its summary, and the lines of its table."""
    output, summary = folder / "scores.tsv", folder / "summary.json"
    command = [options.biogpu, "infer", "variants", "-q", "--device", device, "-t", options.threads, "--precision", options.precision,
               "--model", options.model, "--genome", folder / "genome.fa", "--json", summary, *words, folder / vcf, "-o", output]
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{vcf}, --device {device}: {done.stderr}")
    return wall, json.loads(summary.read_text()), output.read_text().splitlines()


def run(options, folder, count, *words):
    scores = ["--scorers", options.scorers] if options.scorers else ["--head", options.head, "--bins", options.bins]
    wall, told, lines = run_variants(options, folder, options.device, f"{count}.vcf", *scores, "--grid", options.grid, *words)
    load = sum(stage["wall_s"] for stage in told["stages"] if stage["name"] == "load")
    return {"wall_s": wall, "load_s": load, "compute_s": told["time"]["compute_s"], "gpu_s": told["time"].get("gpu_s", 0),
            "peak_rss_bytes": told["memory"]["peak_rss_bytes"]}, lines


def measure(options, folder, *words):
    runs, lines = {}, {}
    for count in options.counts:
        found = [run(options, folder, count, *words) for _ in range(options.repeats)]
        runs[count] = {key: statistics.median(figures[key] for figures, _ in found) for key in found[0][0]}
        lines[count] = found[0][1]
    return runs, lines


def largest_difference(few, many):
    """Of the last column of lines that both have, whose other columns must be the same, over the largest number."""
    rows = [(a.split("\t"), b.split("\t")) for a, b in zip(few[1:], many[1:])]
    if few[0] != many[0] or any(a[:-1] != b[:-1] for a, b in rows):
        raise SystemExit("other variants or tracks in a longer run")
    largest = max(abs(float(a[-1])) for a, _ in rows)
    return max(abs(float(a[-1]) - float(b[-1])) for a, b in rows) / largest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("biogpu", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--model", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--head", default="dnase/1,rna_seq/128")
    parser.add_argument("--bins", default="centre:501")
    parser.add_argument("--scorers")
    parser.add_argument("--counts", type=lambda text: [positive(word) for word in text.split(",")], default=[1, 9, 41])
    parser.add_argument("--window", type=positive)
    parser.add_argument("--grid", type=positive)
    parser.add_argument("--step", type=positive)
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        name = options.model.name
        if options.window:
            options.model = model_with_window(options.model, folder, options.window)
        options.window = set_distances(options)
        write_inputs(folder, random.Random(options.seed), options, options.window)
        reused, lines = measure(options, folder)
        options.counts, counts = options.counts[:2], options.counts
        whole, whole_lines = measure(options, folder, "--no-reuse")
    differences = {f"{few} and {many} variants": largest_difference(lines[few], lines[many])
                   for few, many in zip(counts, counts[1:])}
    differences.update({f"{count} variants without reuse": largest_difference(lines[count], whole_lines[count])
                        for count in options.counts})
    bound = 0 if options.device == "cpu" else MAX_DIFFERENCE[options.precision]
    for runs, difference in differences.items():
        print(f"{runs}: differences of {difference:.1e} of the largest score")
        if difference > bound:
            raise SystemExit(f"{runs}: more than {bound}")

    def further(runs, of, key):
        first, last = of[0], of[-1]
        return (runs[last][key] - runs[first][key]) / (last - first) if last > first else float("nan")

    figures = {"first_result_s": reused[counts[0]]["wall_s"], "load_s": reused[counts[0]]["load_s"],
               "first_variant_s": reused[counts[0]]["compute_s"], "further_variant_s": further(reused, counts, "compute_s"),
               "further_variant_gpu_s": further(reused, counts, "gpu_s"),
               "further_variant_without_reuse_s": further(whole, options.counts, "compute_s")}
    print("\n".join(table(["what", "seconds"], [[key, seconds(value)] for key, value in figures.items()], "lr")))
    if options.json:
        result = {"machine": machine.describe(), "model": name, "window": options.window, "grid": options.grid, "step": options.step, "head": options.head,
                  "bins": options.bins, "scorers": options.scorers, "precision": options.precision, "device": options.device, "seed": options.seed,
                  "counts": counts, "differences": differences, "runs": {str(count): reused[count] for count in counts},
                  "runs_without_reuse": {str(count): whole[count] for count in options.counts}, **figures}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
