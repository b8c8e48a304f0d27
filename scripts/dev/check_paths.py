#!/usr/bin/env python3
"""Checks that what documents and comments name is there, and that the header of each kernel file is complete.

usage: scripts/dev/check_paths.py [FILE ...]      default: every tracked document, source file and script

Checked:
  paths      words that begin with a folder of the repository, in documents between backticks or in a block, in
             other files in a comment. NAME, or another word in capitals, stands for any name; "*" and "..." too. A
             path without suffix may name the stem of files. "`PATH` of commit HASH" names what is not there now.
  files      names of source files and scripts alone, as `ops.def`, and with some folders, as `cpu/row.hpp`
  names      of functions and types in the pages of DESIGN, such as `align::Options`
  links      of documents, to files and to headings in them
  presets    of CMake: after --preset, and "preset `dev`" or "the `dev` build" in documents
  layers     the table of docs/architecture.md has each folder of apps/, lib/, gpu/ and third_party/, those of lib/
             and gpu/ in the order of check_layers.py
  pages      each page of docs/ is linked from another one
  kernels    the first comment of each kernel file of gpu/ has the fields of KERNEL_FIELDS

Needs git and the checkout alone. Prints FILE:LINE: what is missing; exit status 1 when something is.
"""

import fnmatch
import json
import pathlib
import re
import subprocess
import sys

import check_layers

ROOT = pathlib.Path(__file__).resolve().parents[2]
C_COMMENT = re.compile(r"//(.*)")
SCRIPT_COMMENT = re.compile(r"(?:^|\s)#\s(.*)")
COMMENTS = {".cpp": C_COMMENT, ".hpp": C_COMMENT, ".hip": C_COMMENT, ".c": C_COMMENT, ".h": C_COMMENT, ".def": C_COMMENT,
            ".py": SCRIPT_COMMENT, ".sh": SCRIPT_COMMENT, ".cmake": SCRIPT_COMMENT, ".txt": SCRIPT_COMMENT,
            "": SCRIPT_COMMENT}
# What has changed since its lines were written keeps its names.
HISTORY = ("NEWS.md", "scripts/bench/results/", "tests/data/", "tests/fuzz/corpus/", "docs/models/sources/")
SOURCE_NAME = re.compile(r"[\w.*-]+\.(cpp|hpp|hip|def|sh|py|cmake|awk)$")
WORD = re.compile(r"[\w./*+~$:{}<>-]+")
CODE_SPAN = re.compile(r"`([^`]+)`")
OF_COMMIT = re.compile(r"\s+of commit [0-9a-f]{7,40}\b")
PLACEHOLDER = re.compile(r"(?<![A-Za-z0-9])(?!README|LICENSE|NEWS|CONTRIBUTING|CITATION)[A-Z][A-Z0-9]*(?![A-Za-z0-9])|\.\.\.")
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*)$", re.M)
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
INCLUDED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)
PRESET = re.compile(r"--preset[ =](\w+)")
PRESET_IN_PROSE = re.compile(r"\bpreset `(\w+)`|`(\w+)` build\b")
TREE_ROW = re.compile(r"^\| (`[^|]*`) \|")
KERNEL_FIELDS = ("Shapes", "Mapping", "Traffic", "Result", "Oracle")
# Programs and files of other projects, and those that installing makes.
DESIGN = ("docs/design/", "docs/add_a_", "docs/architecture.md", "CONTRIBUTING.md")
TABLE = re.compile(r"<!-- table begin.*?<!-- table end -->", re.S)
IDENTIFIER = re.compile(r"([A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)(?:<\w+>)?(?:\([^)]*\))?")
OTHERS = {"bgzf_useek", "v_mfma", "predict.py", "protein_mpnn_run.py", "basenji_sad.py", "basenji_sat_bed.py"}
INSTALLED = ("share/", "libexec/", "include/")


def tracked():
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in out.stdout.splitlines() if (ROOT / name).is_file()]


class Tree:
    """What is there: files, folders, stems, presets, and headers of other projects that sources include."""

    def __init__(self, names):
        self.files = set(names)
        self.paths = set(names)
        for name in names:
            self.paths.update(str(folder) for folder in pathlib.PurePosixPath(name).parents)
        self.stems = {re.sub(r"\.[^./]*$", "", path) for path in self.paths}
        self.roots = tuple(path + "/" for path in self.paths if "/" not in path and path not in self.files and path != ".")
        self.base_names = {name.rsplit("/", 1)[-1] for name in names}
        self.presets = {preset["name"] for preset in
                        json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
        self.foreign = set()
        self.words = set()
        for name in names:
            if pathlib.Path(name).suffix in COMMENTS and not name.startswith(HISTORY):
                text = (ROOT / name).read_text(encoding="utf-8")
                self.foreign.update(INCLUDED.findall(text))
                self.words.update(re.findall(r"\w+", text), re.findall(r"\w+", name))

    def has_path(self, path):
        path = path.rstrip("/")
        if path in self.paths or path in self.stems:
            return True
        pattern = PLACEHOLDER.sub("*", path)
        if "*" not in pattern:
            # A stem with endings: row_cpu.cpp and row_gpu.cpp are found as row.
            return any(stem.startswith(path + "_") for stem in self.stems)
        return any(fnmatch.fnmatchcase(known, pattern) for known in self.paths | self.stems)

    def has_name(self, name):
        """A source file's name, alone or with some of its folders."""
        if name in self.foreign or name in self.base_names:
            return True
        pattern = "*/" + PLACEHOLDER.sub("*", name)
        return any(fnmatch.fnmatchcase("/" + known, pattern) for known in self.files)


def missing_in(text, tree):
    """The words of a piece of code or comment that name something of the repository which is not there."""
    for word in WORD.findall(text.replace("<br/>", " ")):
        word = word.strip(".:").removeprefix("./")
        if any(sign in word for sign in "$~{}<>:") or word in OTHERS or word.startswith(INSTALLED):
            continue
        if word.startswith(tree.roots):
            if not tree.has_path(word):
                yield f"no path {word}"
        elif "/" not in word and SOURCE_NAME.fullmatch(word) or re.fullmatch(r"(?:[a-z_]+/)+[\w.-]+\.(cpp|hpp|hip|def)", word):
            if not tree.has_name(word):
                yield f"no file {word}"
    for preset in PRESET.findall(text) if re.search("cmake|ctest|test_preset", text) else ():
        if preset not in tree.presets and not PLACEHOLDER.fullmatch(preset):
            yield f"no preset {preset}"


def document_breaches(name, tree):
    """Code spans, which may go on in the next line, and blocks; not what a run prints."""
    text = (ROOT / name).read_text(encoding="utf-8")
    fence = None
    prose = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            fence = line[3:].strip() or "text" if fence is None else None
            prose.append("")
        elif fence is None:
            prose.append(line)
        else:
            prose.append("")
            if fence != "console":
                yield from ((number, breach) for breach in missing_in(line, tree))
    # Recorded tables keep the names of their time.
    joined = TABLE.sub(lambda block: "\n" * block[0].count("\n"), "\n".join(prose))
    for found in CODE_SPAN.finditer(joined):
        if OF_COMMIT.match(joined, found.end()):
            continue
        number = joined.count("\n", 0, found.start()) + 1
        yield from ((number, breach) for breach in missing_in(found[1], tree))
    for found in CODE_SPAN.finditer(joined) if name.startswith(DESIGN) else ():
        identifier = IDENTIFIER.fullmatch(found[1].strip())
        for word in identifier[1].split("::") if identifier else ():
            is_name = "_" in word or re.search("[a-z][A-Z]", word) or "::" in identifier[1]
            if is_name and word not in tree.words | OTHERS and not PLACEHOLDER.search(word):
                yield joined.count("\n", 0, found.start()) + 1, f"no name {word} in the sources"
    for found in PRESET_IN_PROSE.finditer(joined):
        preset = found[1] or found[2]
        if preset not in tree.presets:
            yield joined.count("\n", 0, found.start()) + 1, f"no preset {preset}"


def anchors(path):
    """The anchors of a page's headings, as code hosts make them; those that come again are not numbered."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def link_breaches(name):
    text = FENCED.sub(lambda block: "\n" * block[0].count("\n"), (ROOT / name).read_text(encoding="utf-8"))
    for found in LINK.finditer(text):
        target, anchor = found.groups()
        path = (ROOT / name).parent / target if target else ROOT / name
        if "://" in target or target.startswith("mailto:"):
            continue
        number = text.count("\n", 0, found.start()) + 1
        if not path.exists():
            yield number, f"no file {target} for this link"
        elif anchor and anchor not in anchors(path):
            yield number, f"no heading #{anchor} in {target or name}"


def comment_breaches(name, tree):
    """Paths alone: a comment may tell of other files, such as those that it writes."""
    comment = COMMENTS[pathlib.Path(name).suffix]
    for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), start=1):
        found = comment.search(line)
        for breach in missing_in(found[1], tree) if found else ():
            if breach.startswith(("no path", "no preset")):
                yield number, breach


def kernel_breaches(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.startswith("gpu/rt/") or name.startswith("gpu/prim/") and "__global__" not in text:
        return  # Handles of the runtime and calls of the vendors' primitives.
    header = text[:re.search(r"^(?!//)", text, re.M).start()]
    for field in KERNEL_FIELDS:
        if not re.search(rf"^// (\w+, )*{field}\b", header, re.M):
            yield 1, f"the header has no field {field}"


def layer_breaches(tree):
    """The table of folders: complete, and in the order in which includes may point."""
    lines = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").splitlines()
    rows = [(number, re.findall(r"`([^`]+)`", found[1])) for number, line in enumerate(lines, start=1)
            if (found := TREE_ROW.match(line))]
    for root, layers in (("lib", check_layers.LIB_LAYER), ("gpu", check_layers.GPU_LAYER)):
        above = max(layers.values())
        for number, folders in rows:
            own = [folder.split("/")[1] for folder in folders if re.fullmatch(rf"{root}/\w+", folder)]
            for folder in own:
                layer = layers.get(folder)
                if layer is None:
                    yield number, f"{root}/{folder} has no layer in scripts/dev/check_layers.py"
                elif layer > above:
                    yield number, f"{root}/{folder} lies above the folders listed before it"
                else:
                    above = layer


    listed = {folder for _, folders in rows for folder in folders}
    there = {"/".join(path.split("/")[:2]) for path in tree.files
             if path.startswith(("apps/", "lib/", "gpu/", "third_party/")) and path.count("/") > 1}
    yield from ((1, f"{folder} is not in the table of folders") for folder in sorted(there - listed))


def unlinked(names):
    """Pages that no other page leads to; a link to a folder leads to none."""
    linked = set()
    for name in names:
        if name.endswith(".md"):
            for target, _ in LINK.findall((ROOT / name).read_text(encoding="utf-8")):
                path = ((ROOT / name).parent / target).resolve()
                if target and "://" not in target and path != (ROOT / name).resolve():
                    linked.add(path)
    return [name for name in names if name.startswith("docs/") and name.endswith(".md")
            and (ROOT / name).resolve() not in linked]


def breaches(name, tree):
    if name.startswith(HISTORY):
        return
    suffix = pathlib.Path(name).suffix
    if suffix == ".md":
        yield from document_breaches(name, tree)
        yield from link_breaches(name)
    elif suffix in COMMENTS:
        yield from comment_breaches(name, tree)
    if name.startswith("gpu/") and suffix == ".hip":
        yield from kernel_breaches(name)
    if name == "docs/architecture.md":
        yield from layer_breaches(tree)


def main():
    known = tracked()
    tree = Tree(known)
    names = sys.argv[1:] or known
    n_breaches = 0
    for name in names:
        for number, breach in breaches(name, tree):
            print(f"{name}:{number}: {breach}")
            n_breaches += 1
    for name in unlinked(known):
        print(f"{name}:1: no page links to this one")
        n_breaches += 1
    print(f"check_paths: {len(names)} files, {n_breaches} breaches")
    return 1 if n_breaches else 0


if __name__ == "__main__":
    sys.exit(main())
