#!/usr/bin/env python3
"""Checks that includes point down the tree, that sub-folders of one folder do not include each other in a
cycle, and that vendors stay in their places.

usage: scripts/dev/check_layers.py [FILE ...]      default: every tracked source file

Prints FILE:LINE: what is wrong, for each breach; exit status 1 when there is one. Cycles are looked for
over all tracked files, when no FILE is given.
"""

import collections
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIXES = {".cpp", ".hpp", ".hip", ".c", ".h"}

# A file below the folder on the left may include only what begins with a prefix on the right.
MAY_INCLUDE = {
    "apps/biogpu/": ("apps/biogpu/", "lib/"),
    "apps/biogpu-bench/": ("apps/biogpu-bench/", "lib/", "gpu/"),
    "lib/": ("lib/", "gpu/"),
    "gpu/": ("gpu/",),
    "tests/": ("tests/", "apps/", "lib/", "gpu/", "third_party/"),
    "scripts/": ("scripts/", "lib/", "tests/"),
    "third_party/": ("third_party/",),
}
# Inside lib/ a folder may include itself and those of a lower number: no algorithm includes another.
LIB_LAYER = {"core": 0, "io": 1, "structure": 2, "pipeline": 2, "bio": 3, "report": 3, "align": 4, "kmer": 4, "bwt": 4, "qc": 4,
             "tensor": 4, "ops": 5, "decode": 6, "models": 7, "lab": 8, "tasks": 8, "gpu_backend": 9, "c_api": 10}
# The only files of lib/ that know gpu/; a build without a GPU leaves them out.
GPU_SIDE_OF_LIB = re.compile(r"^lib/(gpu_backend/|.*_gpu(_\w+)?\.[ch]pp$)")
# Inside gpu/: the same.
GPU_LAYER = {"rt": 0, "prim": 1, "roofline": 2, "align": 2, "kmer": 2, "bwt": 2, "qc": 2, "ops": 2,
             "models": 3}
# Headers of lib/ that gpu/ may include: these, and those of operations and models that include nothing but the standard
# library and such headers, as the arguments of operations.
PLAIN_HEADER = re.compile(r"^lib/(core/(object_pool|philox)|qc/steps/trim_result|tensor/(tensor|ragged|linear|precision|kernel_use|tuning/tile_table))\.hpp$")
MAY_BE_PLAIN = re.compile(r"^lib/(ops|models)/.*\.hpp$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
VENDOR_HEADER = re.compile(r"^(hip/|hip_|cuda|cub/|hipcub|rocprim|thrust/|rocm|hsa/|nv/|cooperative_groups)")
# Headers of the vendors' primitives come in through one file of gpu/prim each. without_biogpu.hip shows that a system's
# HIP works without anything of ours.
MAY_NAME_VENDOR = re.compile(
    r"^(gpu/rt/hip\.hpp|gpu/prim/[a-z_]+\.(hip|hpp)|third_party/|tests/rocm/without_biogpu\.hip)")
OWN_ROOTS = ("apps/", "lib/", "gpu/", "tests/", "scripts/", "third_party/")

# Spellings that tie a kernel file to one vendor; gpu/prim holds what differs, behind named functions.
KERNEL_BREACHES = (
    (re.compile(r"\bcuda[A-Z_]\w*|\bcu[A-Z][a-z]\w*\("), "a CUDA name; use the HIP one"),
    (re.compile(r"\b__(shfl|shfl_up|shfl_down|shfl_xor|ballot|any|all|syncwarp)(_sync)?\s*\("),
     "a raw wave operation; use gpu/prim/wave"),
    (re.compile(r"<<<"), "a triple-chevron launch; use stream.launch"),
    (re.compile(r"#\s*(el)?if.*\b(__CUDA\w*|__HIP\w*|__NVCC__|__AMDGCN__|__GFX\w*|__gfx\w*"
                r"|BIOGPU_GPU_(CUDA|ROCM|EMULATED))"), "a vendor #if; put the difference in gpu/prim or gpu/rt"),
    (re.compile(r"#\s*ifn?def\s+(__CUDA\w*|__HIP\w*|__NVCC__|__AMDGCN__|BIOGPU_GPU_\w+)"),
     "a vendor #ifdef; put the difference in gpu/prim or gpu/rt"),
    (re.compile(r"\basm\s*(volatile)?\s*\("), "inline assembly; it belongs in gpu/prim"),
    (re.compile(r"\bwarpSize\b"), "warpSize is no constant on AMD; the wave width is a template parameter"),
)
DEVICE_CODE = re.compile(r"\b__(global|device|shared)__\b")


def tracked_files():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in out.stdout.splitlines() if pathlib.Path(name).suffix in SUFFIXES]


def without_comments(text):
    """Blanks comments and keeps the lines, so that prose may name what code may not."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


@functools.cache
def is_plain(header):
    """Whether a header of lib/ includes nothing but the standard library and plain headers."""
    if PLAIN_HEADER.match(header):
        return True
    if not MAY_BE_PLAIN.match(header) or not (ROOT / header).exists():
        return False
    includes = [INCLUDE.match(line) for line in without_comments((ROOT / header).read_text()).splitlines()]
    return all(found[1] == "<" and "/" not in found[2] or is_plain(found[2]) for found in includes if found)


def layer_breach(name, header):
    """An include inside lib/ or gpu/ that points up or sideways, or from lib/ to gpu/ in the wrong file."""
    if name.startswith("lib/") and header.startswith("gpu/") and not GPU_SIDE_OF_LIB.match(name):
        return f'only lib/gpu_backend and *_gpu.* may include "{header}"'
    for root, layers in (("lib/", LIB_LAYER), ("gpu/", GPU_LAYER)):
        if not (name.startswith(root) and header.startswith(root)):
            continue
        includer, included = name.split("/")[1], header.split("/")[1]
        for folder in (includer, included):
            if folder not in layers:
                return f"{root}{folder} has no layer; give it one in scripts/dev/check_layers.py"
        if includer != included and layers[included] >= layers[includer]:
            return f'{root}{includer} must not include "{header}": it does not lie below'
    return None


def include_breach(name, bracket, header):
    top = name.split("/", 1)[0]
    if VENDOR_HEADER.match(header) and not MAY_NAME_VENDOR.match(name):
        return f"vendor header <{header}>; include gpu/rt/hip.hpp"
    if bracket == "<":
        return None
    if not header.startswith(OWN_ROOTS):
        if top == "third_party":
            return None
        return f'"{header}" is not a path from the repository\'s root'
    if name.startswith("gpu/") and is_plain(header):
        return None
    for folder, allowed in MAY_INCLUDE.items():
        if name.startswith(folder) and not header.startswith(allowed):
            return f'{folder} must not include "{header}"'
    return layer_breach(name, header)


def breaches(name):
    code = without_comments((ROOT / name).read_text())
    kernel_file = name.startswith("gpu/") and not name.startswith(("gpu/prim/", "gpu/rt/"))
    for number, line in enumerate(code.splitlines(), start=1):
        found = INCLUDE.match(line)
        if found:
            breach = include_breach(name, *found.groups())
            if breach:
                yield number, breach
            continue
        if kernel_file:
            for pattern, breach in KERNEL_BREACHES:
                if pattern.search(line):
                    yield number, breach
        if name.startswith(("lib/", "apps/")) and DEVICE_CODE.search(line):
            yield number, "device code outside gpu/"


def node_below(folder, name):
    """What a file belongs to among the parts of a folder: a sub-folder "folder/sub/", or else its own stem."""
    parts = name[len(folder) + 1:].split("/")
    return f"{folder}/{parts[0]}/" if len(parts) > 1 else f"{folder}/{parts[0].split('.')[0]}"


def include_graphs(names):
    """For each folder of the product, which of its parts include which, and one include as the example."""
    graphs = collections.defaultdict(lambda: collections.defaultdict(dict))
    for name in names:
        for line in without_comments((ROOT / name).read_text()).splitlines():
            found = INCLUDE.match(line)
            if not found or not found.group(2).startswith(("apps/", "lib/", "gpu/")):
                continue
            folders = zip(name.split("/")[:-1], found.group(2).split("/")[:-1])
            common = []
            for ours, theirs in folders:
                if ours != theirs:
                    break
                common.append(ours)
            if len(common) < 2:  # between the folders of lib/ and gpu/ the tables above decide
                continue
            folder = "/".join(common)
            includer, included = node_below(folder, name), node_below(folder, found.group(2))
            if includer != included:
                graphs[folder][includer].setdefault(included, f'{name} includes "{found.group(2)}"')
    return graphs


def shortest_way(graph, start, end):
    """The parts from start to end, both included; None where no includes lead there."""
    ways = collections.deque([[start]])
    seen = {start}
    while ways:
        way = ways.popleft()
        for part in sorted(graph.get(way[-1], ())):
            if part == end:
                return way + [part]
            if part not in seen:
                seen.add(part)
                ways.append(way + [part])
    return None


def cycle_breaches(names):
    """Cycles among the parts of a folder in which a sub-folder takes part, each told once."""
    graphs = include_graphs(names)
    for folder, graph in sorted(graphs.items()):
        told = set()
        for part in sorted(graph):
            way = shortest_way(graph, part, part) if part.endswith("/") and part not in told else None
            if not way:
                continue
            told.update(way)
            steps = "; ".join(graph[a][b] for a, b in zip(way, way[1:]))
            yield f"{folder}: its parts include each other in a cycle: {steps}"


def main():
    names = sys.argv[1:] or tracked_files()
    n_breaches = 0
    if not sys.argv[1:]:
        sources = [name for name in names if name.startswith(("apps/", "lib/", "gpu/"))]
        for breach in cycle_breaches(sources):
            print(breach)
            n_breaches += 1
    for name in names:
        for number, breach in breaches(name):
            print(f"{name}:{number}: {breach}")
            n_breaches += 1
    print(f"check_layers: {len(names)} files, {n_breaches} breaches")
    return 1 if n_breaches else 0


if __name__ == "__main__":
    sys.exit(main())
