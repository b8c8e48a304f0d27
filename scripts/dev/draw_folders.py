#!/usr/bin/env python3
"""Draws which folder includes which: the Mermaid drawing of docs/architecture.md, from the includes of the sources.

usage: scripts/dev/draw_folders.py [--check]

An arrow that follows from others (a includes b, b includes c) is left out. Folders with the same arrows share a box.
The files of lib/ that know gpu/ have one dotted arrow. --check changes nothing and fails where the drawing differs.
"""

import collections
import re
import sys

import check_layers

PAGE = check_layers.ROOT / "docs/architecture.md"
BLOCK = re.compile(r"(<!-- drawing begin: folders -->\n).*?(<!-- drawing end -->)", re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def folder_of(name):
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] in ("apps", "lib", "gpu") and len(parts) > 2 else None


def includes():
    """folder -> the folders that its files include; between lib/ and gpu/ see main()."""
    arrows = collections.defaultdict(set)
    for name in check_layers.tracked_files():
        folder = folder_of(name)
        if folder is None or check_layers.GPU_SIDE_OF_LIB.match(name):
            continue
        arrows[folder]  # A folder without arrows is drawn, too.
        for header in INCLUDE.findall((check_layers.ROOT / name).read_text(encoding="utf-8")):
            other = folder_of(header)
            if other and other != folder and not (folder.startswith("gpu/") and other.startswith("lib/")):
                arrows[folder].add(other)
                arrows[other]
    return arrows


def reduced(arrows):
    """Without the arrows that follow from others."""
    def below(folder):
        return arrows[folder].union(*(below(other) for other in arrows[folder]))

    return {folder: {other for other in others if not any(other in below(third) for third in others)}
            for folder, others in arrows.items()}


def boxes(arrows):
    """[(folders, folders that they point to)]: those with the same arrows in and out together."""
    groups = collections.defaultdict(list)
    for folder in sorted(arrows):
        sources = frozenset(other for other, targets in arrows.items() if folder in targets)
        groups[folder.split("/")[0], sources, frozenset(arrows[folder])].append(folder)
    return [(folders, sorted(targets)) for (_, _, targets), folders in groups.items()]


def drawing():
    found = boxes(reduced(includes()))
    name = {folder: folders[0].replace("/", "_").replace("-", "_") for folders, _ in found for folder in folders}
    lines = ["```mermaid", "flowchart TB"]
    for root in ("apps", "lib", "gpu"):
        lines.append(f"  subgraph {root}")
        lines += [f'    {name[folders[0]]}["{", ".join(folders)}"]' for folders, _ in found
                  if folders[0].startswith(root + "/")]
        lines.append("  end")
    lines += [f"  {name[folders[0]]} --> {target}" for folders, targets in found
              for target in sorted({name[target] for target in targets})]
    return "\n".join([*lines, '  lib -. "lib/gpu_backend and *_gpu.*" .-> gpu', "```", ""])


def main():
    text = PAGE.read_text(encoding="utf-8")
    new = BLOCK.sub(lambda found: found[1] + drawing() + found[2], text)
    if not BLOCK.search(text):
        sys.exit(f"draw_folders.py: {PAGE} has no markers")
    if new != text:
        if "--check" in sys.argv[1:]:
            sys.exit("draw_folders.py: the drawing of docs/architecture.md is not that of the includes: run it without --check")
        PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
