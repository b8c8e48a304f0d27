#!/usr/bin/env python3
"""Checks that the small models of the tests are what scripts/reference makes today.

usage: scripts/dev/check_test_models.py [WORD ...] [--models FOLDER]

Runs the commands of tests/data/models/README.md that have one of the words, all without, in a new folder, and compares what
they write with the files there, or in another FOLDER: weights, texts and pictures by bytes, vectors and JSON within TOLERANCE of a tensor's
largest number, as other versions of PyTorch round in another way. A command whose packages are not installed is named and left
out; exit status 77 where all are, 1 where a file differs. Needs numpy and safetensors.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import safetensors.numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests/data/models"
TOLERANCE = 2e-6


def commands(words):
    rows = re.findall(r"^\| .* \| `(\w+\.py [^`]*)` \|$", (MODELS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [row.split() for row in rows if not words or any(word in row for word in words)]


def run(command, folder):
    """False where a package is missing."""
    script, *arguments = command
    done = subprocess.run([sys.executable, ROOT / "scripts/reference" / script, *arguments], cwd=folder, capture_output=True,
                          text=True, check=False)
    missing = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", done.stderr)
    if missing:
        print(f"left out: {' '.join(command)}: needs {missing[1]}")
        return False
    if done.returncode != 0:
        sys.exit(f"check_test_models.py: {' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return True


def numbers(value):
    if isinstance(value, dict):
        return [number for key in sorted(value) if key != "origin" for number in numbers(value[key])]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [value]


def json_tensors(path):
    """Numbers of a file as one tensor, and everything else."""
    values = numbers(json.loads(path.read_text(encoding="utf-8")))
    is_number = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in values]
    return ({"numbers": numpy.array([value for value, told in zip(values, is_number) if told], dtype=float)},
            [value for value, told in zip(values, is_number) if not told])


def difference(made, kept):
    """What differs, or None."""
    if made.read_bytes() == kept.read_bytes():
        return None
    if made.name == "model.safetensors" or made.suffix not in (".safetensors", ".json"):
        return "other bytes"
    if made.suffix == ".json":
        (a, texts), (b, other_texts) = json_tensors(made), json_tensors(kept)
        if texts != other_texts:
            return "other texts"
    else:
        a, b = safetensors.numpy.load_file(made), safetensors.numpy.load_file(kept)
    if a.keys() != b.keys() or any(a[name].shape != b[name].shape for name in a):
        return "other tensors"
    for name in a:
        apart = numpy.abs(a[name].astype(float) - b[name].astype(float)).max(initial=0)
        if not apart <= TOLERANCE * numpy.abs(b[name]).max(initial=0):
            return f"{name} differs by {apart:.3g}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", metavar="WORD", nargs="*")
    parser.add_argument("--models", metavar="FOLDER", type=pathlib.Path, default=MODELS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not [command for command in commands(options.words) if run(command, folder)]:
            sys.exit(77)
        found = 0
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in files:
            kept = options.models / path.relative_to(folder)
            what = difference(path, kept) if kept.exists() else "is not there"
            if what:
                found += 1
                print(f"{path.relative_to(folder)}: {what}")
    print(f"check_test_models: {len(files)} files, {found} differ")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
