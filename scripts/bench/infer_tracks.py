#!/usr/bin/env python3
"""Compares `biogpu infer tracks` and `variants` with enformer-pytorch: outputs first, then times and memory.

usage: scripts/bench/infer_tracks.py BIOGPU --json FILE [--device cpu|gpu:0] [--shape published|small|tiny]
                                     [--windows N] [--variants N] [--runs N] [--no-compile] [--threads N]

Writes a random model of the shape (scripts/reference/make_enformer.py) and a genome to a temporary folder. Outputs of
two windows are compared track by track with enformer-pytorch in fp32 without TF32: the run ends with 1 where the
worst difference in fp32 is above 1e-4 of a track's range, or a cosine about its mean below 0.99999. Then, each in
this run and on this device: a window by enformer-pytorch in fp32, TF32, bf16 autocast, eager and by torch.compile;
a window by biogpu in each precision, as device seconds of its passes and as wall time; scores of substitutions of
one window with reuse and without, against two windows of each. Needs what requirements.txt names, torch, and
`pip install --no-deps enformer-pytorch==0.8.12`; on a CPU the published shape takes some minutes.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import safetensors.torch
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reference"))
import make_enformer  # noqa: E402

BOUND, COSINE = 1e-4, 0.99999


def biogpu(arguments, folder, *words):
    """Runs a command; returns its summary and wall seconds."""
    summary = folder / "summary.json"
    command = [arguments.biogpu, "infer", words[0], "-q", "--device", arguments.device, "--threads", arguments.threads,
               "--json", summary, *words[1:]]
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return json.loads(summary.read_text()), seconds


def write_inputs(folder, shape, n_windows, n_variants):
    length = shape["sequence_length"]
    rng = numpy.random.default_rng(3)
    letters = numpy.array(list("ACGT"))[rng.integers(0, 4, 2 * length)]
    text = "".join(letters)
    (folder / "genome.fa").write_text(">chr1\n" + "".join(text[i:i + 60] + "\n" for i in range(0, len(text), 60)))
    windows = [text[i * 997 % length:][:length] for i in range(n_windows)]
    for name, some in (("two.fa", windows[:2]), ("few.fa", windows[:2]), ("many.fa", windows)):
        (folder / name).write_text("".join(f">w{i}\n{window}\n" for i, window in enumerate(some)))
    # All in one piece of the grid, half as long as what is predicted.
    grid = shape["target_length"] << shape["num_downsamples"] >> 1
    first = length // grid * grid
    places = first + numpy.sort(rng.choice(grid, n_variants, replace=False))
    lines = [f"chr1\t{p + 1}\t.\t{text[p]}\t{'ACGT'[('ACGT'.index(text[p]) + 1) % 4]}\t.\t.\t.\n" for p in places]
    (folder / "variants.vcf").write_text("##fileformat=VCFv4.2\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\t"
                                         "FILTER\tINFO\n" + "".join(lines))
    return windows, grid


def compare(got, right):
    """The worst difference over a track's range, and the least cosine of a track about its mean."""
    got, right = got.astype(numpy.float64), right.astype(numpy.float64)
    worst = (numpy.abs(got - right).max(0) / numpy.maximum(numpy.ptp(right, axis=0), 1e-12)).max()
    a, b = got - got.mean(0), right - right.mean(0)
    norms = numpy.sqrt((a * a).sum(0) * (b * b).sum(0))
    cosine = ((a * b).sum(0) / numpy.maximum(norms, 1e-300))[norms > 0].min()
    return float(worst), float(cosine)


def set_tf32(enabled):
    torch.backends.cuda.matmul.allow_tf32 = enabled
    torch.backends.cudnn.allow_tf32 = enabled


def time_peer(model, x, mode, compiled, runs, on_gpu):
    set_tf32(mode == "tf32")
    run = torch.compile(model) if compiled else model
    seconds = []
    with torch.inference_mode(), torch.autocast(x.device.type, torch.bfloat16, enabled=mode == "bf16"):
        if on_gpu:
            torch.cuda.reset_peak_memory_stats()
        for i in range(runs + 3):
            start = time.perf_counter()
            out = run(x)
            if on_gpu:
                torch.cuda.synchronize()
            if i >= 3 or (not on_gpu and i >= 1):
                seconds.append(time.perf_counter() - start)
        del out
    peak = torch.cuda.max_memory_allocated() if on_gpu else 0
    return {"ms": 1e3 * statistics.median(seconds), "peak_bytes": peak}


def peer_rows(arguments, model, window, on_gpu):
    x = make_enformer.one_hot(window)[None].to("cuda" if on_gpu else "cpu")
    rows = {}
    for mode in ("fp32", "tf32", "bf16") if on_gpu else ("fp32",):
        for compiled in (False, True):
            if compiled and arguments.no_compile:
                continue
            name = mode + (" compiled" if compiled else "")
            try:
                rows[name] = time_peer(model, x, mode, compiled, arguments.runs, on_gpu)
            except Exception as error:  # torch.compile needs a compiler, which not every machine has
                rows[name] = {"error": str(error).splitlines()[0][:200]}
    set_tf32(False)
    return rows


def our_rows(arguments, folder, grid, on_gpu):
    rows = {}
    base = ["--model", folder / "model", "--head", "human"]
    n = arguments.windows
    for precision in ("fp32", "tf32", "fp16", "bf16") if on_gpu else ("fp32",):
        words = [*base, "--precision", precision, "--batch", "1"]
        few, few_wall = biogpu(arguments, folder, "tracks", *words, folder / "few.fa", "-o", folder / "out.npy")
        many, many_wall = biogpu(arguments, folder, "tracks", *words, folder / "many.fa", "-o", folder / "out.npy")
        row = {"wall_ms_a_window": 1e3 * (many_wall - few_wall) / (n - 2),
               "device_ms_a_window": 1e3 * many.get("gpu_s", 0) / n, "peak_bytes": many.get("peak_device_bytes", 0)}
        variants = [*base, "--precision", precision, "--genome", folder / "genome.fa", "--grid", grid, "--wide",
                    folder / "variants.vcf"]
        for name, more in (("reuse", []), ("whole", ["--no-reuse"])):
            summary, wall = biogpu(arguments, folder, "variants", *variants, *more, "-o", folder / f"{name}.tsv")
            row[f"{name}_device_ms_a_variant"] = 1e3 * summary.get("gpu_s", 0) / arguments.variants
            row[f"{name}_wall_s"] = wall
        if precision == "fp32" and not on_gpu:
            assert (folder / "reuse.tsv").read_bytes() == (folder / "whole.tsv").read_bytes()
        window = row["device_ms_a_window"] if on_gpu else row["wall_ms_a_window"]
        variant = row["reuse_device_ms_a_variant"] if on_gpu else 1e3 * row["reuse_wall_s"] / arguments.variants
        row["two_windows_over_a_variant"] = 2 * window / variant
        rows[precision] = row
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--shape", choices=make_enformer.SHAPES, default="published")
    parser.add_argument("--windows", type=int, default=20, help="of a run that is timed")
    parser.add_argument("--variants", type=int, default=64)
    parser.add_argument("--runs", type=int, default=10, help="of enformer-pytorch")
    parser.add_argument("--threads", default="4")
    parser.add_argument("--no-compile", action="store_true")
    arguments = parser.parse_args()
    on_gpu = arguments.device.startswith("gpu")
    torch.set_num_threads(int(arguments.threads))
    set_tf32(False)
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model").mkdir()
        model = make_enformer.make_model(arguments.shape, 1)
        make_enformer.save(model, arguments.shape, folder / "model", torch.float32, False)
        windows, grid = write_inputs(folder, make_enformer.SHAPES[arguments.shape], arguments.windows, arguments.variants)
        model = model.to("cuda" if on_gpu else "cpu")
        with torch.inference_mode():
            right = [model(make_enformer.one_hot(w)[None].to("cuda" if on_gpu else "cpu"))["human"][0].cpu().numpy()
                     for w in windows[:2]]
        result = {"device": torch.cuda.get_device_name(0) if on_gpu else "cpu", "threads": arguments.threads,
                  "torch": torch.__version__, "shape": arguments.shape, "equal": {}}
        for precision in ("fp32", "tf32", "fp16", "bf16") if on_gpu else ("fp32",):
            biogpu(arguments, folder, "tracks", "--model", folder / "model", "--head", "human", "--precision",
                   precision, folder / "two.fa", "-o", folder / "two.safetensors")
            got = safetensors.torch.load_file(folder / "two.safetensors")
            pairs = [compare(got[f"w{i}"].numpy(), right[i]) for i in range(2)]
            worst, cosine = max(p[0] for p in pairs), min(p[1] for p in pairs)
            result["equal"][precision] = {"worst_of_range": worst, "least_cosine": cosine}
            print(f"{precision}: worst difference {worst:.2e} of a track's range, least cosine {cosine:.8f}")
            failed = failed or (precision == "fp32" and (worst > BOUND or cosine < COSINE))
        if failed:
            sys.exit("outputs differ; nothing is timed")
        result["enformer_pytorch"] = peer_rows(arguments, model, windows[0], on_gpu)
        del model
        if on_gpu:
            torch.cuda.empty_cache()
        result["biogpu"] = our_rows(arguments, folder, grid, on_gpu)
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
