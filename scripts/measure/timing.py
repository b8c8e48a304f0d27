"""Runs programs in turns and keeps wall time, CPU time and peak memory of every run.

hyperfine, which times one program's runs one after the other, does not fit: what else a machine does changes
over minutes, and would be counted against one of two programs. In turns it meets both.
"""

import os
import pathlib
import statistics
import subprocess
import tempfile
import time

KEYS = ("wall_s", "cpu_s", "peak_bytes")


class Failed(RuntimeError):
    """A program that was to be measured ended with another status than 0."""


def run(command, folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL):
    """Runs a command in a folder. The figures are the kernel's for that process and its children."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        child = subprocess.Popen(words, cwd=folder, stdin=stdin, stdout=stdout, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(0)
            message = errors.read().decode(errors="replace").strip()[-800:]
            raise Failed(f"{' '.join(words)}: status {child.returncode}: {message}")
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}


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
