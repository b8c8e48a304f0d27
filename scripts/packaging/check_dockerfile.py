#!/usr/bin/env python3
"""The rules of a linter for Dockerfiles that matter here, where none is packaged.

usage: check_dockerfile.py DOCKERFILE

Instructions are known and in order; every stage that is named exists before its use; bases have a tag
other than latest; what COPY takes from the source is there; apt-get installs without questions and
recommended packages and leaves no lists in an image that is run; no sudo, no ADD; such an image has the labels
that registries show and ends as a user other than root with a CMD in JSON form.
"""
import json
import re
import sys
from pathlib import Path

KNOWN = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "LABEL", "USER", "CMD"}
LABELS = ("title", "description", "version", "licenses", "source", "revision")


def instructions(text):
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M)
    text = text.replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word, " ".join(rest.split())


def base_faults(rest, arguments, stages):
    match = re.fullmatch(r"(\S+) AS (\S+)", rest)
    if not match:
        yield f"FROM {rest}: expected a name for the stage"
        return
    base = re.sub(r"\$\{(\w+)\}", lambda name: arguments.get(name[1], ""), match[1])
    if base not in stages and not re.fullmatch(r"[\w./-]+:(?!latest)[\w.-]+", base):
        yield f"FROM {base or match[1]}: expected a tag other than latest"


def run_faults(rest, is_run):
    if "sudo" in rest.split():
        yield "RUN: sudo in an image"
    if "apt-get install" in rest:
        for needed in ("apt-get update", " -y", "--no-install-recommends"):
            if needed not in rest:
                yield f"RUN apt-get install: expected {needed.strip()}"
        if is_run and "rm -rf /var/lib/apt/lists/*" not in rest:
            yield "RUN apt-get install: leaves its lists in the image"


def faults(path, root):
    arguments, stages = {}, {}
    name = None
    for word, rest in instructions(path.read_text()):
        if word not in KNOWN:
            yield f"{word}: not an instruction to use here"
        elif word == "ARG":
            key, _, value = rest.partition("=")
            if name is None:
                arguments[key] = value
        elif word == "FROM":
            yield from base_faults(rest, arguments, stages)
            name = rest.split()[-1]
            if name in stages:
                yield f"FROM: a second stage {name}"
            stages[name] = {}
        elif name is None:
            yield f"{word} before FROM"
        elif word == "COPY":
            source = re.match(r"--from=(\S+)", rest)
            if source and source[1] not in stages:
                yield f"COPY: no stage {source[1]} before"
            if not source:
                for file in rest.split()[:-1]:
                    if not (root / file).exists():
                        yield f"COPY: no {file}"
        elif word == "RUN":
            yield from run_faults(rest, not name.startswith("build-"))
        else:
            stages[name][word] = rest
    for name, stage in stages.items():
        if name.startswith("build-"):
            continue
        if stage.get("USER", "root") == "root":
            yield f"{name}: runs as root"
        try:
            json.loads(stage.get("CMD", ""))
        except ValueError:
            yield f"{name}: expected a CMD in JSON form"
        for label in LABELS:
            if f"org.opencontainers.image.{label}=" not in stage.get("LABEL", ""):
                yield f"{name}: no label {label}"
    if not stages:
        yield "no FROM"


def main():
    path = Path(sys.argv[1])
    found = list(faults(path, Path(__file__).resolve().parents[2]))
    for fault in found:
        print(f"{path.name}: {fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
