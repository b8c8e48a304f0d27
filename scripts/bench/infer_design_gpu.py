#!/usr/bin/env python3
"""Compares ProteinMPNN in biogpu with the original on one GPU; see infer_design_gpu.sh for usage.

Both take the same random weights. Sequences and log-probabilities for the same random numbers are compared before
anything is timed; a difference fails the run. The original runs in fp32 with TF32 off, its tensors on the device.
Structures are the first residues of the original's own inputs, renumbered as one chain without gaps.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve()
PARTS = ["tests", "fidelity", "times", "files"]
SOURCES = {200: "PDB_complexes/pdbs/3HTN.pdb", 500: "PDB_homooligomers/pdbs/6EHB.pdb"}
BARS_MS = {("sample", 200, 1): 10, ("sample", 200, 8): 15, ("sample", 500, 1): 25, ("score", 200, 1): 0.6}


def log(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def run(command, timeout=280):
    started = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(str(c) for c in command)}: {done.stderr[-800:]}{done.stdout[-400:]}")
    return done, time.perf_counter() - started


def residues_of(path):
    """Lines of each residue that has its whole backbone, in the order of the file."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("ATOM") and line[16] in " A":
            found.setdefault(line[21:27], []).append(line)
    return [r for r in found.values() if {"N", "CA", "C", "O"} <= {x[12:16].strip() for x in r}]


def write_pdb(path, residues, move=None):
    """One chain without gaps. move: a function of an array of coordinates."""
    lines = [(number, line) for number, residue in enumerate(residues, 1) for line in residue]
    xyz = np.array([[float(line[c:c + 8]) for c in (30, 38, 46)] for _, line in lines])
    if move is not None:
        xyz = move(xyz)
    text = [f"{line[:16]} {line[17:21]}A{number:4d} {line[27:30]}{x:8.3f}{y:8.3f}{z:8.3f}{line[54:]}"
            for (number, line), (x, y, z) in zip(lines, xyz)]
    path.write_text("\n".join(text) + "\nEND\n")


def load_original(folder):
    import torch
    sys.path.insert(0, str(HERE.parents[1] / "reference"))
    import make_proteinmpnn
    from proteinmpnn_original import Original
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    state = make_proteinmpnn.make_state(False, 1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Original(folder, make_proteinmpnn.checkpoint_of(state), device=device), state, make_proteinmpnn


class Bench:
    def __init__(self, arguments, work):
        import torch
        self.torch = torch
        self.biogpu = arguments.prefix / "bin" / "biogpu"
        self.prefix, self.source = arguments.prefix, arguments.original
        self.device = arguments.device
        self.n_structures = arguments.structures
        self.work = work
        self.original, state, make_proteinmpnn = load_original(arguments.original)
        self.model = work / "model"
        make_proteinmpnn.convert.write(state, self.model, "v_48_020", make_proteinmpnn.NEIGHBOURS, 0.2)
        self.inputs = {}
        for n, name in SOURCES.items():
            self.inputs[n] = work / f"first{n}.pdb"
            write_pdb(self.inputs[n], residues_of(self.source / "inputs" / name)[:n])

    def design(self, structures, out, *options):
        return run([self.biogpu, "infer", "design", "-q", "--device", self.device, "--model", self.model, structures,
                    "-o", out, *options])

    def tests(self):
        test = self.prefix / "libexec/biogpu/tests/proteinmpnn_gpu_test"
        done, wall = run(["env", "BIOGPU_REQUIRE_GPU=1", f"BIOGPU_TEST_DATA={HERE.parents[2] / 'tests/data'}", test])
        return {"said": done.stdout.strip().splitlines()[-1], "wall_s": wall}

    def fidelity(self):
        """Sequences, scores and log-probabilities of whole inputs for the same random numbers."""
        import safetensors.numpy
        rows = []
        names = [self.inputs[200]] + [self.source / "inputs" / n for n in
                                      ("PDB_monomers/pdbs/5L33.pdb", "PDB_complexes/pdbs/3HTN.pdb")]
        for path in names:
            f = self.original.featurize(path)
            n, name = f["X"].shape[1], f["name"]
            generator = self.torch.Generator().manual_seed(n)
            draws = {f"{name}/order_native": self.torch.randn(n, generator=generator).numpy(),
                     f"{name}/order": self.torch.randn((2, n), generator=generator).numpy(),
                     f"{name}/uniform": self.torch.rand((2, n), generator=generator).numpy()}
            safetensors.numpy.save_file(draws, self.work / "draws.safetensors")
            self.design(path, self.work / "out.fa", "-n", "2", "--temperature", "1.0", "--draws",
                        self.work / "draws.safetensors", "--save-probs", self.work / "probs.npz")
            sequences = (self.work / "out.fa").read_text().splitlines()[3::2]
            ours = np.load(self.work / "probs.npz")[f"{name}/log_probs"]
            present = f["mask"][0].cpu().numpy() > 0
            worst = 0.0
            for s in range(2):
                order = self.torch.from_numpy(draws[f"{name}/order"][s])[None]
                letters, log_probs, _ = self.original.sample(f, order, draws[f"{name}/uniform"][s], 1.0)
                if self.original.text(f, letters) != sequences[s]:
                    raise RuntimeError(f"{path.stem}: sequence {s} differs from the original's")
                difference = np.abs(ours[s] - log_probs[0].cpu().numpy())[present]
                worst = max(worst, float(difference.max()))
            if worst > 1e-4:
                raise RuntimeError(f"{path.stem}: log-probabilities differ by {worst}")
            rows.append({"structure": path.stem, "residues": n, "samples": 2, "worst_log_probability": worst})
            log(f"fidelity: {rows[-1]}")
        return rows

    def timed(self, call, n_runs):
        seconds = []
        for i in range(n_runs + 1):
            self.synchronize()
            started = time.perf_counter()
            call()
            self.synchronize()
            if i > 0:
                seconds.append(time.perf_counter() - started)
        return statistics.median(seconds)

    def synchronize(self):
        if self.torch.cuda.is_available():
            self.torch.cuda.synchronize()

    def times(self):
        path = self.work / "bench.json"
        command = [self.biogpu, "infer", "bench", "--device", self.device, "--model", self.model, "--runs", "20",
                   "--samples", "1,8", "--json", path]
        for structure in self.inputs.values():
            command += ["--structure", structure]
        print(run(command)[0].stdout, flush=True)
        rows = json.loads(path.read_text())["structures"]
        features = {n: self.original.featurize(p) for n, p in self.inputs.items()}
        for row in rows:
            f, n = features[row["residues"]], row["sequences"]
            if row["stage"] == "sample":
                row["original_s"] = self.timed(lambda: self.original.draw(f, n), 3)  # noqa: B023
            elif n == 1:
                randn = self.torch.randn(f["S"].shape)
                row["original_s"] = self.timed(lambda: self.original.log_probs(f, f["S"], randn), 10)  # noqa: B023
            row["bar_ms"] = BARS_MS.get((row["stage"], row["residues"], n))
            log(f"times: {row}")
        return rows

    def files(self):
        """Structures from files to FASTA; the original's time is that of the first ten, by ten a file."""
        folder = self.work / "many"
        folder.mkdir()
        residues = residues_of(self.source / "inputs" / SOURCES[500])
        random = np.random.default_rng(1)
        for i in range(self.n_structures):
            first = int(random.integers(0, len(residues) - 200))
            write_pdb(folder / f"s{i:04d}.pdb", residues[first:first + 200],
                      lambda xyz: xyz + random.normal(0, 0.02, xyz.shape))
        walls = [self.design(folder, self.work / "many.fa", "--json", self.work / "many.json")[1] for _ in range(3)]
        done, cpu_wall = run([self.biogpu, "infer", "design", "-q", "--device", "cpu", "--model", self.model, folder,
                              "-o", self.work / "many_cpu.fa"])
        sequences = [(self.work / name).read_text().splitlines()[3::4] for name in ("many.fa", "many_cpu.fa")]
        same = sum(a == b for a, b in zip(*sequences)) / len(sequences[0])
        if len(sequences[0]) != self.n_structures or same < 0.98:
            raise RuntimeError(f"files: {same} of the sequences are those of the CPU")

        def serial():
            for path in sorted(folder.iterdir())[:10]:
                f = self.original.featurize(path)
                randn = self.torch.randn(f["S"].shape)
                self.original.log_probs(f, f["S"], randn)
                letters = self.original.draw(f, 1)["S"]
                self.original.scores(f, letters, self.original.log_probs(f, letters, randn))

        original = self.timed(serial, 1) / 10 * self.n_structures
        return {"structures": self.n_structures, "residues": 200, "wall_s": statistics.median(walls),
                "least_wall_s": min(walls), "cpu_wall_s": cpu_wall, "cpu_cores": os.cpu_count(),
                "same_sequences_as_cpu": same, "original_s": original,
                "ours": json.loads((self.work / "many.json").read_text())["time"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("original", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--structures", type=int, default=1000)
    parser.add_argument("--device", default="gpu")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        cuda = bench.torch.cuda
        results = {"gpu": cuda.get_device_name() if cuda.is_available() else "no GPU", "torch": bench.torch.__version__}
        for part in arguments.only.split(","):
            try:
                results[part] = getattr(bench, part)()
                log(f"{part}: {results[part]}")
            except Exception as error:  # the other parts are still worth their time
                failed.append(part)
                log(f"FAILED {part}: {error}")
            (arguments.out / "infer_design_gpu.json").write_text(json.dumps(results, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
