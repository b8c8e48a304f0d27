#!/usr/bin/env python3
"""Times energies and forces of TensorNet on a CPU by the order of atoms in the file, by one or more builds in turns.

usage: scripts/bench/infer_atom_order.py LIBRARY... [--sizes N,...] [--layers N] [--threads N] [--runs N] [--json FILE]

LIBRARY is a build's libbiogpu_potential.so. A model of 128 channels, 32 radial functions and a cutoff of 4.5 A with random
weights, and random atoms at the density of proteins. Orders: `rows` of the grid that atoms are placed on, as lattices are
written, and `shuffled`, the worst. Builds and orders take turns; medians of the processor's user seconds over --runs calls
are printed, with their ratio to those of the first build with atoms in rows. Forces of all builds and orders are compared
first, to 1e-4 of the largest. Needs Python alone.
"""

import argparse
import ctypes
import json
import math
import pathlib
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile

WIDTH, RADIAL, CUTOFF, TYPES = 128, 32, 4.5, 20
SPACING, SPREAD = 2.0, 0.3  # Angstrom: of a grid of random atoms, and about its points
TOLERANCE = 1e-4  # of the largest force: sums are added in another order


def tensors_of(layers):
    """Name, shape, of a checkpoint of torchmd-net."""
    linear = {"output_model.output_network.layers.0": (WIDTH // 2, WIDTH), "output_model.output_network.layers.2": (1, WIDTH // 2),
              "representation_model.linear": (WIDTH, 3 * WIDTH)}
    shapes = {"mean": (), "std": (), "representation_model.distance_expansion.betas": (RADIAL,),
              "representation_model.distance_expansion.means": (RADIAL,)}
    embedding = "representation_model.tensor_embedding."
    for i in (1, 2, 3):
        linear[f"{embedding}distance_proj{i}"] = (WIDTH, RADIAL)
        shapes[f"{embedding}linears_tensor.{i - 1}.weight"] = (WIDTH, WIDTH)
    linear[f"{embedding}emb2"] = (WIDTH, 2 * WIDTH)
    shapes[f"{embedding}emb.weight"] = (TYPES, WIDTH)
    linear[f"{embedding}linears_scalar.0"] = (2 * WIDTH, WIDTH)
    linear[f"{embedding}linears_scalar.1"] = (3 * WIDTH, 2 * WIDTH)
    for name, n in ((f"{embedding}init_norm", WIDTH), ("representation_model.out_norm", 3 * WIDTH)):
        shapes[f"{name}.weight"] = shapes[f"{name}.bias"] = (n,)
    for layer in range(layers):
        name = f"representation_model.layers.{layer}."
        for i, shape in enumerate(((WIDTH, RADIAL), (2 * WIDTH, WIDTH), (3 * WIDTH, 2 * WIDTH))):
            linear[f"{name}linears_scalar.{i}"] = shape
        for i in range(6):
            shapes[f"{name}linears_tensor.{i}.weight"] = (WIDTH, WIDTH)
    for name, shape in linear.items():
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = shape, shape[:1]
    return shapes


def numbers_of(name, shape, generator):
    n = math.prod(shape)
    if name == "mean":
        return [0.0]
    if name == "std" or name.endswith("norm.weight"):
        return [1.0] * n
    if name.endswith("norm.bias"):
        return [0.0] * n
    low = math.exp(-CUTOFF)  # of radial functions, as torchmd-net begins
    if name.endswith("means"):
        return [low + (1 - low) * i / (n - 1) for i in range(n)]
    if name.endswith("betas"):
        return [(2 / n * (1 - low)) ** -2] * n
    return [generator.gauss(0, shape[-1] ** -0.5) for _ in range(n)]


def write_model(folder, layers):
    generator, header, data = random.Random(1), {}, bytearray()
    for name, shape in tensors_of(layers).items():
        numbers = numbers_of(name, shape, generator)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": (len(data), len(data) + 4 * len(numbers))}
        data += struct.pack(f"<{len(numbers)}f", *numbers)
    text = json.dumps(header).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    config = {"model_type": "tensornet", "energy_unit": "eV", "length_unit": "angstrom", "embedding_dimension": WIDTH,
              "num_layers": layers, "num_rbf": RADIAL, "rbf_type": "expnorm", "trainable_rbf": False, "activation": "silu",
              "cutoff_lower": 0.0, "cutoff_upper": CUTOFF, "max_z": TYPES, "max_num_neighbors": 128,
              "equivariance_invariance_group": "O(3)", "output_model": "Scalar", "reduce_op": "add"}
    (folder / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")


def random_atoms(n):
    generator, side = random.Random(n), math.ceil(n ** (1 / 3))
    return [(generator.choice((1, 6, 7, 8)), *(SPACING * k + generator.uniform(-SPREAD, SPREAD)
                                         for k in (i % side, i // side % side, i // side // side))) for i in range(n)]


class Atoms(ctypes.Structure):
    """biogpu_atoms of lib/c_api/potential.h."""

    _fields_ = [("n", ctypes.c_int64), *((name, ctypes.c_void_p) for name in
                ("atomic_numbers", "positions", "box", "charge", "neighbours"))]


def worker(path, model, threads):
    """Computes the systems of lines of standard input; writes user seconds, energy and forces."""
    library = ctypes.CDLL(path)
    library.biogpu_potential_error.restype = ctypes.c_char_p
    potential = ctypes.c_void_p()

    def call(name, *options):
        if getattr(library, f"biogpu_potential_{name}")(*options) != 0:
            sys.exit(f"{path}: {library.biogpu_potential_error().decode()}")

    call("load", model.encode(), b"cpu", b"auto", threads, ctypes.byref(potential))
    for line in sys.stdin:
        atoms = json.loads(line)
        n = len(atoms)
        numbers = (ctypes.c_int32 * n)(*(atom[0] for atom in atoms))
        positions = (ctypes.c_double * (3 * n))(*(x for atom in atoms for x in atom[1:]))
        energy, forces = ctypes.c_double(), (ctypes.c_double * (3 * n))()
        system = Atoms(n, ctypes.addressof(numbers), ctypes.addressof(positions), None, None, None)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        call("compute", potential, ctypes.byref(system), ctypes.byref(energy), forces, None)
        seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
        print(json.dumps([seconds, energy.value, list(forces)]), flush=True)


class Build:
    def __init__(self, path, model, arguments):
        command = [sys.executable, str(pathlib.Path(__file__).absolute()), "--worker", model, "--threads", str(arguments.threads), path]
        self.child = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def compute(self, atoms):
        self.child.stdin.write(json.dumps(atoms) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            sys.exit(self.child.wait() or 1)
        return json.loads(line)


def measure(arguments, builds, n):
    atoms, orders = random_atoms(n), {"rows": list(range(n)), "shuffled": list(range(n))}
    random.Random(2).shuffle(orders["shuffled"])
    cases = [(path, name) for path in builds for name in orders]
    seconds, first, worst = {case: [] for case in cases}, None, 0.0
    for turn in range(arguments.runs + 1):
        for path, name in cases:
            order = orders[name]
            user, _, flat = builds[path].compute([atoms[i] for i in order])
            if turn > 0:  # memory is taken in the first
                seconds[path, name].append(user)
                continue
            forces = [0.0] * (3 * n)
            for row, atom in enumerate(order):
                forces[3 * atom:3 * atom + 3] = flat[3 * row:3 * row + 3]
            first = first or forces
            worst = max(worst, max(abs(x - y) for x, y in zip(forces, first)) / max(abs(x) for x in first))
            if not worst <= TOLERANCE:
                sys.exit(f"{n} atoms: forces differ by {worst:.3g} of the largest")
    rows, base = [], statistics.median(seconds[cases[0]])
    for path, name in cases:
        every = seconds[path, name]
        median = statistics.median(every)
        rows.append({"atoms": n, "library": str(path), "order": name, "user_s": median, "by_first": median / base,
                     "least_s": min(every), "most_s": max(every), "forces_difference": worst})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="+", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--sizes", type=lambda text: [int(word) for word in text.split(",")], default=[2500, 6000, 30000])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--worker", metavar="MODEL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(str(arguments.library[0]), arguments.worker, arguments.threads)
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as name:
        model = pathlib.Path(name) / "model"
        write_model(model, arguments.layers)
        builds = {path: Build(path, model, arguments) for path in arguments.library}
        for n in arguments.sizes:
            rows += measure(arguments, builds, n)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
