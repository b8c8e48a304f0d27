"""The loop behind scripts/compare/random: targets, runs, summary."""

import argparse
import collections
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import time

from measure import programs
from measure.comparison import SKIPPED
from measure.random_runs import biopython, bwa, fastp, fastp1, jellyfish, parasail, search
from measure.random_runs.draw import Draw
from measure.random_runs.frame import ROOT, Run, check_pages

TARGETS = {"fastp": fastp, "fastp1": fastp1, "jellyfish": jellyfish, "parasail": parasail, "bwa": bwa,
           "biopython": biopython, "search": search}


class Biogpu:
    """Command lines of our side: the program itself, or one of the scripts that answer to a peer's name."""

    def __init__(self, path, device):
        self.path, self.device = path, device

    def line(self, *words):
        return [str(self.path), *words]

    def shim(self, name):
        return ["env", f"BIOGPU={self.path}", str(ROOT / "scripts/packaging/compat" / name)]

    def shown(self, text):
        """Without the folders of this machine."""
        return text.replace(str(self.path), "biogpu").replace(f"{ROOT}/", "")


def parse(text):
    parser = argparse.ArgumentParser(prog="scripts/compare/random", add_help=False)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--biogpu")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("-h", "--help", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(text.strip())
        sys.exit(0)
    for target in arguments.targets:
        if target not in TARGETS:
            parser.error(f"no target '{target}'; expected one of {' '.join(TARGETS)}")
    arguments.targets = arguments.targets or list(TARGETS)
    if arguments.quick:
        arguments.runs = 40
    return arguments


def lacks(module):
    """The program or package that a target needs and that is not installed; None where nothing is missing."""
    program, package = getattr(module, "PROGRAM", None), getattr(module, "PACKAGE", None)
    if program and not shutil.which(program):
        return program
    return package if package and importlib.util.find_spec(package) is None else None


def run_one(target, module, arguments, biogpu, number):
    """One run in a folder of its own, which stays where --keep asks for it."""
    with tempfile.TemporaryDirectory(prefix="biogpu_random_") as name:
        run = Run(target, arguments.seed, number, pathlib.Path(name))
        draw = Draw(target, arguments.seed, number)
        module.play(draw, run, biogpu)
        run.settle(module.KNOWN)
        if arguments.keep and (run.differences or arguments.runs == 1):
            kept = arguments.keep / f"{target}_{arguments.seed}_{number}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(name, kept)
    return run, draw


def report(run):
    print(f"DIFFERENT {run.target}: --seed {run.seed} --first {run.number} --runs 1")
    for theirs, ours in run.commands[-3:]:
        print(f"  peer:   {theirs[:600]}\n  biogpu: {ours[:600]}")
    for text in run.differences[:4]:
        print(f"  {text[:500]}")
    sys.stdout.flush()


def play(target, arguments, biogpu):
    """All runs of one target; its part of the summary."""
    module = TARGETS[target]
    counts, known, options = collections.Counter(), collections.Counter(), collections.Counter()
    found, n_pairs, n_compared, begin = [], 0, 0, time.monotonic()
    for number in range(arguments.first, arguments.first + arguments.runs):
        if arguments.minutes and time.monotonic() - begin > 60 * arguments.minutes:
            break
        run, draw = run_one(target, module, arguments, biogpu, number)
        counts[run.status()] += 1
        n_pairs += len(run.commands)
        n_compared += run.n_compared
        known.update(set(run.explained))
        options.update(set(draw.options))
        if run.differences:
            report(run)
            commands = [{"peer": a, "biogpu": biogpu.shown(b)} for a, b in run.commands]
            found.append({"seed": run.seed, "run": run.number, "commands": commands,
                          "differences": [biogpu.shown(text) for text in run.differences]})
    return {"runs": sum(counts.values()), "pairs_of_commands": n_pairs, "comparisons": n_compared,
            "outcomes": dict(counts),
            "documented": {one.name: {"runs": known[one.name], "page": one.page, "phrase": one.phrase}
                           for one in module.KNOWN},
            "options": dict(options.most_common()), "different": found}


def show(target, part):
    outcomes = ", ".join(f"{n} {what}" for what, n in sorted(part["outcomes"].items()))
    print(f"\n{target}: {part['runs']} runs, {part['pairs_of_commands']} pairs of commands, "
          f"{part['comparisons']} comparisons: {outcomes}")
    for name, one in part["documented"].items():
        if one["runs"]:
            print(f"  {one['runs']:5} documented: {name} ({one['page']})")
    drawn = [f"{option} {n}" for option, n in part["options"].items()]
    print("  drawn: " + ", ".join(drawn))


def main(text):
    arguments = parse(text)
    try:
        biogpu = Biogpu(programs.find_biogpu(arguments.biogpu), arguments.device)
    except programs.Broken as error:
        print(f"scripts/compare/random: {error}", file=sys.stderr)
        return 1
    parts, missing = {}, []
    for target in arguments.targets:
        module = TARGETS[target]
        missing += check_pages(module.KNOWN)
        if lacks(module):
            print(f"SKIPPED {target}: {lacks(module)} is not installed")
            continue
        parts[target] = play(target, arguments, biogpu)
        show(target, parts[target])
    for line in missing:
        print(f"FAILED {line}")
    if arguments.json:
        summary = {"seed": arguments.seed, "first": arguments.first, "biogpu": programs.first_line(
            [biogpu.path, "--version"]), "targets": parts}
        arguments.json.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    if not parts:
        return SKIPPED
    return 1 if missing or any(part["different"] for part in parts.values()) else 0
