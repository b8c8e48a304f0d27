#!/usr/bin/env python3
"""Runs the stub and, with files of this repository, the script of every Nextflow module, without Nextflow.

usage: run_modules.py BIOGPU MODULES FILES      MODULES: a folder that make_modules.py wrote

process.py makes shell text of script and stub. Each runs in a folder with its inputs, under bash with -e and -u as
Nextflow runs it, with BIOGPU as biogpu on the CPU; then its outputs have to be there. FILES holds inputs that the
repository does not have as they are; modules take those of one another, in the order of modules.toml. BIOGPU's models
that this build cannot run (RDKit, images) are told and passed over.
"""
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

sys.dont_write_bytecode = True
from make_modules import matching  # noqa: E402
from process import Fault, Process  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
# What a build without a library of chemistry or of images says.
LACKING = ("RDKit", "libbiogpu_rdkit", "libbiogpu_images")


class Runner:
    def __init__(self, biogpu, modules, files):
        self.modules, self.files = Path(modules).resolve(), Path(files).resolve()
        self.kinds = tomllib.loads(Path(__file__).with_name("modules.toml").read_text(encoding="utf-8"))
        self.work = Path("run").resolve()
        (self.work / "bin").mkdir(parents=True)
        (self.work / "bin" / "biogpu").symlink_to(Path(biogpu).resolve())
        self.environment = os.environ | {"PATH": f"{self.work / 'bin'}:{os.environ['PATH']}"}
        self.version = subprocess.run(["biogpu", "--version"], env=self.environment, capture_output=True, text=True, check=True).stdout.split()[1]
        self.made = {}

    def inputs_of(self, name, of, folder):
        """The inputs by their names, staged as links into the folder."""
        values = {}
        for group in Process((self.modules / name / "main.nf").read_text()).inputs:
            for one in group:
                if one.startswith("meta"):
                    values[one] = {"id": "sample", "single_end": True}
                elif one in self.kinds["files"]:
                    values[one] = self.stage(one, of, folder)
                else:
                    value = self.kinds["values"] | of.get("values", {})
                    text = of.get("here_values", {}).get(one) or value[one][2].strip("'")
                    values[one] = {"true": True, "false": False}.get(text, text)
        return values

    def stage(self, kind, of, folder):
        definition = self.kinds["files"][kind]
        if "from" in definition:
            paths = [self.made[definition["from"], of.get("from_args", "")]]
            if of.get("copies"):  # a second one of the same content
                copy = folder.with_name(f"{folder.name}_copy") / f"copy{paths[0].suffix}"
                copy.parent.mkdir(exist_ok=True)
                shutil.copy(paths[0], copy)
                paths.append(copy)
        else:
            names = of.get("here", {}).get(kind, definition["here"])
            paths = [ROOT / name if (ROOT / name).exists() else self.files / name for name in names]
        for path in paths:
            if not path.exists():
                raise Fault(f"no file {path} for {kind}")
            (folder / path.name).symlink_to(path)
        names = [path.name for path in paths]
        return names[0] if len(names) == 1 else names

    def run(self, name, label, args=""):
        """Runs script or stub; the outputs, or None where this build cannot."""
        of = self.kinds["modules"][name]
        folder = self.work / f"{name}_{label}{'_bwa' if args else ''}"
        folder.mkdir()
        process = Process((self.modules / name / "main.nf").read_text())
        task = {"ext": {"args": args or of.get("here_args", "")}, "cpus": 2, "accelerator": None, "memory": 2 << 30, "process": process.name}
        names = {"task": task} | self.inputs_of(name, of, folder)
        shell, patterns = process.evaluate(label, names)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", shell], cwd=folder, env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            if any(word in done.stderr for word in LACKING):
                return None
            raise Fault(f"{label}: exit code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        found = {}
        for output, pattern in patterns.items():
            found[output] = [path for path in matching(folder, pattern) if not path.is_symlink()]
            if not found[output] and not dict((one, optional) for one, _, optional in process.outputs)[output]:
                raise Fault(f"{label}: no output {output}")
        eval_ = subprocess.run(["bash", "-c", process.version[1]], env=self.environment, capture_output=True, text=True, check=True)
        if eval_.stdout.strip() != self.version:
            raise Fault(f"version {eval_.stdout!r}")
        return found

    def both(self, name):
        outcomes = []
        for label in ("stub", "script"):
            found = self.run(name, label)
            if found is None:
                return "passed over, this build cannot"
            outcomes.append({output: bool(paths) for output, paths in found.items()})
            if label == "script":
                self.made[name, ""] = found["part" if name == "qc" else next(iter(found))][0]
        # The channels that the stub fills are those that the script fills.
        if outcomes[0] != outcomes[1]:
            raise Fault(f"the stub makes {outcomes[0]}, the script {outcomes[1]}")
        if name == "bwtindex":
            self.made[name, "--format bwa"] = self.run(name, "script", "--format bwa")["index"][0]
        return None


def main():
    runner = Runner(*sys.argv[1:])
    n_faults = n_ran = 0
    for name in runner.kinds["modules"]:
        try:
            what = runner.both(name)
            n_ran += what is None
            if what:
                print(f"{name}: {what}")
        except Fault as fault:
            n_faults += 1
            print(f"{name}: {fault}")
    print(f"{n_ran} of {len(runner.kinds['modules'])} modules ran, {n_faults} faults")
    return n_faults > 0


if __name__ == "__main__":
    sys.exit(main())
