#!/usr/bin/env python3
"""Checks that source files and folders of apps/, lib/ and gpu/ keep a size that can be read.

usage: scripts/dev/check_sizes.py

A file has at most MAX_LINES lines, a folder at most MAX_STEMS stems: a source file and its header count as one, as do
the CPU, GPU and reference versions of one. LARGER has what is larger still; its numbers may only become smaller.
"""

import collections
import pathlib
import re
import sys

import check_layers

MAX_LINES = 400
MAX_STEMS = 20
LARGER = {"gpu/prim": 21, "lib/bwt/smem/smem_search.cpp": 437, "lib/core": 22}
VERSION = re.compile(r"(_cpu|_gpu|_ref|_bench|-inl)$")


def main():
    names = [name for name in check_layers.tracked_files() if name.startswith(("apps/", "lib/", "gpu/"))
             and (check_layers.ROOT / name).is_file()]
    sizes, stems = {}, collections.defaultdict(set)
    for name in names:
        n_lines = len((check_layers.ROOT / name).read_text(encoding="utf-8").splitlines())
        if n_lines > MAX_LINES:
            sizes[name] = n_lines
        path = pathlib.PurePosixPath(name)
        stems[str(path.parent)].add(VERSION.sub("", path.stem))
    sizes.update({folder: len(found) for folder, found in stems.items() if len(found) > MAX_STEMS})
    n_breaches = 0
    for name in sorted(sizes.keys() | LARGER.keys()):
        size, allowed = sizes.get(name, 0), LARGER.get(name, 0)
        if size > allowed:
            n_breaches += 1
            what, limit = ("lines", MAX_LINES) if name in names else ("stems", MAX_STEMS)
            print(f"{name}: {size} {what}, more than {allowed or limit}")
        elif size < allowed:
            print(f"{name}: smaller than LARGER in scripts/dev/check_sizes.py says: {size or 'within the limits'}")
    print(f"check_sizes: {len(names)} files, {n_breaches} breaches")
    return 1 if n_breaches else 0


if __name__ == "__main__":
    sys.exit(main())
