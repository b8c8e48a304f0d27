#!/usr/bin/env python3
"""Where several GPUs are slower than one.

Runs a grid of sizes, lengths, outputs and commands, and with --model the embeddings of proteins, on the first GPU alone
(--device 0) and on the GPUs of --devices in turns, and compares the outputs. Prints each run with the number of GPUs that it
used, and the runs in which several GPUs took over 5 % and 0.02 s more than one. Rates of earlier runs are not used.
"""

import argparse
import contextlib
import datetime
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import grid, machine, outputs, timing  # noqa: E402
from measure.text import seconds, shown, table, times  # noqa: E402

MAX_RATIO = 1.05
NOISE_S = 0.02  # by less a run is not slower
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"


def embed_runs(folder, options):
    """Mean embeddings of so many proteins of 350 residues."""
    rng = random.Random(options.seed)
    for n_proteins in options.proteins:
        name = f"proteins{n_proteins}.fa"
        with open(folder / name, "w", encoding="ascii") as out:
            for number in range(n_proteins):
                out.write(f">p{number}\n{''.join(rng.choices(RESIDUES, k=350))}\n")
        yield (f"infer embed, {n_proteins} proteins",
               ["infer", "embed", "--model", str(options.model.resolve()), "--include", "mean", name, "-o", "{out}.npy"])


def runs_of(folder, options):
    yield from grid.runs(folder, options)
    if options.model:
        yield from embed_runs(folder, options)


def n_used(command, folder):
    """The GPUs that the log line of a run names."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found = re.search(r"; (\d+) of \d+ devices used\)", done.stderr)
    return int(found[1]) if found else command[command.index("--device") + 1].count(",") + 1


def measure(options, folder, name, words):
    grid.index_for(words, options.biogpu, timing.run, folder)
    requests = {"one": "0", "several": options.devices}
    calls = {}
    for out, device in requests.items():
        command = grid.command(options.biogpu, words, out, options.threads, device)
        calls[out] = functools.partial(outputs.remove_and_run, command, folder, out)
    runs = timing.take_turns(calls, options.repeats, lambda: outputs.require_equal(folder, name, tuple(requests)))
    medians = {out: timing.medians(runs[out])["wall_s"] for out in requests}
    used = n_used(grid.command(options.biogpu, words, "several", options.threads, options.devices, True), folder)
    return {"name": name, "command": shown(grid.command("biogpu", words, "out", options.threads, options.devices)),
            "runs": runs, "n_used": used, "ratio": medians["several"] / medians["one"],
            "slower": medians["several"] > max(MAX_RATIO * medians["one"], medians["one"] + NOISE_S)}


def rows_of(cases):
    for case in cases:
        medians = [timing.medians(case["runs"][out])["wall_s"] for out in ("one", "several")]
        yield [case["name"], *map(seconds, medians), str(case["n_used"]), f"{case['ratio']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    grid.add_options(parser)
    parser.add_argument("--devices", default="0,1", help="the GPUs to compare with the first alone [0,1]")
    parser.add_argument("--model", type=pathlib.Path, help="a folder with a protein model, for infer embed")
    parser.add_argument("--proteins", type=lambda text: [int(word) for word in text.split(",")], default=[100, 6400])
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_CACHE_HOME"] = os.devnull
        cases = [measure(options, folder, name, words) for name, words in runs_of(folder, options)]
    slower = [case["name"] for case in cases if case["slower"]]
    print("\n".join(table(["run", "one GPU, s", "several, s", "GPUs used", "several / one"], rows_of(cases), "lrrrr")))
    for name in slower:
        print(f"slower than on one GPU by more than {100 * (MAX_RATIO - 1):.0f} %: {name}")
    print(f"{len(slower)} of {len(cases)} runs slower; the worst took "
          f"{times(max((case['ratio'] for case in cases), default=1))} times the time of one GPU")
    if options.json:
        result = {"machine": machine.describe(), "threads": options.threads, "seed": options.seed,
                  "repeats": options.repeats, "devices": options.devices, "date": datetime.date.today().isoformat(),
                  "cases": cases, "slower": slower}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
