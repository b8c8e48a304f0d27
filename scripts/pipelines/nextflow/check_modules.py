#!/usr/bin/env python3
"""Checks the Nextflow modules as far as it goes without Nextflow and without a network.

usage: check_modules.py BIOGPU FOLDER      a folder that make_modules.py wrote

Of every module: its files are there; brackets, quotes and blocks of main.nf match; it has the directives, keys and
labels that nf-core allows; its image is one of this version for each engine; script and stub set every name that they
use, for one file and for mates, with and without a device and a shard; their commands exist in BIOGPU and have the
options that they are given; meta.yml and environment.yml are as nf-core's schemas want them and have the inputs,
outputs and topics of main.nf; tests have their tags and their snapshots.
"""
import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import command_options  # noqa: E402  (the folder has to be on the path first)
import meta_file  # noqa: E402
import process as nextflow  # noqa: E402

FILES = ("main.nf", "meta.yml", "environment.yml", "tests/main.nf.test", "tests/main.nf.test.snap")
LABELS = ("process_single", "process_low", "process_medium", "process_high", "process_long", "process_low_memory",
          "process_high_memory")
KEYS = {"meta": ("id", "single_end"), "ext": ("args", "prefix", "when", "singularity_pull_docker_container")}
WHEN = "    task.ext.when == null || task.ext.when\n\n"


class Fault(Exception):
    pass


def strip_strings(text):
    """The text without comments and with empty strings; faults where one does not end."""
    pattern = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\])*"|'
                         r"'(?:\\.|[^'\\\n])*'|//[^\n]*", re.S)
    bare = pattern.sub(lambda match: "" if match[0].startswith("//") else '""', text)
    for quote in ("'''", "'"):
        if quote in bare:
            raise Fault(f"a string does not end: {bare[bare.index(quote):][:30]!r}")
    if bare.count('"') != 2 * bare.count('""'):
        raise Fault("a string does not end")
    return bare


def check_brackets(text):
    open_ones = []
    for letter in strip_strings(text):
        if letter in "([{":
            open_ones.append(letter)
        elif letter in ")]}":
            if not open_ones or "([{".index(open_ones.pop()) != ")]}".index(letter):
                raise Fault(f"'{letter}' closes nothing")
    if open_ones:
        raise Fault(f"'{open_ones[-1]}' is not closed")


def check_directives(process, text, version):
    directives = re.findall(r"^    (\w+) ", process.blocks["directives"], re.M)
    if directives != ["tag", "label", "conda", "container"]:
        raise Fault(f"directives {directives}; expected tag, label, conda, container")
    label = re.search(r"^    label '(\w+)'$", process.blocks["directives"], re.M)
    if not label or label[1] not in LABELS:
        raise Fault("label: none of nf-core's")
    if process.blocks["when"] != WHEN:
        raise Fault("when: altered")
    for owner, keys in KEYS.items():
        for key in re.findall(rf"\b{owner}\.(\w+)", text):
            if key not in keys:
                raise Fault(f"{owner}.{key}: no key that nf-core knows")
    for engine, accelerator in product(("docker", "singularity", "apptainer"), (None, 1)):
        image = process.container(engine, {"accelerator": accelerator})
        if not re.fullmatch(rf"(\w[\w-]*://)?[\w.:-]+(/[\w.-]+)*/biogpu:{re.escape(version)}-(cpu|cuda)", image):
            raise Fault(f"container: {image}")
        if ("://" in image) != (engine != "docker"):
            raise Fault(f"container: {image} for {engine}")


def shells(process, text):
    """The texts of script and of stub for one file and mates, with and without a device, a shard and options of theirs."""
    options = ("", *re.findall(r"args\??\.contains\('([^']*)'\)", text))
    for single, accelerator, shard, flag, args in product((True, False), (None, 1), ("", "2/7"), (True, False), options):
        task = {"ext": {"args": args}, "cpus": 2, "accelerator": accelerator, "memory": 4 << 30}
        names = {"task": task, "meta": {"id": "sample", "single_end": single}, "meta2": {"id": "other"}}
        for group in process.inputs:
            for name in group:
                names.setdefault(name, ["one", "two"] if name == "reads" and not single else "text")
        names |= {name: flag for name in names if name.startswith(("save_", "discard_"))}
        if "shard" in names:
            names["shard"] = shard
        for label in ("script", "stub"):
            yield label, *process.evaluate(label, names)


def check_commands(process, text, table):
    for label, shell, _ in shells(process, text):
        lines = [line.split() for line in re.sub(r"\\\n", " ", shell).splitlines()]
        lines = [words for words in lines if words and words[0] == "biogpu"]
        if bool(lines) != (label == "script"):
            raise Fault(f"{label}: {len(lines)} commands of biogpu")
        for words in lines:
            path = command_options.command_of(words[1:], table)
            if path is None:
                raise Fault(f"script: biogpu has no command '{words[1]}'")
            until = next((i for i, word in enumerate(words) if re.match(r"[0-9]?>|\|", word)), len(words))
            for option in command_options.unknown_options(words[:until], path, table):
                raise Fault(f"script: biogpu {path} has no option {option}")


def check_tests(folder, name, process, version):
    text = (folder / "tests/main.nf.test").read_text()
    check_brackets(text)
    tags = re.findall(r'^    tag "(.*)"$', text, re.M)
    makers = re.findall(r'script "../../(\w+)/main.nf"', text)
    for tag in ("modules", "modules_nfcore", "biogpu", *(f"biogpu/{one}" for one in (name, *makers))):
        if tag not in tags:
            raise Fault(f"tests: no tag {tag}")
    names = re.findall(r'^    test\("(.*)"\) \{$', text, re.M)
    if not names or not names[-1].endswith("- stub"):
        raise Fault("tests: no stub is tested")
    snapshots = json.loads((folder / "tests/main.nf.test.snap").read_text())
    if list(snapshots) != names:
        raise Fault(f"tests: snapshots of {list(snapshots)}; expected those of {names}")
    for test, snapshot in snapshots.items():
        content = snapshot["content"][0]
        if content.pop("versions_biogpu") != [[process.name, "biogpu", version]]:
            raise Fault(f"tests: {test}: another version")
        if test.endswith("- stub") and set(content) != {output for output, *_ in process.outputs}:
            raise Fault(f"tests: {test}: outputs {sorted(content)}")
        missing = [output for output, _, is_optional in process.outputs if output in content and not content[output] and not is_optional]
        if missing:
            raise Fault(f"tests: {test}: the stub makes no {missing[0]}")


def check_module(folder, modules, table, version):
    for file in FILES:
        if not (folder / file).is_file():
            raise Fault(f"{file} is missing")
    text = (folder / "main.nf").read_text()
    check_brackets(text)
    process = nextflow.Process(text)
    name = "".join(folder.relative_to(modules).parts)
    if process.name != f"BIOGPU_{name.upper()}" or not (name.isalnum() and name.islower()):
        raise Fault(f"process {process.name}; expected BIOGPU_{name.upper()}")
    check_directives(process, text, version)
    check_commands(process, text, table)
    try:
        meta_file.check_meta((folder / "meta.yml").read_text(), process, {output: pattern[1:-1] for output, pattern, _ in process.outputs})
    except meta_file.Fault as fault:
        raise Fault(f"meta.yml: {fault}") from None
    meta_file.check_environment((folder / "environment.yml").read_text(), version)
    check_tests(folder, name, process, version)


def main():
    biogpu, modules = sys.argv[1], Path(sys.argv[2])
    table = command_options.options_of(biogpu)
    version = subprocess.run([biogpu, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    folders = sorted(path.parent for path in modules.rglob("main.nf"))
    n_faults = 0
    for folder in folders:
        try:
            check_module(folder, modules, table, version)
        except (Fault, nextflow.Fault, meta_file.Fault) as fault:
            n_faults += 1
            print(f"{folder.relative_to(modules)}: {fault}")
    print(f"{len(folders) - n_faults} of {len(folders)} modules are sound")
    return n_faults > 0 or not folders


if __name__ == "__main__":
    sys.exit(main())
