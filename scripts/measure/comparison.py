"""The frame of the commands in scripts/compare: options, equality before time, files of results.

A command names its peer and yields cases; main() does the rest.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import sys
import tempfile
import typing

from measure import inputs, machine, plot, programs, same, tables, timing

SKIPPED = 77  # the exit status that CTest and others read as skipped


class Different(RuntimeError):
    """Two programs wrote something else; nothing of it may be timed."""


@dataclasses.dataclass
class Program:
    """One side of a case: the command, and the file that its standard output goes to."""

    command: list
    stdout: str = ""
    # What the program itself writes about a run: folder -> {"compute_s": seconds without loading}.
    figures: typing.Optional[typing.Callable] = None


@dataclasses.dataclass
class Case:
    """A piece of work that both programs do; equal() raises Different where their results are."""

    name: str
    biogpu: Program
    peer: Program
    rule: str
    equal: typing.Callable
    note: str = ""
    only_compute: bool = False  # of runs that do more than the case says: their own clock counts alone
    small_repeats: int = 3  # turns that count without --full and --repeats


@dataclasses.dataclass
class Peer:
    name: str  # of the command and its files
    title: str  # of the tool, for people
    what: str  # "biogpu kmer": what the peer is compared with
    packages: dict  # program -> package of the distribution
    version: typing.Callable  # Setup -> text


class Setup:
    """What the cases of one run are made from."""

    def __init__(self, peer, arguments, folder):
        self.peer = peer
        self.arguments = arguments
        self.folder = folder
        self.full = arguments.full
        self.threads = arguments.threads
        self.biogpu = programs.find_biogpu(arguments.biogpu)
        self.may_install = not arguments.no_install
        self.inputs = []

    def size(self, small, full):
        return full if self.full else small

    def rng(self):
        """A fresh generator, so that an input does not depend on those made before it."""
        return inputs.generator(self.arguments.seed)

    def path(self, name):
        return self.folder / name

    def made(self, path, what):
        """Notes an input, with its checksum, for the result."""
        self.inputs.append({**inputs.describe(path), "what": what})
        return path

    def shared(self):
        """The options that every command of biogpu gets here."""
        return ["-q", "-t", self.threads, "--device", self.arguments.device]

    def same_files(self, *pairs):
        for ours, theirs in pairs:
            if self.path(ours).read_bytes() != self.path(theirs).read_bytes():
                raise Different(f"{ours} and {theirs} differ")

    def same_text(self, ours, theirs):
        """Whether two shell commands write the same bytes."""
        difference = same.difference(ours, theirs, self.folder)
        if difference is not None:
            raise Different(f"{ours} and {theirs} differ: {difference}")


def parse(peer, text):
    parser = argparse.ArgumentParser(prog=f"scripts/compare/{peer.name}", description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--biogpu", help="the program [the newest of build/ and install/, else that on PATH]")
    parser.add_argument("--full", action="store_true", help="inputs as large as those of docs/benchmarks")
    parser.add_argument("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))), help="of both [2]")
    parser.add_argument("--repeats", type=int, default=0, help="turns that count [3, of models 2, with --full 5]")
    parser.add_argument("--device", default="cpu", help="biogpu's --device [cpu]")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs [1]")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name holds this")
    parser.add_argument("--no-install", action="store_true", help="fail where the peer is missing")
    parser.add_argument("--out", type=pathlib.Path, default=programs.ROOT / "build" / "compare",
                        help="folder for NAME.json, NAME.md and NAME.svg [build/compare]")
    parser.add_argument("--work", type=pathlib.Path, help="folder for the inputs and outputs [a temporary one]")
    parser.add_argument("--proteins", type=pathlib.Path, default=programs.ROOT / "data" / "proteins.fa", metavar="FASTA",
                        help="what parasail searches, such as a proteome [data/proteins.fa]")
    parser.add_argument("--venv", type=pathlib.Path, default=programs.ROOT / "build" / "venv",
                        help="the Python environment with PyTorch, for the models [build/venv]")
    parser.add_argument("--original", type=pathlib.Path, default=programs.ROOT / "build" / "ProteinMPNN",
                        help="a clone of the original, for proteinmpnn [build/ProteinMPNN]")
    return parser.parse_args()


def shown(command, setup):
    """A command for people: without the folders of this machine."""
    text = " ".join(str(word) for word in command)
    for folder, name in ((setup.biogpu, "biogpu"), (f"{setup.folder}/", ""), (f"{setup.arguments.venv}/bin/", ""),
                         (f"{setup.arguments.original}/", ""), (setup.arguments.original, "ProteinMPNN"),
                         (f"{programs.ROOT}/", "")):
        text = text.replace(str(folder), name)
    return text


def measure(case, setup):
    """One case: a first turn, the comparison, then the turns that count. None where it was not asked for."""
    sides = {"biogpu": case.biogpu, setup.peer.name: case.peer}
    asked_for = setup.arguments.only in case.name

    def call(side):
        def once():
            figures = (timing.run_to_file(side.command, setup.folder, side.stdout) if side.stdout
                       else timing.run(side.command, setup.folder))
            return {**figures, **(side.figures(setup.folder) if side.figures else {})}
        return once

    print(f"{setup.peer.name}: {case.name}{'' if asked_for else ', once: others need its files'}", file=sys.stderr,
          flush=True)
    repeats = setup.arguments.repeats or setup.size(case.small_repeats, 5)
    calls = {name: call(side) for name, side in sides.items()}
    runs = timing.take_turns(calls, repeats if asked_for else 0, case.equal)
    if not asked_for:
        return None
    return {"name": case.name, "rule": case.rule, "note": case.note, "only_compute": case.only_compute,
            "programs": {name: {"command": shown(side.command, setup), "runs": runs[name]}
                         for name, side in sides.items()}}


def write(result, out):
    """NAME.json, NAME.md with the table, NAME.svg: all are written under another name before any is renamed."""
    out.mkdir(parents=True, exist_ok=True)
    stem = out / result["peer"]
    lines = [f"# {result['what']} compared with {result['title']}", "", *tables.compare(result), "",
             f"![{result['what']} compared with {result['title']}]({result['peer']}.svg)", "",
             *tables.compare_details(result)]
    texts = {".json": json.dumps(result, indent=1), ".svg": draw(result), ".md": "\n".join(lines)}
    with tempfile.TemporaryDirectory(dir=out, prefix=".new-") as name:
        folder = pathlib.Path(name)
        for suffix, text in texts.items():
            (folder / suffix).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        for suffix in texts:
            (folder / suffix).replace(stem.with_suffix(suffix))
    return stem


def draw(result):
    cases = []
    for name, key, case in tables.rows_of(result):
        rows = []
        for program, side in case["programs"].items():
            label = "biogpu" if program == "biogpu" else result["title"]
            rows.append((label, timing.spread(side["runs"], key)[0], [run[key] for run in side["runs"]]))
        cases.append((name, rows))
    return plot.bars(f"{result['what']} compared with {result['title']}: wall time", tables.caption(result), cases)


def compare(peer, text, cases):
    arguments = parse(peer, text)
    with tempfile.TemporaryDirectory(dir=arguments.work) as name:
        setup = Setup(peer, arguments, pathlib.Path(name))
        programs.need(peer.packages, setup.may_install)
        rows = [row for row in (measure(case, setup) for case in cases(setup)) if row]
        if not rows:
            sys.exit(f"{peer.name}: no case holds '{arguments.only}'")
        result = {
            "schema_version": 1, "peer": peer.name, "title": peer.title, "what": peer.what,
            "date": datetime.date.today().isoformat(), "size": "full" if setup.full else "small",
            "seed": arguments.seed, "threads": setup.threads, "device": arguments.device,
            "machine": machine.describe(),
            "versions": {"biogpu": programs.first_line([setup.biogpu, "--version"]), peer.name: peer.version(setup)},
            "inputs": setup.inputs, "cases": rows,
        }
    stem = write(result, arguments.out)
    print("\n".join(tables.compare(result)))
    print(f"{stem}.json, .md, .svg", file=sys.stderr)


def main(peer, text, cases):
    """The exit status: 0 measured, 1 failed or different, 77 where the peer is missing."""
    os.environ["LC_ALL"] = "C"
    try:
        compare(peer, text, cases)
    except programs.Missing as missing:
        print(f"{peer.name}: SKIPPED: {missing}", file=sys.stderr)
        sys.exit(SKIPPED)
    except Different as difference:
        sys.exit(f"{peer.name}: DIFFERENT, nothing was timed: {difference}")
    except (timing.Failed, programs.Broken) as failure:
        sys.exit(f"{peer.name}: FAILED: {failure}")
