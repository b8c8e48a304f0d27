#!/usr/bin/env python3
"""Times two builds of biogpu on runs of every command, equal outputs first.

Runs the grid of scripts/bench/auto_choice.py with both programs in turns and prints the medians. On a machine with
other work, CPU time is what to compare. JSON (--json) has all times, and in `slower` the names of the runs in which the new
program took over 5 % and 0.02 s more CPU time than the one before.
"""

import argparse
import contextlib
import datetime
import functools
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import grid, machine, outputs, timing  # noqa: E402
from measure.text import seconds, shown, table  # noqa: E402

PROGRAMS = ("before", "biogpu")
MAX_RATIO = 1.05
NOISE_S = 0.02  # by less a run is not slower


def measure(options, folder, name, words):
    grid.index_for(words, options.biogpu, timing.run, folder)
    calls = {}
    for program in PROGRAMS:
        command = grid.command(getattr(options, program), words, program, options.threads, options.device)
        calls[program] = functools.partial(outputs.remove_and_run, command, folder, program)
    runs = timing.take_turns(calls, options.repeats, lambda: outputs.require_equal(folder, name, PROGRAMS))
    before, new = (timing.medians(runs[program]) for program in PROGRAMS)
    return {"name": name, "command": shown(grid.command("biogpu", words, "out", options.threads, options.device)),
            "runs": runs, "ratio_wall": before["wall_s"] / new["wall_s"], "ratio_cpu": before["cpu_s"] / new["cpu_s"],
            "slower": new["cpu_s"] > max(MAX_RATIO * before["cpu_s"], before["cpu_s"] + NOISE_S)}


def rows_of(cases):
    for case in cases:
        medians = [timing.medians(case["runs"][program]) for program in PROGRAMS]
        yield [case["name"], *(seconds(of[key]) for key in ("wall_s", "cpu_s") for of in medians),
               f"{case['ratio_wall']:.2f}", f"{case['ratio_cpu']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    grid.add_options(parser)
    parser.add_argument("--before", type=lambda path: str(pathlib.Path(path).resolve()), required=True,
                        help="the build to compare with")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        cases = [measure(options, folder, name, words) for name, words in grid.runs(folder, options)]
    slower = [case["name"] for case in cases if case["slower"]]
    print("\n".join(table(["run", "before, s", "now, s", "before, CPU s", "now, CPU s", "wall ratio", "CPU ratio"],
                          rows_of(cases), "lrrrrrr")))
    for name in slower:
        print(f"slower than before by more than {100 * (MAX_RATIO - 1):.0f} % of CPU time: {name}")
    if options.json:
        result = {"machine": machine.describe(), "threads": options.threads, "device": options.device,
                  "seed": options.seed, "repeats": options.repeats, "date": datetime.date.today().isoformat(),
                  "cases": cases, "slower": slower}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
