#!/usr/bin/env python3
"""Checks the Nextflow modules as far as it goes without Nextflow.

usage: check_modules.py BIOGPU FOLDER      a folder that make_modules.py wrote

For every module: its four files are there; brackets, quotes and blocks of main.nf match; meta.yml names
the inputs and outputs that main.nf has; the commands of its script exist in BIOGPU and have the options
that it gives them; script and stub set every name that they use; the test names every output. Of
meta.yml only as much is read as is needed, so that nothing beyond Python is.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import command_options  # noqa: E402  (the folder has to be on the path first)

FILES = ("main.nf", "meta.yml", "environment.yml", "tests/main.nf.test")
# What Nextflow itself puts into a script.
GIVEN = {"task", "meta", "moduleDir", "projectDir", "params"}


class Fault(Exception):
    pass


def strip_strings(text):
    """The text without comments and with empty strings; faults where one does not end."""
    pattern = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|'
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


def blocks_of(text):
    """The parts of a process by their labels."""
    body = re.fullmatch(r"process (\w+) \{\n(.*)\}\n", text, re.S)
    if not body:
        raise Fault("expected one process and nothing else")
    parts = re.split(r"^    (input|output|when|script|stub):\n", body[2], flags=re.M)
    blocks = {"directives": parts[0]} | dict(zip(parts[1::2], parts[2::2]))
    for label in ("input", "output", "script", "stub"):
        if label not in blocks:
            raise Fault(f"no {label}:")
    return body[1], blocks


def names_in(block):
    return re.findall(r"(?:val|path)[( ](\w+)", block)


def check_names(label, block, inputs):
    """Every name that a script uses is an input, defined before it, or given."""
    known = GIVEN | set(inputs) | set(re.findall(r"^    (?:def )?(\w+) = ", block, re.M))
    for expression in re.findall(r"(?<!\\)\$\{([^}]*)\}", block):
        for name in re.findall(r"(?<![\w.'\"])([A-Za-z_]\w*)", expression):
            if name not in known:
                raise Fault(f"{label}: {name} is not set")


def check_command(block, table):
    script = re.findall(r'"""(.*?)"""', block, re.S)[-1].replace("\\\\\n", " ")
    lines = [line.split() for line in script.splitlines() if line.strip().startswith("biogpu ")]
    if not lines:
        raise Fault("script: no biogpu")
    for words in lines:
        path = command_options.command_of(words[1:], table)
        if path is None:
            raise Fault(f"script: biogpu has no command '{words[1]}'")
        for option in command_options.unknown_options(words, path, table):
            raise Fault(f"script: biogpu {path} has no option {option}")
        if "${shard_option}" in words and "--shard" not in table[path]:
            raise Fault(f"script: biogpu {path} has no option --shard")


def check_meta(meta, name, inputs, outputs):
    if not meta.startswith(f'name: "{name.lower()}"\n'):
        raise Fault(f"meta.yml: expected the name {name.lower()}")
    described_in = meta[meta.index("\ninput:"):meta.index("\noutput:")]
    for one in inputs:
        if not re.search(rf"^[ -]+{one}:$", described_in, re.M):
            raise Fault(f"meta.yml: input {one} is missing")
    described_out = re.findall(r"^  (\w+):$", meta[meta.index("\noutput:"):meta.index("\ntopics:")], re.M)
    if described_out != outputs:
        raise Fault(f"meta.yml: outputs {described_out}; expected {outputs}")


def check_module(folder, modules, table):
    for file in FILES:
        if not (folder / file).is_file():
            raise Fault(f"{file} is missing")
    text = (folder / "main.nf").read_text()
    check_brackets(text)
    name, blocks = blocks_of(text)
    expected = "BIOGPU_" + "_".join(folder.relative_to(modules).parts).upper()
    if name != expected:
        raise Fault(f"process {name}; expected {expected}")
    inputs = names_in(blocks["input"])
    outputs = re.findall(r"emit: (\w+)", blocks["output"])
    check_names("script", blocks["script"], inputs)
    check_names("stub", blocks["stub"], inputs)
    check_command(blocks["script"], table)
    check_meta((folder / "meta.yml").read_text(), name, inputs, outputs)
    test = (folder / "tests/main.nf.test").read_text()
    check_brackets(test)
    for output in outputs:
        if f"process.out.{output}" not in test:
            raise Fault(f"tests: output {output} is not looked at")


def main():
    table = command_options.options_of(sys.argv[1])
    modules = Path(sys.argv[2])
    folders = sorted(path.parent for path in modules.rglob("main.nf"))
    n_faults = 0
    for folder in folders:
        try:
            check_module(folder, modules, table)
        except Fault as fault:
            n_faults += 1
            print(f"{folder.relative_to(modules)}: {fault}")
    print(f"{len(folders) - n_faults} of {len(folders)} modules are sound")
    return n_faults > 0 or not folders


if __name__ == "__main__":
    sys.exit(main())
