#!/usr/bin/env python3
"""The stages of every command next to the limits of the host.

Runs each command on inputs of --sizes with -v, reads the table of stages of the run of median time, and measures the host
with `biogpu-bench limits --host-only`. JSON (--json) has both; scripts/dev/tables.py makes the tables of docs/benchmarks/stages.md.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import grid, machine, timing  # noqa: E402
from measure.bench_tables import stages  # noqa: E402
from measure.text import shown  # noqa: E402

KEYS = ("threads", "wall_s", "busy_s", "wait_s", "megabytes", "rate")


def parse(log):
    """The stages of a table that -v printed: a dictionary a stage, None for what was not measured."""
    lines = [re.sub(r"^\[[^]]*\] ", "", line) for line in log.splitlines() if line.startswith("[biogpu")]
    heads = [number for number, line in enumerate(lines) if re.match(r"stage +threads +wall s", line)]
    if not heads:
        sys.exit("stages.py: no table of stages in the log of a run")
    found = []
    for line in lines[heads[-1] + 1:]:
        match = re.match(r"(\S+(?: \S+)*?)  +(\d+)  +(\S+)  +(\S+)  +(\S+)  +(\S+)  +(\S+)  (.+)$", line)
        if not match:
            break
        name, *numbers, waits_for = match.groups()
        values = [None if number == "-" else float(number) for number in numbers]
        found.append({"name": name, **dict(zip(KEYS, values)), "waits_for": "" if waits_for == "-" else waits_for})
    return found


def measure(options, folder, name, words):
    grid.index_for(words, options.biogpu, timing.run, folder)
    command = grid.command(options.biogpu, words, "out", options.threads, options.device, True)
    logs = []
    for turn in range(options.repeats + 1):
        for former in folder.glob("out[._]*"):
            former.unlink()
        begin = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        wall_s = time.perf_counter() - begin
        if done.returncode != 0:
            sys.exit(f"stages.py: {shown(command)}: status {done.returncode}: {done.stderr[-300:]}")
        if turn > 0:  # the first warms the caches
            logs.append((wall_s, done.stderr))
    wall_s, log = sorted(logs)[len(logs) // 2]
    return {"name": name, "command": shown(grid.command("biogpu", words, "out", options.threads, options.device)),
            "wall_s": wall_s, "stages": parse(log)}


def limits(options, folder):
    path = folder / "limits.json"
    subprocess.run([options.bench, "limits", "--host-only", "-t", str(options.threads), "--json", path], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(path.read_text(encoding="utf-8"))["figures"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    grid.add_options(parser)
    parser.add_argument("--bench", type=os.path.abspath, required=True, help="biogpu-bench")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_CACHE_HOME"] = str(folder.resolve() / "cache")
        result = {"machine": machine.describe(), "threads": options.threads, "device": options.device,
                  "seed": options.seed, "repeats": options.repeats, "date": datetime.date.today().isoformat(),
                  "limits": limits(options, folder),
                  "runs": [measure(options, folder, name, words) for name, words in grid.runs(folder, options)]}
    print("\n".join(stages(result)))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
