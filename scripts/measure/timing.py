"""Runs programs in turns and keeps wall time, CPU time and peak memory of every run.

hyperfine, which times one program's runs one after the other, does not fit: what else a machine does changes
over minutes, and would be counted against one of two programs. In turns it meets both.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

RUN_ONE = pathlib.Path(__file__).with_name("run_one.py")


class Failed(RuntimeError):
    """A program that was to be measured ended with another status than 0."""


def idle_input():
    """Standard input that is never readable: parasail_aligner takes any that is for queries."""
    if not hasattr(idle_input, "pipe"):
        idle_input.pipe = os.pipe()  # both ends stay open
    return idle_input.pipe[0]


def run(command, folder, stdout=subprocess.DEVNULL):
    """Runs a command in a folder. The figures are the kernel's for that process and its children."""
    words = [str(word) for word in command]
    with tempfile.NamedTemporaryFile("r", encoding="ascii") as figures, tempfile.TemporaryFile() as errors:
        subprocess.run([sys.executable, "-S", "-E", str(RUN_ONE), figures.name, *words], cwd=folder,
                       stdin=idle_input(), stdout=stdout, stderr=errors, check=False)
        fields = figures.read().split()
        if not fields or fields[0] != "0":
            errors.seek(0)
            message = errors.read().decode(errors="replace").strip()[-800:]
            raise Failed(f"{' '.join(words)}: status {fields[0] if fields else 'unknown'}: {message}")
    return {"wall_s": float(fields[1]), "cpu_s": float(fields[2]), "peak_bytes": int(fields[3])}


def run_to_file(command, folder, name):
    """The same with standard output in a file of the folder."""
    with open(pathlib.Path(folder) / name, "wb") as out:
        return run(command, folder, stdout=out)


def take_turns(programs, repeats, after_first=None):
    """Calls every program's function once a turn; after the first turn after_first(), which may raise.

    programs maps names to functions that return the figures of one run. The first turn warms the caches
    and is not kept. Returns the runs of each name.
    """
    runs = {name: [] for name in programs}
    for turn in range(repeats + 1):
        for name, call in programs.items():
            figures = call()
            if turn > 0:
                runs[name].append(figures)
        if turn == 0 and after_first is not None:
            after_first()
    return runs


def spread(runs, key="wall_s"):
    """Median, lowest and highest of a figure."""
    values = [figures[key] for figures in runs]
    return statistics.median(values), min(values), max(values)


def medians(runs):
    return {key: statistics.median(figures[key] for figures in runs) for key in runs[0]}
