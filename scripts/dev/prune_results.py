#!/usr/bin/env python3
"""Keeps of the results in scripts/bench/results what tables and plots read, and what tells where a result is from.

usage: scripts/dev/prune_results.py [--check]

Run it after a new result has its table. Kept besides are numbers and texts of the outermost level, KEPT (the machine and
versions), and CITED, what sentences of the documentation are written from. --check changes nothing and fails where a
result holds more, or where nothing reads it. The rest of a result is in the history of its file.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from bench import plots  # noqa: E402
from measure import pages, result_files  # noqa: E402
from measure.programs import ROOT  # noqa: E402

KEPT = {"machine", "versions"}
# File: the keys of any level that sentences rest on.
CITED = {"infer_gpu.json": {"proteome", "power"}, "infer_gpu_3B.json": {"power"}, "random_runs.json": {"seed", "run"},
         "bwt_human.jsonl": {"what", "wall_s"}, "kernel_resources.jsonl": {"name", "sgprs", "scratch_bytes", "vgprs_spilled"},
         "cases.json": {"case", "why", "kernels"}, "blocks.json": {"name", "threads", "local_bytes", "n", "c"}}


class Document(dict):
    """An object that notes which of its keys are read."""

    def __init__(self, value):
        super().__init__({key: watched(item) for key, item in value.items()})
        self.read = set()

    def __getitem__(self, key):
        self.read.add(key)
        return super().__getitem__(key)

    def __contains__(self, key):
        self.read.add(key)
        return super().__contains__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __iter__(self):
        self.read.update(super().keys())
        return super().__iter__()

    def __len__(self):
        self.read.update(super().keys())
        return super().__len__()

    def keys(self):
        self.read.update(super().keys())
        return super().keys()

    def values(self):
        self.read.update(super().keys())
        return super().values()

    def items(self):
        self.read.update(super().keys())
        return super().items()


def watched(value):
    if isinstance(value, dict):
        return Document(value)
    return [watched(item) for item in value] if isinstance(value, list) else value


def plain(value):
    """All of it, read or not."""
    if isinstance(value, Document):
        return {key: plain(item) for key, item in dict.items(value)}
    return [plain(item) for item in value] if isinstance(value, list) else value


def pruned(value, cited, outermost=False):
    if isinstance(value, list):
        return [pruned(item, cited) for item in value]
    if not isinstance(value, Document):
        return value
    kept = {}
    for key, item in dict.items(value):
        nested = isinstance(item, (Document, list))
        if key in cited or outermost and (key in KEPT or not nested):
            kept[key] = plain(item)
        elif key in value.read:
            kept[key] = pruned(item, cited)
    return kept


def read_all():
    """Makes every table and plot; returns the documents that they loaded by their names."""
    loaded = {}

    def load(name):
        if name not in loaded:
            loaded[name] = watched(original(name))
        return loaded[name]

    original, result_files.load = result_files.load, load
    try:
        for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
            pages.fill(path.read_text(encoding="utf-8"))
        for draw in plots.PLOTS.values():
            draw()
    finally:
        result_files.load = original
    return loaded


def main():
    check = "--check" in sys.argv[1:]
    loaded = read_all()
    n_wrong = 0
    for path in sorted(result_files.FOLDER.rglob("*.json*")):
        name = str(path.relative_to(result_files.FOLDER))
        cited = CITED.get(path.name, set())
        if name not in loaded and not cited:
            n_wrong += 1
            print(f"{path}: no table or plot reads it; remove it, with its line in the folder's README.md")
            continue
        value = pruned(loaded.get(name) or watched(result_files.load(name)), cited, outermost=True)
        text = result_files.text_of(name, value)
        if text == path.read_text(encoding="utf-8"):
            continue
        if check:
            n_wrong += 1
            print(f"{path}: holds more than tables, plots and pages read, or in another form: run prune_results.py")
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
