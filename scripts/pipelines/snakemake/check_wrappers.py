#!/usr/bin/env python3
"""Checks the Snakemake wrappers without Snakemake.

usage: check_wrappers.py BIOGPU FOLDER      a folder as scripts/pipelines/snakemake

Every wrapper has its four files, one `biogpu` command that BIOGPU has, and only options that this command has; its
meta.yaml names every input, output and parameter that the wrapper reads, and no other. The rules of every Snakefile
give wrappers only options of their commands, too.
"""
import ast
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import command_options  # noqa: E402  (the folder has to be on the path first)

FILES = ("wrapper.py", "meta.yaml", "environment.yaml", "test/Snakefile")


class Fault(Exception):
    pass


def texts_of(source):
    """The strings of a Python source but its first, which describes it; expressions in them as one word."""
    tree = ast.parse(source)
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            texts.append("".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
    return [text for text in texts if text != ast.get_docstring(tree, clean=False)]


def check_command(source, table):
    texts = texts_of(source)
    calls = [text.split()[1:] for text in texts if text.startswith("biogpu ")]
    if len(calls) != 1:
        raise Fault(f"wrapper.py: {len(calls)} commands of biogpu; expected one")
    path = command_options.command_of(calls[0], table)
    if path is None:
        raise Fault(f"wrapper.py: biogpu has no command '{calls[0][0]}'")
    for text in texts:
        for option in command_options.unknown_options(text.split(), path, table):
            raise Fault(f"wrapper.py: biogpu {path} has no option {option}")
    return path


def check_meta(meta, source):
    for section in ("input", "output", "params"):
        block = re.search(rf"^{section}:\n((?:[ -].*\n)*)", meta, re.M)
        described = set(re.findall(r"^  - (\w+):", block[1], re.M)) if block else set()
        used = re.findall(rf'snakemake\.{section}(?:\.get\("(\w+)"|\.(?!get\b)(\w+))', source)
        for name in sorted({first or second for first, second in used} - described):
            raise Fault(f"meta.yaml: {section} {name} is missing")
        for name in sorted(described):
            if not re.search(rf'"{name}"|snakemake\.{section}\.{name}\b', source):
                raise Fault(f"meta.yaml: the wrapper does not read {section} {name}")


def check_wrapper(folder, table):
    for file in FILES:
        if not (folder / file).is_file():
            raise Fault(f"{file} is missing")
    source = (folder / "wrapper.py").read_text()
    check_meta((folder / "meta.yaml").read_text(), source)
    return check_command(source, table)


def check_rules(text, commands, table):
    """The options in `extra` of rules that use a wrapper."""
    names = dict(re.findall(r'^(\w+) = f"\{WRAPPERS\}/([\w/]+)"', text, re.M))
    for rule in re.split(r"^rule ", text, flags=re.M)[1:]:
        wrapper = re.search(r'^    wrapper:\n        (?:(\w+)|f"\{WRAPPERS\}/([\w/]+)")$', rule, re.M)
        if not wrapper:
            continue
        name = wrapper[2] or names.get(wrapper[1])
        if name not in commands:
            raise Fault(f"{rule.split(':')[0]}: no wrapper {name}")
        extra = re.search(r'extra="([^"]*)"', rule)
        for option in command_options.unknown_options(extra[1].split(), commands[name], table) if extra else ():
            raise Fault(f"{rule.split(':')[0]}: biogpu {commands[name]} has no option {option}")


def main():
    table = command_options.options_of(sys.argv[1])
    root = Path(sys.argv[2])
    wrappers = root / "wrappers"
    folders = sorted({path.parent for path in wrappers.rglob("wrapper.py")})
    commands, n_faults = {}, 0
    for folder in folders:
        name = str(folder.relative_to(wrappers))
        try:
            commands[name] = check_wrapper(folder, table)
        except Fault as fault:
            n_faults += 1
            print(f"{name}: {fault}")
    for snakefile in sorted(root.rglob("Snakefile")):
        try:
            check_rules(snakefile.read_text(), commands, table)
        except Fault as fault:
            n_faults += 1
            print(f"{snakefile.relative_to(root)}: {fault}")
    print(f"{len(commands)} of {len(folders)} wrappers are sound, {n_faults} faults")
    return n_faults > 0 or not folders


if __name__ == "__main__":
    sys.exit(main())
