#!/usr/bin/env python3
"""Compares scripts/reference/alphagenome.py, in double precision, or biogpu itself with the PyTorch port on random weights
of the published shape: every head of a window, the largest difference over the head's standard deviation, and the cosine.

usage: scripts/compare/alphagenome.py [--bases N] [--organism 0|1] [--seed N] [--json FILE] [--biogpu PROGRAM
           [--device cpu|gpu] [--precisions NAME,...] [--windows N [--runs N] [--compiled MODE,...]]]

--precisions: of biogpu; the port computes in fp32 without TF32. --windows: then times both: the port's passes in fp32 and,
on a GPU, TF32 and its own mixed precision (bf16), plain and those of --compiled by torch.compile, as medians; and of biogpu
the device's seconds and those of the whole command, of N windows less those of one.

Needs torch and `pip install --no-deps --ignore-requires-python alphagenome-pytorch==0.3.1`. 16,384 bases take 20 GB and
some minutes on two cores. Exit status 1 where a head differs by more than 1e-3 or has a cosine below 0.99999; in 16 bits
these figures are told, and do not count.
"""

import argparse
import json
import math
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import safetensors.torch
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import alphagenome  # noqa: E402  (the folder has to be on the path first)
import make_alphagenome  # noqa: E402
from alphagenome_heads import BOUND, COSINE, common_junctions  # noqa: E402
from dna_windows import make_windows, one_hot  # noqa: E402
from measure import machine  # noqa: E402

NAMES = {"splice_sites": "splice_sites/probs", "splice_site_usage": "splice_site_usage/predictions",
         "splice_junctions": "splice_junctions/pred_counts"}
PORT_TISSUES = (367, 90)  # of each organism; the port has zeros for others


def named(outputs, prefix=""):
    for key, value in outputs.items():
        if isinstance(value, dict):
            yield from named(value, f"{prefix}{key}/")
        elif torch.is_tensor(value):
            yield prefix + str(key), value[0]


class PortAngles(alphagenome.AlphaGenome):
    """The reference program with the port's angles of junctions, all in fp32."""

    def junction_angles(self, positions, half):
        series = torch.logspace(0, math.log10(2 ** 20 - half + 1), half, dtype=torch.float32)
        return (positions.float()[:, None] * (1 / (torch.arange(half, dtype=torch.float32) + series))).to(self.dtype)


def write_model(folder, weights, window, n_windows):
    model = folder / "model"
    model.mkdir()
    safetensors.torch.save_file(weights, model / "model.safetensors")
    (model / "config.json").write_text(json.dumps({"model_type": "alphagenome", "sequence_length": len(window)}))
    (folder / "window.fa").write_text(f">one\n{window}\n")
    turned = [window[997 * i:] + window[:997 * i] for i in range(n_windows)]
    (folder / "many.fa").write_text("".join(f">w{i}\n{letters}\n" for i, letters in enumerate(turned)))


def run_biogpu(args, folder, precision, windows, output):
    """`infer tracks`; the summary's times and memory, and seconds of the whole command."""
    command = [args.biogpu, "infer", "tracks", "-q", "--device", args.device, "--precision", precision, "--model", folder / "model",
               "--pair-gelu", "erf", "--organism", ("human", "mouse")[args.organism], "--batch", "1", "--json",
               folder / "summary.json", folder / windows, "-o", output]
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True)
    wall = time.perf_counter() - start
    told = json.loads((folder / "summary.json").read_text())
    return {"wall_s": wall, "gpu_s": told["time"].get("gpu_s", 0), "memory": told["memory"]}


def tracks_of(path):
    tracks = safetensors.torch.load_file(path)
    path.unlink()
    return {name.removeprefix("one/"): value.double() for name, value in tracks.items()}


def time_biogpu(args, folder, precision):
    output = folder / "many.safetensors"
    one = run_biogpu(args, folder, precision, "window.fa", output)
    many = run_biogpu(args, folder, precision, "many.fa", output)
    output.unlink()
    further = {key: (many[key] - one[key]) / (args.windows - 1) for key in ("wall_s", "gpu_s")}
    return {"first_result_s": one["wall_s"], "first_gpu_s": one["gpu_s"], "window_wall_s": further["wall_s"],
            "window_gpu_s": further["gpu_s"], "memory": many["memory"]}


def give_up(*_):
    raise TimeoutError("the limit of time is over")


def time_port(args, weights, window, mode, compiled):
    from alphagenome_pytorch.config import DtypePolicy
    from alphagenome_pytorch.model import AlphaGenome
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = mode == "tf32"
    port = AlphaGenome(dtype_policy=DtypePolicy.mixed_precision() if mode == "bf16" else DtypePolicy.full_float32()).eval()
    port.load_state_dict(weights, strict=False)
    port = port.to(window.device)
    run = torch.compile(port) if compiled else port
    organism = torch.tensor([args.organism], device=window.device)
    seconds = []
    with torch.inference_mode():
        for i in range(args.runs + 2):
            start = time.perf_counter()
            run(window[None], organism_index=organism)
            if window.is_cuda:
                torch.cuda.synchronize()
            if i >= 2 or not window.is_cuda:
                seconds.append(time.perf_counter() - start)
    return {"s": statistics.median(seconds), "peak_bytes": torch.cuda.max_memory_allocated() if window.is_cuda else 0}


def time_all(args, weights, window, folder):
    """Of biogpu in each precision and of the port; compiling may take all the time that is left, so it comes last."""
    ours, rows = {}, {}
    for precision in args.precisions.split(","):
        ours[precision] = time_biogpu(args, folder, precision)
        print(f"biogpu\t{precision}\t{ours[precision]}", flush=True)
    signal.signal(signal.SIGALRM, give_up)
    modes = ("fp32", "tf32", "bf16") if window.is_cuda else ("fp32",)
    for name, mode, compiled in [(mode, mode, False) for mode in modes] + \
            [(mode + " compiled", mode, True) for mode in modes if mode in args.compiled.split(",")]:
        signal.alarm(args.compile_limit if compiled else 0)
        try:
            rows[name] = time_port(args, weights, window, mode, compiled)
        except Exception as error:  # torch.compile needs a compiler, which not every machine has, and time
            rows[name] = {"error": str(error).splitlines()[0][:200]}
        signal.alarm(0)
        if window.is_cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        print(f"port\t{name}\t{rows[name]}", flush=True)
    return {"port": rows, "biogpu": ours}


def compare(args, ours, theirs):
    """Of each head the largest difference over its standard deviation, and the cosine."""
    heads = {}
    for name, right in ours.items():
        key = NAMES.get(name, name)
        if key in theirs:
            got = theirs[key].double()
            if name == "splice_junctions":
                sites = ours["splice_junctions_positions" if args.biogpu else "splice_junctions/positions"]
                got, right = common_junctions(got, theirs["splice_junctions/splice_site_positions"], right, sites,
                                              PORT_TISSUES[args.organism])
            difference = float((got - right).abs().max() / right.std())
            cosine = float(torch.nn.functional.cosine_similarity(got.flatten(), right.flatten(), 0))
            heads[name] = {"largest_difference": difference, "cosine": cosine}
            print(f"{name}\t{difference:.1e}\t{cosine:.9f}", flush=True)
    return heads


def missed(args, heads):
    # biogpu's angles are exact, and the port's off by 1e-3 and more: of these junctions the cosine alone is checked.
    bounds = {"splice_junctions": math.inf} if args.biogpu else {}
    bad = [name for name, head in heads.items()
           if not (head["largest_difference"] < bounds.get(name, BOUND) and head["cosine"] > COSINE)]
    return f"{len(heads)} heads; other ones: {', '.join(bad) or 'none'}" if len(heads) < 16 or bad else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bases", type=int, default=16384)
    parser.add_argument("--organism", type=int, choices=(0, 1), default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--biogpu", help="compare this program instead of the reference program")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--windows", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--compiled", default="", help="modes of the port by torch.compile, too")
    parser.add_argument("--compile-limit", type=int, default=120, help="seconds for each of them")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if args.windows == 1 or (args.windows and not args.biogpu):
        parser.error("--windows: at least 2, and with --biogpu")
    device = "cuda" if args.device == "gpu" else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    from alphagenome_pytorch.model import AlphaGenome
    port = AlphaGenome().eval()
    weights = make_alphagenome.make_weights(make_alphagenome.SHAPES["published"], args.seed)
    shapes = {name: tuple(tensor.shape) for name, tensor in port.state_dict().items() if tensor.is_floating_point()}
    if shapes != {name: tuple(tensor.shape) for name, tensor in weights.items()}:
        sys.exit("alphagenome.py: the port's tensors are others: "
                 f"{sorted(set(shapes.items()) ^ {(n, tuple(t.shape)) for n, t in weights.items()})[:10]}")
    port.load_state_dict(weights, strict=False)
    letters = make_windows(args.bases)["one"]
    window = one_hot(letters).float().to(device)
    with torch.no_grad():
        out = port.to(device)(window[None], organism_index=torch.tensor([args.organism], device=device))
        theirs = {name: value.cpu() for name, value in named(out)}
    del port, out
    result = {"bases": args.bases, "organism": args.organism, "seed": args.seed, "device": args.device}
    bad = {}
    if args.biogpu:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            write_model(folder, weights, letters, args.windows)
            result["precisions"] = {}
            for precision in args.precisions.split(","):
                print(f"biogpu\t{precision}")
                run_biogpu(args, folder, precision, "window.fa", folder / "tracks.safetensors")
                heads = compare(args, tracks_of(folder / "tracks.safetensors"), theirs)
                result["precisions"][precision] = heads
                if precision not in ("fp16", "bf16"):
                    bad[precision] = missed(args, heads)
            del theirs
            if args.windows:
                result["machine"] = machine.describe()
                result["times"] = time_all(args, weights, window, folder)
    else:
        result["heads"] = compare(args, PortAngles(weights, "erf").run(one_hot(letters), args.organism), theirs)
        bad["fp32"] = missed(args, result["heads"])
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    for precision, what in bad.items():
        if what:
            print(f"alphagenome.py: {precision}: {what}", file=sys.stderr)
    sys.exit(1 if any(bad.values()) else 0)


if __name__ == "__main__":
    main()
