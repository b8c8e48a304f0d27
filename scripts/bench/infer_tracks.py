#!/usr/bin/env python3
"""Compares `biogpu infer tracks` and `variants` with enformer-pytorch and borzoi-pytorch: outputs, then times and memory.

usage: scripts/bench/infer_tracks.py BIOGPU --json FILE [--model enformer|borzoi|flashzoi] [--device cpu|gpu|N]
           [--shape published|small|tiny] [--precisions NAME,...] [--windows N] [--variants N] [--runs N]
           [--compiled MODE,...] [--compile-limit SECONDS] [--threads N]

Writes a random model of the shape (scripts/reference/make_enformer.py, make_borzoi.py) and a genome to a temporary
folder. Outputs of two windows are compared track by track with the peer's in double precision, those of the peer in
fp32 without TF32, too. The gate is for each precision of biogpu that is run: a cosine about a track's mean of at least
0.99999, and in fp32 differences of at most 1e-4 of a track's range. What misses it is said, and times follow all the
same; a run with a precision that misses it ends with 1. Then, each in this run and on this device: a window by the
peer in fp32, TF32, bf16 autocast, eager and by torch.compile, which is given up after a limit of time for each mode,
with its differences from double precision; a window by biogpu in each precision, as device seconds of its passes and
as wall time; scores of substitutions of one piece of the grid with reuse and without, against two windows of each;
peak memory of both. Devices are named as `biogpu devices` numbers them.

Needs what requirements.txt names, torch, `pip install --no-deps enformer-pytorch==0.8.12`, and for Borzoi and
Flashzoi borzoi-pytorch==0.5.1, pandas and intervaltree; on a CPU the published shapes take some minutes.
"""

import argparse
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import safetensors.torch
import torch
from dna_peers import in_double, make_peer
from track_gate import missed, passes


def biogpu(arguments, folder, *words):
    """Runs a command; returns the times and memory of its summary, and wall seconds."""
    summary = folder / "summary.json"
    command = [arguments.biogpu, "infer", words[0], "-q", "--device", arguments.device, "--threads", arguments.threads,
               "--json", summary, *words[1:]]
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    told = json.loads(summary.read_text())
    return {**told["time"], **told["memory"]}, seconds


def write_inputs(folder, peer, n_windows, n_variants):
    length = peer.window_bases
    rng = numpy.random.default_rng(3)
    letters = numpy.array(list("ACGT"))[rng.integers(0, 4, 2 * length)]
    text = "".join(letters)
    (folder / "genome.fa").write_text(">chr1\n" + "".join(text[i:i + 60] + "\n" for i in range(0, len(text), 60)))
    windows = [text[i * 997 % length:][:length] for i in range(n_windows)]
    for name, some in (("two.fa", windows[:2]), ("many.fa", windows)):
        (folder / name).write_text("".join(f">w{i}\n{window}\n" for i, window in enumerate(some)))
    # All in one piece of the grid, half as long as what is predicted.
    grid = peer.predicted_bases >> 1
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
    products = (a * b).sum(0) / numpy.maximum(numpy.sqrt((a * a).sum(0) * (b * b).sum(0)), 1e-300)
    return float(worst), float(products[numpy.ptp(right, axis=0) > 0].min())


def set_tf32(enabled):
    torch.backends.cuda.matmul.allow_tf32 = enabled
    torch.backends.cudnn.allow_tf32 = enabled


def time_peer(peer, x, right, mode, compiled, runs):
    """Of one window, whose tracks in double precision are 'right'."""
    set_tf32(mode == "tf32")
    run = torch.compile(peer.model) if compiled else peer.model
    on_gpu = x.device.type == "cuda"
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
        peak = torch.cuda.max_memory_allocated() if on_gpu else 0
        worst, cosine = compare(peer.human(out).float().cpu().numpy(), right)
    return {"ms": 1e3 * statistics.median(seconds), "peak_bytes": peak, "worst_of_range": worst, "least_cosine": cosine}


def give_up(*_):
    raise TimeoutError("the limit of time is over")


def peer_rows(arguments, peer, window, right):
    x = peer.encode(window)
    rows = {}
    signal.signal(signal.SIGALRM, give_up)
    modes = ("fp32", "tf32", "bf16") if x.device.type == "cuda" else ("fp32",)
    for compiled in (False, True):
        for mode in modes:
            if compiled and mode not in arguments.compiled.split(","):
                continue
            name = mode + (" compiled" if compiled else "")
            if compiled:
                torch.compiler.reset()
                signal.alarm(arguments.compile_limit)
            try:
                rows[name] = time_peer(peer, x, right, mode, compiled, arguments.runs)
            except Exception as error:  # torch.compile needs a compiler, which not every machine has, and time
                rows[name] = {"error": str(error).splitlines()[0][:200]}
            signal.alarm(0)
            print(f"{peer.name} {name}: {rows[name]}", flush=True)
    set_tf32(False)
    return rows


def precisions_of(arguments):
    return ("fp32",) if arguments.device == "cpu" else arguments.precisions.split(",")


def compare_outputs(arguments, peer, folder, windows, right):
    """Of the peer and each precision the worst differences from double precision, which is 'right'."""
    with torch.inference_mode():
        theirs = [peer.human(peer.model(peer.encode(w))).cpu().numpy() for w in windows[:2]]
    equal = {}

    def add(name, tracks, precision=None):
        pairs = [compare(*pair) for pair in zip(tracks, right)]
        worst, cosine = float(numpy.max([p[0] for p in pairs])), float(numpy.min([p[1] for p in pairs]))
        good = passes(precision or "fp32", worst, cosine)
        equal[name] = {"worst_of_range": worst, "least_cosine": cosine, "passes": good}
        note = "" if good else ": below the gate"
        print(f"{name}: worst difference {worst:.2e} of a track's range, least cosine {cosine:.8f}{note}", flush=True)

    add(f"{peer.name} fp32", theirs)
    for precision in precisions_of(arguments):
        biogpu(arguments, folder, "tracks", "--model", folder / "model", "--head", "human", "--precision", precision,
               "--batch", "1", folder / "two.fa", "-o", folder / "two.safetensors")
        got = safetensors.torch.load_file(folder / "two.safetensors")
        add(precision, [got[f"w{i}"].numpy() for i in range(2)], precision)
    return equal


def our_rows(arguments, folder, grid):
    rows = {}
    base = ["--model", folder / "model", "--head", "human"]
    n = arguments.windows
    on_gpu = arguments.device != "cpu"
    for precision in precisions_of(arguments):
        tracks = ["tracks", *base, "--precision", precision, "--batch", "1"]
        _, two_wall = biogpu(arguments, folder, *tracks, folder / "two.fa", "-o", folder / "two.safetensors")
        many, many_wall = biogpu(arguments, folder, *tracks, folder / "many.fa", "-o", folder / "many.safetensors")
        row = {"wall_ms_a_window": 1e3 * (many_wall - two_wall) / (n - 2),
               "device_ms_a_window": 1e3 * many["gpu_s"] / n, "peak_bytes": many["peak_device_bytes"]}
        variants = [*base, "--precision", precision, "--genome", folder / "genome.fa", "--grid", grid, "--wide",
                    folder / "variants.vcf"]
        for name, more in (("reuse", []), ("whole", ["--no-reuse"])):
            summary, wall = biogpu(arguments, folder, "variants", *variants, *more, "-o", folder / f"{name}.tsv")
            row[f"{name}_device_ms_a_variant"] = 1e3 * summary["gpu_s"] / arguments.variants
            row[f"{name}_wall_s"] = wall
        if precision == "fp32" and not on_gpu:
            assert (folder / "reuse.tsv").read_bytes() == (folder / "whole.tsv").read_bytes()
        window = row["device_ms_a_window"] if on_gpu else row["wall_ms_a_window"]
        variant = row["reuse_device_ms_a_variant"] if on_gpu else 1e3 * row["reuse_wall_s"] / arguments.variants
        row["two_windows_over_a_variant"] = 2 * window / variant
        rows[precision] = row
        print(f"biogpu {precision}: {row}", flush=True)
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--model", choices=("enformer", "borzoi", "flashzoi"), default="enformer")
    parser.add_argument("--device", default="gpu", help="cpu, gpu, or a number that `biogpu devices` lists")
    parser.add_argument("--shape", choices=("published", "small", "tiny"), default="published")
    parser.add_argument("--precisions", default="fp32,tf32,fp16,bf16", help="on a GPU")
    parser.add_argument("--windows", type=int, default=20, help="of a run that is timed")
    parser.add_argument("--variants", type=int, default=64)
    parser.add_argument("--runs", type=int, default=10, help="of the peer")
    parser.add_argument("--threads", default="4")
    parser.add_argument("--compiled", default="fp32,tf32,bf16", help="modes by torch.compile, too; none: ''")
    parser.add_argument("--compile-limit", type=int, default=120, help="seconds for each of them")
    arguments = parser.parse_args()
    if arguments.device not in ("cpu", "gpu") and not arguments.device.isdecimal():
        parser.error(f"--device {arguments.device}: cpu, gpu, or a number that `biogpu devices` lists")
    if arguments.windows < 3:
        parser.error("--windows: at least 3, as the time of two is taken off")
    if arguments.shape == "small" and arguments.model != "enformer":
        parser.error("--shape small is Enformer's")
    return arguments


def main():
    arguments = parse_arguments()
    device = {"cpu": "cpu", "gpu": "cuda"}.get(arguments.device, f"cuda:{arguments.device}")
    torch.set_num_threads(int(arguments.threads))
    set_tf32(False)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model").mkdir()
        peer = make_peer(arguments.model, arguments.shape, device)
        peer.save(folder / "model")
        windows, grid = write_inputs(folder, peer, arguments.windows, arguments.variants)
        result = {"device": torch.cuda.get_device_name(device) if device != "cpu" else "cpu",
                  "threads": arguments.threads, "torch": torch.__version__, "model": arguments.model,
                  "shape": arguments.shape}
        right = in_double(peer, windows[:2])
        result["equal"] = compare_outputs(arguments, peer, folder, windows, right)
        result[peer.name.replace("-", "_")] = peer_rows(arguments, peer, windows[0], right[0])
        del peer
        if device != "cpu":
            torch.cuda.empty_cache()
        result["biogpu"] = our_rows(arguments, folder, grid)
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    below = missed(result["equal"], precisions_of(arguments))
    if below:
        sys.exit(f"below the gate: {', '.join(below)}")


if __name__ == "__main__":
    main()
