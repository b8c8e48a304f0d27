#!/usr/bin/env python3
"""What `biogpu infer tracks` takes for a window from file to file, against the device's time for it.

usage: scripts/bench/track_road.py BIOGPU --model FOLDER --json FILE [--head NAME,...] [--formats npz,h5,safetensors]
           [--precision fp16] [--windows N] [--repeats N] [--threads N] [--folder FOLDER]

Random windows of the model's length go to a file of arrays of each format, first one in eight of them, then all: the
difference of both runs is what the others took, without the start of the program and of the device. The arrays of the
short run must be those of the long one. Prints seconds of a window, of the device and in all, and their ratio, and the
stages of the long run. --folder: for inputs and outputs, on a fast file system [a temporary one].
"""

import argparse
import contextlib
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import machine  # noqa: E402
from measure.text import seconds, table  # noqa: E402

MAX_RATIO = 1.3


def window_of(options):
    text = subprocess.run([options.biogpu, "infer", "info", options.model], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        if line.startswith("window\t"):
            return int(line.split("\t")[1].split()[0])
    raise SystemExit("infer info tells no window")


def write_windows(path, n, length, rng):
    with open(path, "w", encoding="ascii") as out:
        for number in range(n):
            out.write(f">w{number}\n{''.join(rng.choices('ACGT', k=length))}\n")


def run(options, folder, name, suffix):
    output, summary = folder / f"{name}.{suffix}", folder / "summary.json"
    output.unlink(missing_ok=True)
    command = [options.biogpu, "infer", "tracks", "-q", "--device", options.device, "-t", str(options.threads), "--precision",
               options.precision, "--model", options.model, *(["--head", options.head] if options.head else []),
               "--json", summary, folder / f"{name}.fa", "-o", output]
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{suffix}: {done.stderr}")
    told = json.loads(summary.read_text())
    return {"wall_s": wall, "gpu_s": told["time"].get("gpu_s", 0), "bytes": output.stat().st_size, "stages": told["stages"]}


def require_equal(folder, suffix):
    """Where a reader of the format is there: the first window's arrays are the same in both files."""
    import numpy  # noqa: PLC0415

    short, long = (folder / f"{name}.{suffix}" for name in ("few", "all"))
    if suffix == "npz":
        with numpy.load(short) as few, numpy.load(long) as whole:
            same = all(numpy.array_equal(few[key], whole[key]) for key in few.files[:4])
    elif suffix == "safetensors":
        from safetensors import safe_open  # noqa: PLC0415
        with safe_open(short, "numpy") as few, safe_open(long, "numpy") as whole:
            same = all(numpy.array_equal(few.get_tensor(key), whole.get_tensor(key)) for key in sorted(few.keys())[:4])
    else:
        return
    if not same:
        raise SystemExit(f"{suffix}: other arrays in a longer run")


def measure(options, folder, suffix):
    n_few, n_all = max(1, options.windows // 8), options.windows
    runs = []
    for turn in range(options.repeats + 1):
        few, whole = run(options, folder, "few", suffix), run(options, folder, "all", suffix)
        if turn == 0:
            require_equal(folder, suffix)
            continue
        runs.append({"few": few, "all": whole, **{
            key: (whole[key] - few[key]) / (n_all - n_few) for key in ("wall_s", "gpu_s", "bytes")}})
    case = {key: statistics.median(one[key] for one in runs) for key in ("wall_s", "gpu_s", "bytes")}
    return {"format": suffix, "runs": runs, "ratio": case["wall_s"] / case["gpu_s"] if case["gpu_s"] else None, **case}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("biogpu", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--model", type=lambda path: str(pathlib.Path(path).resolve()), required=True)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--head")
    parser.add_argument("--formats", default="npz,h5,safetensors")
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--windows", type=int, default=160)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        rng, length = random.Random(options.seed), window_of(options)
        write_windows(folder / "all.fa", options.windows, length, rng)
        few = (folder / "all.fa").read_text().splitlines()[:2 * max(1, options.windows // 8)]
        (folder / "few.fa").write_text("\n".join(few) + "\n")
        cases = [measure(options, folder, suffix) for suffix in options.formats.split(",")]
    print("\n".join(table(["format", "MB a window", "device, s", "in all, s", "in all / device"],
                          [[case["format"], f"{case['bytes'] / 1e6:.1f}", f"{case['gpu_s']:.4f}", f"{case['wall_s']:.4f}",
                            f"{case['ratio']:.2f}" if case["ratio"] else "-"] for case in cases], "lrrrr")))
    for case in cases:
        print(f"\nstages, {case['format']}:")
        for stage in case["runs"][-1]["all"]["stages"]:
            print("  " + ", ".join(f"{key} {seconds(value) if isinstance(value, float) else value}" for key, value in stage.items()))
    slow = [case["format"] for case in cases if case["ratio"] and case["ratio"] > MAX_RATIO]
    if slow:
        print(f"\nmore than {MAX_RATIO} times the device's time: {', '.join(slow)}")
    if options.json:
        result = {"machine": machine.describe(), "model": pathlib.Path(options.model).name, "head": options.head,
                  "precision": options.precision, "device": options.device, "windows": options.windows,
                  "threads": options.threads, "seed": options.seed, "cases": cases}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
