#!/usr/bin/env python3
"""Times energies and forces of TensorNet, and its operations, by biogpu and by torchmd-net in one run.

usage: scripts/bench/infer_potential.py BIOGPU --json FILE [--device cpu|gpu] [--threads N] [--structures FOLDER]
                                        [--sizes N,...] [--molecules N] [--atoms N,...] [--runs N] [--exact N]

A model of torchmd-net's default shape (128 channels, 2 layers, 32 radial functions, cutoff 4.5 A) with random weights, fp32
without TF32. First energies and forces of both programs are compared, to 1e-4 of the largest where neither is compared with double
precision; only then is a size timed.
Up to --exact atoms [5807, on a CPU 500] torchmd-net in double precision is the reference of biogpu's fp32, of its fp64 (on the
CPU, up to 500 atoms) and of torchmd-net's fp32: exact has their differences, of forces in the largest force, which are to be
at most 1e-5 in fp32 and 3e-8 in fp64, and of the energies of whole molecules in kcal/mol and in the largest energy. The status is 1 where a
bar is missed; FILE is written all the same.
Sizes of 22, 166, 2489 and 5807 atoms are the structures of FOLDER (alanine_dipeptide, chignolin, dhfr, factorIX, as
.pdb or .pdb.gz) where it has them, others are random atoms at the density of proteins. A batch is --molecules of 22 atoms.

biogpu: wall time of `infer energy --forces` on M + 4 frames minus that on 4 frames, divided by M; median of three.
Loading and graph capture cancel out; reading frames and listing edges count. biogpu_device_s: the part on the GPU.
torchmd-net: the median of --runs calls of its model, plain, and on a GPU
replayed as a CUDA graph. With warp-lang it runs its own kernels and finds its edges; without, its plain operations, and
edges that are given to it, whose time does not count. operations: the eager expressions of torchmd-net at --atoms, and
the rows of `biogpu infer bench` that do at least as much, by the time of an edge where there are edges. exponent: of time
by atoms, from the three largest sizes.

Needs torch, numpy, ase, safetensors, and torchmd-net 3.1.0 (PYTHONPATH will do: it is pure Python).
"""

import argparse
import contextlib
import copy
import gzip
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types
import unittest.mock

import numpy
import safetensors.torch
import torch

SHAPE = {"model": "tensornet", "embedding_dimension": 128, "num_layers": 2, "num_rbf": 32, "rbf_type": "expnorm",
         "trainable_rbf": False, "activation": "silu", "cutoff_lower": 0.0, "cutoff_upper": 4.5, "max_z": 100,
         "max_num_neighbors": 128, "equivariance_invariance_group": "O(3)", "output_model": "Scalar", "prior_model": None,
         "reduce_op": "add", "precision": 32, "derivative": True, "atom_filter": -1}
DROPPED = ("model", "derivative", "atom_filter", "precision")  # not of config.json
STRUCTURES = {22: "alanine_dipeptide", 166: "chignolin", 2489: "dhfr", 5807: "factorIX"}
NUMBERS = {"H": 1, "C": 6, "N": 7, "O": 8, "S": 16, "CA": 20}
SYMBOLS = {number: symbol.capitalize() for symbol, number in NUMBERS.items()}
SPACING, SPREAD = 2.0, 0.3  # Angstrom: of a grid of random atoms, and about its points
TOLERANCE = 1e-4  # of the largest number: sums are added in another order
ATOMS_OF_A_BATCH = 32768
# Against double precision: of the largest force.
BARS = {"fp32": 1e-5, "fp64": 3e-8}
EXACT = {"gpu": 5807, "cpu": 500}  # atoms up to which torchmd-net computes in double precision
ATOMS_OF_FP64 = 500  # biogpu's fp64 is of one core
KCAL_MOL = 23.060547830619  # in an eV
FRAMES, INPUT_BYTES = 20000, 60e6  # at most in one run
# Rows of `biogpu infer bench` that do at least what torchmd-net's expression does. Vectors become tensors, of both kinds at
# once, where they are weighted and summed over edges; the expressions are these sums of one kind. biogpu keeps tensors as
# their parts and decomposes nothing: the row is of the products that torchmd-net decomposes, which its expression has too.
ROWS = {"vector to symmetric tensor": "tensor embedding", "vector to skew tensor": "tensor embedding",
        "decomposition": "tensor product", "message passing": "message sum of tensors",
        "cutoff with message passing": "radial table + message sum of tensors"}


class Neighbours:
    """torchmd-net's list of pairs where its Warp kernels are not there: found once, displacements taken in each call."""

    edges = None

    @classmethod
    def find(cls, positions, batch, cutoff):
        found = []
        for molecule in range(int(batch.max()) + 1):
            atoms = torch.nonzero(batch == molecule).flatten()
            x = positions[atoms].double()
            for rows in torch.split(torch.arange(len(atoms), device=x.device), 2048):
                squares = ((x[rows, None] - x[None]) ** 2).sum(-1)
                near = torch.nonzero(squares < cutoff ** 2)  # an atom with itself too
                found.append(torch.stack([atoms[rows[near[:, 0]]], atoms[near[:, 1]]]))
        cls.edges = torch.cat(found, 1)

    @classmethod
    def pairs(cls, strategy, positions, batch, box_vectors, use_periodic, **_):
        vectors = positions[cls.edges[0]] - positions[cls.edges[1]]
        is_self = (cls.edges[0] == cls.edges[1])[:, None]
        # The norm of 0 has no slope.
        distances = torch.where(is_self, torch.ones_like(vectors), vectors).norm(dim=1).masked_fill(is_self[:, 0], 0)
        count = torch.tensor([cls.edges.shape[1]], device=positions.device)
        return cls.edges, vectors, distances, count


def import_torchmdnet():
    """torchmd-net's create_model and module of TensorNet, and whether its Warp kernels are there."""
    try:
        import warp  # noqa: F401
    except ImportError:
        module = types.ModuleType("torchmdnet.extensions.ops")
        module.get_neighbor_pairs_kernel = Neighbours.pairs
        sys.modules["torchmdnet.extensions.ops"] = module
    from torchmdnet.models import tensornet
    from torchmdnet.models.model import create_model

    return create_model, tensornet, tensornet.OPT


def read_pdb(path):
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    atoms = [line for line in text.decode("ascii").splitlines() if line.startswith(("ATOM", "HETATM"))]
    numbers = [NUMBERS[line[76:78].strip().upper()] for line in atoms]
    return numbers, [[float(line[i:i + 8]) for i in (30, 38, 46)] for line in atoms]


def random_atoms(n, seed):
    random = numpy.random.default_rng(seed)
    side = math.ceil(n ** (1 / 3))
    grid = numpy.array([(i % side, i // side % side, i // side // side) for i in range(n)])
    positions = SPACING * grid + random.uniform(-SPREAD, SPREAD, (n, 3))
    return random.choice([1, 6, 7, 8], n).tolist(), positions.round(4).tolist()


def atoms_of(n, folder):
    """Atomic numbers and positions, and where they are from."""
    for suffix in (".pdb", ".pdb.gz"):
        path = folder / (STRUCTURES.get(n, "none") + suffix) if folder else None
        if path and path.is_file():
            numbers, positions = read_pdb(path)
            if len(numbers) == n:
                return numbers, positions, path.name
    return *random_atoms(n, n), "random"


def write_frames(path, molecules, repeats=1):
    text = []
    for numbers, positions in molecules:
        text += [f"{len(numbers)}", "Properties=species:S:1:pos:R:3"]
        text += [f"{SYMBOLS[z]} {x:.4f} {y:.4f} {w:.4f}" for z, (x, y, w) in zip(numbers, positions)]
    path.write_text(("\n".join(text) + "\n") * repeats, encoding="ascii")


class Biogpu:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder

    def run(self, *options, device=None):
        command = [self.arguments.biogpu, "infer", *options, "--device", device or self.arguments.device, "--threads",
                   self.arguments.threads, "--json", "biogpu.json"]
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
        return json.loads((self.folder / "biogpu.json").read_text(encoding="utf-8"))

    def results(self, molecules, precision="fp32"):
        """Energies, and the forces of all atoms."""
        write_frames(self.folder / "frames.xyz", molecules)
        self.run("energy", "-q", "--model", "model", "--forces", "--precision", precision, "frames.xyz", "-o", "out.extxyz",
                 device="cpu" if precision == "fp64" else None)
        energies, forces = [], []
        lines = (self.folder / "out.extxyz").read_text(encoding="ascii").splitlines()
        while lines:
            n = int(lines[0])
            energies.append(float(lines[1].split(" energy=")[1].split()[0]))
            forces += [[float(x) for x in line.split()[4:7]] for line in lines[2:n + 2]]
            lines = lines[n + 2:]
        return numpy.array(energies), numpy.array(forces)

    def times(self, molecules, repeats):
        """Wall seconds, and those of a GPU."""
        n_atoms = sum(len(numbers) for numbers, _ in molecules)
        batch = ["--batch", n_atoms] if n_atoms <= ATOMS_OF_A_BATCH else []
        write_frames(self.folder / "frames.xyz", molecules, repeats)
        summary = self.run("energy", "-q", "--model", "model", "--forces", *batch, "frames.xyz", "-o", "out.tsv")
        return numpy.array([summary["time"]["wall_s"], summary["time"].get("gpu_s", 0)])

    def seconds(self, molecules, enough):
        """Of one pass over the molecules, behind a few that do not count: a run's start takes as long as many passes."""
        first = 4
        base = self.times(molecules, first)[0]
        more = 36 if base < 4 * enough else 2 * first
        once = max(1e-6, (self.times(molecules, more)[0] - base) / (more - first))
        bytes_of_one = (self.folder / "frames.xyz").stat().st_size / more
        n = int(max(first, min(math.ceil(enough / once), FRAMES - first, INPUT_BYTES // bytes_of_one - first)))
        found = []
        for _ in range(3):
            base = self.times(molecules, first)
            found.append((self.times(molecules, first + n) - base) / n)
        wall, device = numpy.median(found, axis=0)
        if not wall > 0:
            sys.exit(f"{n} passes take no longer than none: {found}")
        return {"biogpu_s": float(wall), **({"biogpu_device_s": float(device)} if device > 0 else {})}

    def operations(self, atoms):
        found = {}
        for row in sorted(set(ROWS.values())):
            summary = self.run("bench", "--only", row, "--atoms", ",".join(map(str, atoms)))
            rows = [one for one in summary["ops"] if one["op"] == row]
            found[row] = {int(one["shape"].split(": ")[1].split()[0]): one for one in rows}
        return found


class Reference:
    def __init__(self, arguments, folder):
        create_model, self.tensornet, self.has_warp = import_torchmdnet()
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.set_num_threads(arguments.threads)
        torch.manual_seed(1)
        self.device = torch.device("cpu" if arguments.device == "cpu" else "cuda")
        self.runs = arguments.runs
        self.model = create_model(dict(SHAPE)).eval()
        (folder / "model").mkdir()
        config = {"model_type": "tensornet", "energy_unit": "eV", "length_unit": "angstrom",
                  **{key: SHAPE[key] for key in SHAPE if key not in DROPPED and SHAPE[key] is not None}}
        (folder / "model" / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")
        state = {key: value.contiguous() for key, value in self.model.state_dict().items() if value.is_floating_point()}
        safetensors.torch.save_file(state, folder / "model" / "model.safetensors")
        self.model.to(self.device)
        # Edges have no pads where they are given.
        self.model.representation_model.distance.resize_to_fit = self.has_warp

    def load(self, molecules):
        self.numbers = torch.tensor(sum((numbers for numbers, _ in molecules), []), device=self.device)
        self.positions = torch.tensor(sum((positions for _, positions in molecules), []), dtype=torch.float32,
                                      device=self.device)
        sizes = torch.tensor([len(numbers) for numbers, _ in molecules])
        self.batch = torch.arange(len(molecules)).repeat_interleave(sizes).to(self.device)
        self.n_molecules = len(molecules)
        if not self.has_warp:
            Neighbours.find(self.positions, self.batch, SHAPE["cutoff_upper"])

    def compute(self):
        return self.model(self.numbers, self.positions.detach(), self.batch, num_systems=self.n_molecules)

    def results(self):
        energies, forces = self.compute()
        return energies.detach().double().cpu().numpy().ravel(), forces.detach().double().cpu().numpy()

    def plain_operations(self):
        """Instead of the Warp kernels, which compute in single precision."""
        names = ("compose_tensor", "decompose_tensor", "tensor_matmul_o3")
        plain = {"OPT": False, **{name: getattr(self.tensornet, f"_{name}") for name in names}}
        return unittest.mock.patch.multiple(self.tensornet, **plain) if self.has_warp else contextlib.nullcontext()

    def exact_results(self, molecules):
        """The same in double precision, of positions with all their digits."""
        model = copy.deepcopy(self.model).double()
        positions = torch.tensor(sum((positions for _, positions in molecules), []), dtype=torch.float64, device=self.device)
        if not self.has_warp:
            Neighbours.find(positions, self.batch, SHAPE["cutoff_upper"])
        with self.plain_operations():
            energies, forces = model(self.numbers, positions, self.batch, num_systems=self.n_molecules)
        if not self.has_warp:
            Neighbours.find(self.positions, self.batch, SHAPE["cutoff_upper"])
        return energies.detach().cpu().numpy().ravel(), forces.detach().cpu().numpy()

    def timed(self, call):
        for _ in range(3):
            call()
        seconds = []
        for _ in range(self.runs):
            self.wait()
            start = time.perf_counter()
            call()
            self.wait()
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds)

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def seconds(self):
        """Of plain calls, and of a replayed CUDA graph; a text where that cannot be had."""
        try:
            plain = self.timed(self.compute)
        except torch.cuda.OutOfMemoryError:
            return "out of memory", "out of memory"
        if self.device.type != "cuda":
            return plain, "needs a GPU"
        if self.has_warp:
            return plain, "not captured with Warp kernels"
        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(3):
                    self.compute()
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                energies, forces = self.compute()
            right = self.results()
            graph.replay()
            self.wait()
            for got, want in zip((energies, forces), right):
                if not difference(got.detach().double().cpu().numpy().reshape(want.shape), want) <= TOLERANCE:
                    return plain, "the replayed graph has other results"
            return plain, self.timed(graph.replay)
        except torch.cuda.OutOfMemoryError:
            return plain, "out of memory"
        except RuntimeError as error:
            return plain, f"not captured: {str(error).splitlines()[0]}"


def difference(ours, theirs):
    return float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max()) if ours.shape == theirs.shape else math.inf


def exact_differences(results, right):
    energies = numpy.abs(results[0] - right[0]).max()
    return {"forces": difference(results[1], right[1]), "energy_kcal_mol": float(energies * KCAL_MOL),
            "energy": float(energies / numpy.abs(right[0]).max())}


def exact(molecules, biogpu, reference, theirs):
    """Differences to torchmd-net in double precision, and of each bar whether it is held."""
    right = reference.exact_results(molecules)
    if right[1].dtype != numpy.float64 or not all(numpy.isfinite(part).all() for part in right):
        sys.exit("torchmd-net did not compute in double precision")
    found = {"fp32": exact_differences(biogpu.results(molecules), right),
             "torchmdnet_fp32": exact_differences(theirs, right)}
    if sum(len(numbers) for numbers, _ in molecules) <= ATOMS_OF_FP64:
        found["fp64"] = exact_differences(biogpu.results(molecules, "fp64"), right)
    for precision, bar in BARS.items():
        if precision in found:
            found[precision]["holds"] = found[precision]["forces"] <= bar
    return found


def missed_bars(rows):
    return [f"{row['case']}: forces in {precision} differ by {one['forces']:.3g} of the largest, more than {BARS[precision]:g}"
            for row in rows for precision, one in row.get("exact", {}).items() if not one.get("holds", True)]


def measure(name, molecules, biogpu, reference):
    row = {"case": name, "atoms": sum(len(numbers) for numbers, _ in molecules), "molecules": len(molecules)}
    reference.load(molecules)
    try:
        theirs = reference.results()
    except torch.cuda.OutOfMemoryError:
        row["compared"] = "torchmd-net is out of memory"
    else:
        for what, a, b in zip(("energies", "forces"), biogpu.results(molecules), theirs):
            row[f"{what}_difference"] = difference(a, b)
        if row["atoms"] <= biogpu.arguments.exact:  # judged by its bars: torchmd-net's fp32 is no reference then
            row["exact"] = exact(molecules, biogpu, reference, theirs)
        for what in ("energies", "forces"):
            if "exact" not in row and not row[f"{what}_difference"] <= TOLERANCE:
                sys.exit(f"{name}: {what} differ by {row[f'{what}_difference']:.3g} of the largest")
    plain, graph = reference.seconds()
    if reference.device.type == "cuda":
        torch.cuda.empty_cache()  # the other program needs the memory
    row.update(biogpu.seconds(molecules, 1))
    row["torchmdnet_s"], row["torchmdnet_graph_s"] = plain, graph
    for key in ("torchmdnet", "torchmdnet_graph"):
        if isinstance(row[f"{key}_s"], float):
            row[f"{key}_by_biogpu"] = row[f"{key}_s"] / row["biogpu_s"]
    return row


def expressions(tensornet, n, device, dtype, seed=3):
    """The five operations over n atoms in molecules of up to 4,096, 128 channels, as torchmd-net's plain code has them."""
    n_molecules = (n + 4095) // 4096
    x, batch = [], []
    for molecule in range(n_molecules):
        x += random_atoms(n // n_molecules, seed + molecule)[1]
        batch += [molecule] * (n // n_molecules)
    x, batch = torch.tensor(x, device=device, dtype=dtype), torch.tensor(batch, device=device)
    Neighbours.find(x, batch, SHAPE["cutoff_upper"])
    edges, vectors, distances, _ = Neighbours.pairs("", x, batch, None, False)
    units = vectors / distances.masked_fill(distances == 0, 1)[:, None]
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(device=device, dtype=dtype)

    width, n_edges, n = SHAPE["embedding_dimension"], edges.shape[1], len(x)
    decompose, product = tensornet._decompose_tensor, tensornet._tensor_matmul_o3
    tensors, others = numbers(n, 3, 3, width), numbers(n, 3, 3, width)
    parts, weights = decompose(tensors), numbers(n_edges, 3, width)
    cutoff = tensornet.CosineCutoff(0.0, SHAPE["cutoff_upper"])

    def symmetric():
        outer = weights[:, 2, None, None, :] * (units[:, :, None] * units[:, None, :])[..., None]
        return tensornet.outer_to_symtensor(torch.zeros_like(tensors).index_add(0, edges[0], outer))

    def skew():
        vectors_of_edges = weights[:, 1, None, :] * units[..., None]
        return tensornet.vector_to_skewtensor(torch.zeros_like(tensors[:, 0]).index_add(0, edges[0], vectors_of_edges))

    def divided_product():
        both = product(tensors, others)
        norms = tensornet.tensor_norm(both) + 1
        i, a, s = decompose(both)
        return i / norms, a / norms[:, None, None, :], s / norms[:, None, None, :]

    def messages(factors):
        return tensornet.tensornet_interaction_message_passing(*parts, factors, edges, n)

    return n, n_edges, {
        "vector to symmetric tensor": symmetric,
        "vector to skew tensor": skew,
        "decomposition": divided_product,
        "message passing": lambda: messages(weights),
        "cutoff with message passing": lambda: messages(weights * cutoff(distances)[:, None, None]),
    }, lambda: tensornet.tensornet_embedding_message_passing(units, weights, edges, n)


def check_expressions(tensornet, device):
    """That the first two are parts of torchmd-net's own embedding, and all in single precision what they are in double."""
    single = expressions(tensornet, 300, device, torch.float32)[2]
    calls, embedding = expressions(tensornet, 300, device, torch.float64)[2:]
    for call, part in zip((calls["vector to skew tensor"], calls["vector to symmetric tensor"]), embedding()[1:]):
        if not difference(call().cpu().numpy(), part.cpu().numpy()) <= 1e-12:
            sys.exit("the expressions are not those of torchmd-net's embedding")
    for name, call in calls.items():
        got, want = single[name](), call()
        for a, b in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
            if not difference(a.double().cpu().numpy(), b.cpu().numpy()) <= TOLERANCE:
                sys.exit(f"{name}: single and double precision differ")


def measure_operations(arguments, biogpu, reference):
    with torch.no_grad():
        check_expressions(reference.tensornet, reference.device)
        ours, rows = biogpu.operations(arguments.atoms), []
        for n in arguments.atoms:
            n_atoms, n_edges, calls, _ = expressions(reference.tensornet, n, reference.device, torch.float32)
            for name, call in calls.items():
                row = {"operation": name, "atoms": n_atoms, "edges": n_edges}
                try:
                    row["eager_s"] = reference.timed(call)
                except torch.cuda.OutOfMemoryError:
                    row["eager_s"] = "out of memory"
                one = ours[ROWS[name]][n_atoms]
                row.update(biogpu_row=ROWS[name], biogpu_shape=one["shape"], biogpu_s=one["seconds"], biogpu_error=one["error"])
                edges_of_row = re.search(r"(\d+) edges", one["shape"])
                per_edge = int(edges_of_row[1]) / n_edges if edges_of_row else 1
                if isinstance(row["eager_s"], float):
                    row["eager_by_biogpu"] = row["eager_s"] / one["seconds"] * per_edge
                rows.append(row)
                print(json.dumps(row), flush=True)
    return rows


def exponent(rows, key):
    """The slope of log time by log atoms."""
    points = [(row["atoms"], row[key]) for row in rows if isinstance(row[key], float)][-3:]
    if len(points) < 2:
        return None
    return float(numpy.polyfit(*numpy.log(numpy.array(points)).T, 1)[0])


def numbers_of(text):
    return [int(word) for word in text.split(",") if word]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--structures", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--sizes", type=numbers_of, default=numbers_of("22,166,2489,4096,5807,30000"))
    parser.add_argument("--molecules", type=int, default=256, help="of 22 atoms in a batch; 0: none")
    parser.add_argument("--atoms", type=numbers_of, default=numbers_of("1024,4096,16384,65536"),
                        help="of the operations; '': none")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--exact", type=int, help="atoms up to which torchmd-net computes in double precision; 0: none")
    arguments = parser.parse_args()
    if arguments.exact is None:
        arguments.exact = EXACT[arguments.device]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        biogpu, reference = Biogpu(arguments, folder), Reference(arguments, folder)
        results = {"device": torch.cuda.get_device_name() if arguments.device == "gpu" else "cpu", "threads": arguments.threads,
                   "torch": torch.__version__, "warp_kernels": reference.has_warp,
                   "exact": "against torchmd-net in double precision; forces and energy: of the largest", "ladder": []}
        for n in sorted(arguments.sizes):
            numbers, positions, origin = atoms_of(n, arguments.structures)
            results["ladder"].append(measure(f"{n} atoms ({origin})", [(numbers, positions)], biogpu, reference))
            print(json.dumps(results["ladder"][-1]), flush=True)
        for key in ("biogpu_s", "torchmdnet_s", "torchmdnet_graph_s"):
            results[f"exponent_of_{key}"] = exponent(results["ladder"], key)
        if arguments.molecules > 0:
            molecules = [random_atoms(22, seed) for seed in range(arguments.molecules)]
            results["batch"] = measure(f"{arguments.molecules} molecules of 22 atoms", molecules, biogpu, reference)
            print(json.dumps(results["batch"]), flush=True)
        if arguments.atoms:
            results["operations"] = measure_operations(arguments, biogpu, reference)
    arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    missed = missed_bars([*results["ladder"], *([results["batch"]] if "batch" in results else [])])
    for line in missed:
        print(line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
