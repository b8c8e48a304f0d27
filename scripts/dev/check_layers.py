#!/usr/bin/env python3
"""Checks that includes point down the tree and that vendors stay in their places.

usage: scripts/dev/check_layers.py [FILE ...]      default: every tracked source file

Prints FILE:LINE: what is wrong, for each breach; exit status 1 when there is one.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIXES = {".cpp", ".hpp", ".hip", ".c", ".h"}

# A file of the folder on the left may include only what begins with a prefix on the right.
# lib/*_gpu.cpp and gpu/ meet through lib's plain headers, so gpu/ may read those.
MAY_INCLUDE = {
    "apps": ("apps/", "lib/", "gpu/"),
    "lib": ("lib/", "gpu/"),
    "gpu": ("gpu/", "lib/core/", "lib/align/"),
    "tests": ("tests/", "apps/", "lib/", "gpu/", "third_party/"),
    "scripts": ("scripts/", "lib/", "tests/"),
    "third_party": ("third_party/",),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
VENDOR_HEADER = re.compile(r"^(hip/|hip_|cuda|cub/|hipcub|rocprim|thrust/|rocm|hsa/|nv/|cooperative_groups)")
# Headers of the vendors' primitives come in through one file of gpu/prim each.
MAY_NAME_VENDOR = re.compile(r"^(gpu/rt/hip\.hpp|gpu/prim/[a-z_]+\.(hip|hpp)|third_party/)")
OWN_ROOTS = tuple(MAY_INCLUDE)

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
    if top in MAY_INCLUDE and not header.startswith(MAY_INCLUDE[top]):
        return f'{top}/ must not include "{header}"'
    return None


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


def main():
    names = sys.argv[1:] or tracked_files()
    n_breaches = 0
    for name in names:
        for number, breach in breaches(name):
            print(f"{name}:{number}: {breach}")
            n_breaches += 1
    print(f"check_layers: {len(names)} files, {n_breaches} breaches")
    return 1 if n_breaches else 0


if __name__ == "__main__":
    sys.exit(main())
