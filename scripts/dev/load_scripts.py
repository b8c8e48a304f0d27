#!/usr/bin/env python3
"""Loads Python scripts of models without running them, to find names and modules of ours that are not there.

usage: scripts/dev/load_scripts.py FILE ...      with a Python that has numpy, safetensors, torch and transformers

A script whose other packages are not installed is reported as skipped.
"""

import importlib.util
import os
import pathlib
import sys

import numpy  # noqa: F401  # once for all scripts, each of which is loaded in a fork
import safetensors  # noqa: F401
import torch  # noqa: F401
import transformers  # noqa: F401

OURS = {path.stem for path in pathlib.Path(__file__).resolve().parents[1].rglob("*.py")} | {"measure"}


def load(name):
    """The exit status of a process that loads the script."""
    sys.path.insert(0, str(pathlib.Path(name).resolve().parent))
    spec = importlib.util.spec_from_file_location("script", name)
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    except ModuleNotFoundError as error:
        if error.name.split(".")[0] not in OURS:
            print(f"{name}: SKIPPED, {error}", flush=True)
            return 0
        print(f"{name}: {error}", flush=True)
        return 1
    except Exception as error:  # a script may raise any of them while it is loaded
        print(f"{name}: {type(error).__name__}: {error}", flush=True)
        return 1
    return 0


def main():
    n_failed = 0
    for name in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            os._exit(load(name))
        n_failed += os.waitpid(child, 0)[1] != 0
    print(f"{len(sys.argv) - 1} scripts, {n_failed} do not load")
    return 1 if n_failed or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
