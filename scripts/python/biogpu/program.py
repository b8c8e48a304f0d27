"""Runs the program."""
import os
import subprocess
import sys
import warnings

from .installation import program


class BiogpuError(RuntimeError):
    """A run or a call that failed: the program's one line, and its exit code in `code`."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class BiogpuWarning(UserWarning):
    """A warning of a run that did not fail."""


def run(*words, text=None):
    """Runs a command, as run("qc", "-i", "reads.fq.gz", "-o", "clean.fq.gz"); returns what it prints. `text` is its standard input."""
    # Bytes, since names of files and records may have any.
    done = subprocess.run([program(), *(os.fspath(x) if isinstance(x, os.PathLike) else str(x) for x in words)],
                          input=b"" if text is None else os.fsencode(text), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    lines = os.fsdecode(done.stderr).splitlines()
    if done.returncode != 0:
        raise BiogpuError(lines[-1] if lines else f"biogpu ended with {done.returncode}", done.returncode)
    for line in lines:
        if "warning: " in line:
            warnings.warn(line, BiogpuWarning, stacklevel=3)
    return os.fsdecode(done.stdout)


def version():
    """The program's version, as 0.1.0."""
    return run("--version").split()[1]


def option_words(options):
    """Keywords as options: max_memory="2G" is --max-memory=2G, True is an option without a value, None and False are none."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        else:
            values = value if isinstance(value, (list, tuple)) else [value]
            words.append(option + "=" + ",".join(os.fspath(x) if isinstance(x, os.PathLike) else str(x) for x in values))
    return words


def main():
    """The command `biogpu` of a wheel: becomes the program."""
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
