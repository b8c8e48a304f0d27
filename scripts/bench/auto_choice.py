#!/usr/bin/env python3
"""Where --device auto is slower than the better of cpu and gpu.

Runs a grid of sizes, lengths, outputs and commands with --device cpu, gpu and auto in turns, compares the outputs
after the first turn, which warms the caches and leaves rates of this machine (docs/design/auto-device.md) in a cache of the
script's own, and prints each run with what auto took. JSON (--json) has all times, and in `slower` the names of the runs in
which auto took over 5 % and 0.02 s more than the better of the two.

There is no time limit by default. --limit ends the grid before the first run that would begin later, with exit
code 3; with --resume, the next call continues there. --folder keeps the rates in between.
"""

import argparse
import contextlib
import datetime
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import grid, machine, outputs, timing  # noqa: E402
from measure.text import seconds, shown, table, times  # noqa: E402

DEVICES = ("cpu", "gpu", "auto")
MAX_RATIO = 1.05
NOISE_S = 0.02  # by less a run is not slower


def what_auto_says(command, folder):
    """The prediction that -v prints and the log line that names the device."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    lines = [re.sub(r"^\[[^]]*\] ", "", line) for line in done.stderr.splitlines() if line.startswith("[biogpu")]
    predicted = next((line for line in lines if line.startswith("auto: ")), "")
    reason = re.compile(r"\((found and worth its start|the input is too small[^)]*|no slower than a GPU[^)]*)\)")
    chosen = next((line for line in lines if reason.search(line)), "")
    return {"predicted": predicted, "chosen": "gpu" if "worth its start" in chosen else "cpu"}


def shown_command(options, words):
    return shown(grid.command("biogpu", words, "out", options.threads, "auto"))


def measure(options, folder, name, words):
    grid.index_for(words, options.biogpu, timing.run, folder)
    calls = {}
    for device in DEVICES:
        command = grid.command(options.biogpu, words, device, options.threads, device)
        calls[device] = functools.partial(outputs.remove_and_run, command, folder, device)
    runs = timing.take_turns(calls, options.repeats, lambda: outputs.require_equal(folder, name, DEVICES))
    said = what_auto_says(grid.command(options.biogpu, words, "auto", options.threads, "auto", True), folder)
    medians = {device: timing.medians(runs[device])["wall_s"] for device in DEVICES}
    better = min(medians["cpu"], medians["gpu"])
    return {"name": name, "command": shown_command(options, words),
            "runs": runs, "ratio": medians["auto"] / better,
            "slower": medians["auto"] > max(MAX_RATIO * better, better + NOISE_S), **said}


def gpu_names(biogpu):
    done = subprocess.run([biogpu, "devices", "--json", "-"], capture_output=True, text=True, check=True)
    return [device["name"] for device in json.loads(done.stdout)["devices"]]


class Resumed:
    """The runs that earlier calls measured: a file of JSON lines, the first of which is what they have in common."""

    def __init__(self, path, options):
        self.path = path
        self.lines = [self.common(options)]
        if path is None or not path.exists():
            return
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if lines[:1] != self.lines:
            sys.exit(f"auto_choice.py: {path} is of another program, machine, GPU, seed or number of "
                     "repeats; remove it to start again")
        self.lines = lines

    @staticmethod
    def common(options):
        described = {key: value for key, value in machine.describe().items() if key != "load"}
        program = hashlib.sha256(pathlib.Path(options.biogpu).read_bytes()).hexdigest()
        return {"program": program, "machine": described, "gpus": gpu_names(options.biogpu), "seed": options.seed,
                "repeats": options.repeats}

    def find(self, name, command):
        return next((case for case in self.lines[1:] if (case["name"], case["command"]) == (name, command)), None)

    def add(self, case):
        self.lines.append(case)
        if self.path is None:
            return
        new = self.path.with_name(self.path.name + ".new")
        new.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        new.replace(self.path)


def measure_grid(options, folder):
    """The cases, and the name of the run before which the time limit ended them, or None."""
    end = float("inf") if options.limit is None else time.monotonic() + options.limit
    resumed = Resumed(options.resume, options)
    cases = []
    for name, words in grid.runs(folder, options):
        case = resumed.find(name, shown_command(options, words))
        if case is None:
            if time.monotonic() >= end:
                return cases, name
            case = measure(options, folder, name, words)
            resumed.add(case)
        cases.append(case)
    return cases, None


def rows_of(cases):
    for case in cases:
        medians = [timing.medians(case["runs"][device])["wall_s"] for device in DEVICES]
        yield [case["name"], *map(seconds, medians), case["chosen"], f"{case['ratio']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    grid.add_options(parser)
    parser.add_argument("--limit", type=float, help="seconds after which no further run begins [none]")
    parser.add_argument("--resume", type=pathlib.Path, metavar="FILE",
                        help="JSON lines: measured runs are added to it, and those that it has are not repeated")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_CACHE_HOME"] = str(folder.resolve() / "cache")
        cases, next_run = measure_grid(options, folder)
    slower = [case["name"] for case in cases if case["slower"]]
    print("\n".join(table(["run", "cpu, s", "gpu, s", "auto, s", "auto took", "of the better"], rows_of(cases), "lrrrlr")))
    for name in slower:
        print(f"slower than the better by more than {100 * (MAX_RATIO - 1):.0f} %: {name}")
    print(f"{len(slower)} of {len(cases)} runs slower; the worst took "
          f"{times(max((case['ratio'] for case in cases), default=1))} times the better's time")
    if options.json:
        result = {"machine": machine.describe(), "threads": options.threads, "seed": options.seed,
                  "repeats": options.repeats, "date": datetime.date.today().isoformat(), "whole_grid": next_run is None,
                  "cases": cases, "slower": slower}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if next_run is not None:
        print(f"auto_choice.py: the time limit ended the grid before: {next_run}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
