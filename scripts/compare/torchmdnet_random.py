#!/usr/bin/env python3
"""Compares `biogpu infer energy` with torchmd-net on checkpoints with random hyperparameters, through the converter.

usage: scripts/compare/torchmdnet_random.py BIOGPU [--runs N] [--seed S] [--first N] [--json FILE] [--keep FOLDER]

Each run draws the hyperparameters of a TensorNet or TensorNet2 (odd widths, no layers, every activation, priors in all
forms, boxes, both orders of rows), writes a checkpoint as torchmd-net does, has torchmd-net load it and compute random
molecules in double precision, converts it with scripts/convert/torchmdnet.py and has biogpu compute the same in fp64 and
fp32. Differences of forces are relative to the largest force, but to at least 1 eV/A. Those of energies are relative to the
energy, 1 eV an atom, or the sum of all forces times 1 A, whichever is largest: biogpu has the weights of edges, w(d), in
tables, whose slopes are right to 2e-9 (fp64) of the largest slope of w. A table is exact at the ends of its intervals, so
that a weight is wrong by at most 2e-9 of that slope times the interval, which is shorter than 1 A, and the energy by
dE/dw times that. The forces are dE/dw times slopes: a molecule with a small energy and large forces has no smaller errors
of its energy than one whose energy is large. The status is 1 where a difference is above its bound (BOUNDS), or where biogpu or the converter refuses a checkpoint. --first with --runs 1 repeats
a run, and --keep keeps its files. torchmd-net's plain operations are used, its prior D2 is given the box and its prior
Coulomb the box in nm, as docs/models/tensornet.md says.

Needs torch, numpy and torchmd-net 3.1.0 with warp-lang.
"""

import argparse
import collections
import contextlib
import importlib.util
import io
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "reference"))
sys.path.append(str(ROOT / "scripts" / "convert"))  # behind the package torchmdnet
sys.dont_write_bytecode = True

import make_tensornet as reference  # noqa: E402

BOUNDS = {"fp64": {"energy": 2e-9, "forces": 1e-7}, "fp32": {"energy": 1e-5, "forces": 1e-4}}
SYMBOLS = "X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr".split()
SCALES = {"distance_scale": 1e-10, "energy_scale": 1.602176634e-19}
WIDTHS = (1, 2, 3, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 24, 31, 33)


def converter():
    spec = importlib.util.spec_from_file_location("convert_torchmdnet", ROOT / "scripts" / "convert" / "torchmdnet.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw_prior(rng, name, max_z, cutoff):
    """Arguments of a prior, and the types of atom that it knows."""
    if name == "Atomref":
        rows = rng.choice((max_z, max_z, max(9, max_z - 3), max_z + 5))
        return {"max_z": rows, **rng.choice(({}, {"enable": True}, {"enable": False}, {"trainable": True}))}, rows
    if name == "Coulomb":
        lower = round(rng.uniform(0.05, 0.2), 3)
        return {"lower_switch_distance": lower, "upper_switch_distance": round(lower + rng.uniform(0.05, 0.3), 3),
                "max_num_neighbors": 200, **SCALES}, max_z
    n = min(max_z, rng.choice((54, 12, 18)))
    numbers = [z if rng.random() < 0.9 else rng.randint(1, 53) for z in range(n)]
    numbers[0] = 0
    return {"cutoff_distance": round(cutoff * rng.uniform(0.7, 1.1), 3), "max_num_neighbors": 200, "atomic_number": numbers,
            **SCALES}, n


def draw_priors(rng, max_z, cutoff):
    """Names and arguments in one of torchmd-net's forms, and how many types of atom are known."""
    names = rng.choice(([], [], ["Atomref"], ["Atomref"], ["ZBL"], ["D2"], ["Coulomb"], ["ZBL", "Atomref"], ["Atomref", "D2"],
                        ["D2", "ZBL", "Atomref"], ["Coulomb", "Atomref"], ["Atomref", "Atomref"]))
    drawn = [draw_prior(rng, name, max_z, cutoff) for name in names]
    arguments, known = [one for one, _ in drawn], min([max_z, *(n for _, n in drawn)])
    if not names:
        return {"prior_model": rng.choice((None, [], ""))}, known, names, arguments
    forms = [{"prior_model": names, "prior_args": arguments},
             {"prior_model": [{name: one} for name, one in zip(names, arguments)], "prior_args": rng.choice((None, arguments))}]
    if len(set(names)) == len(names):
        forms.append({"prior_model": dict(zip(names, arguments))})
    if len(names) == 1:
        forms += [{"prior_model": names[0], "prior_args": arguments[0]}, {"prior_model": names[0], "prior_args": arguments},
                  {"prior_model": names, "prior_args": arguments[0]}]
    return rng.choice(forms), known, names, arguments


def draw_parameters(rng):
    """Hyperparameters as a checkpoint has them, and what the systems have to suit."""
    charged = rng.random() < 0.4
    cutoff = round(rng.uniform(2.2, 4.5), 2)
    max_z = rng.choice((9, 10, 18, 20, 37, 100, 128))
    n_layers, rbf = rng.randint(0, 3), rng.choice(("expnorm", "gauss"))
    parameters = {
        "model": rng.choice(("tensornet2", "tensornetv2_alt", "tensornet-nqe")) if charged else "tensornet",
        "embedding_dimension": rng.choice(WIDTHS), "num_layers": n_layers,
        "num_rbf": rng.randint(2 if rbf == "gauss" else 1, 20), "rbf_type": rbf, "trainable_rbf": rng.random() < 0.5,
        "activation": rng.choice(("silu", "swish", "ssp", "tanh", "sigmoid", "mish")),
        "cutoff_lower": rng.choice((0.0, 0.0, 0, round(rng.uniform(0.2, 1.2), 2))), "cutoff_upper": cutoff, "max_z": max_z,
        "max_num_neighbors": 200, "equivariance_invariance_group": rng.choice(("O(3)", "SO(3)")), "output_model": "Scalar",
        "reduce_op": rng.choice(("add", "add", "sum", "mean")), "precision": rng.choice((32, 64)), "derivative": True,
        "atom_filter": -1, "lr": 1e-4, "output_mlp_num_layers": rng.choice((0, 0, 1, 2, 3))}
    if parameters["embedding_dimension"] == 1:
        parameters["output_mlp_num_layers"] = 0  # torchmd-net cannot make a map of half a channel to half a channel
    if charged:
        parameters["q_dim"] = rng.choice((1, 2, 3, 5, 8))
        parameters["q_weights"] = [round(rng.uniform(0.2, 2), 3) for _ in range(n_layers + 1)]
        if rng.random() < 0.7:
            parameters["output_model"] = "ScalarPlusWeightedCoulomb"
            parameters["coulomb_cutoff"] = rng.choice((None, round(rng.uniform(2.5, 5), 2)))
            parameters["coulomb_max_num_neighbors"] = 200
        parameters["repulsion"] = rng.random() < 0.3
    priors, known, names, arguments = draw_priors(rng, max_z, cutoff)
    parameters.update(priors)
    if parameters["output_model"] == "Scalar" and not parameters.get("repulsion") and rng.random() < 0.2:
        parameters["box_vecs"] = (2.3 * cutoff * np.array([[1, 0, 0], [0.2, 1.05, 0], [-0.3, 0.1, 1.1]])).tolist()
    if rng.random() < 0.3:
        parameters["check_errors"] = rng.random() < 0.5
    return parameters, known, names, arguments


def draw_systems(rng, parameters, known, arguments):
    """Molecules in vacuum and, where the model allows it, in a box."""
    elements = rng.sample([z for z in (1, 6, 7, 8, 5, 3, 2, 15, 16, 17, 11) if z < known], 4)
    cutoffs = [parameters["cutoff_upper"], parameters.get("coulomb_cutoff") or 0]
    cutoffs += [one.get("cutoff_distance", 0) for one in arguments]
    has_box = parameters["output_model"] == "Scalar" or parameters.get("coulomb_cutoff")
    systems = []
    for n in rng.sample(range(2, 24), 3) + [2]:
        numbers, positions = reference.molecule(n, 0.25, elements, rng.randrange(10**6))
        system = {"numbers": numbers, "positions": positions, "charge": rng.choice((0, 0, 1, -1, 2))}
        if has_box and len(systems) == 1:
            system["box"] = 2.02 * max(cutoffs) * np.array([[1, 0, 0], [rng.uniform(-0.45, 0.45), 1.05, 0],
                                                             [rng.uniform(-0.45, 0.45), rng.uniform(-0.45, 0.45), 1.1]])
            system["positions"] = positions * 1.2 + rng.randint(-2, 2) * system["box"][2]
        systems.append(system)
    for system in systems:
        system["partial_charges"] = np.array([round(rng.uniform(-0.9, 0.9), 3) for _ in system["numbers"]])
    return systems


def write_checkpoint(path, rng, parameters):
    """A model with random weights as Lightning writes it, of an old release where the hyperparameters say so."""
    from torchmdnet.models.model import create_model

    arguments = {key: value for key, value in parameters.items() if key != "check_errors"}
    if arguments["model"] != "tensornet":
        arguments["model"] = "tensornet2"
    torch.set_default_dtype(torch.float32)
    model = create_model({**arguments, "precision": 64})
    reference.draw(model, torch.Generator().manual_seed(rng.randrange(10**6)))
    model.mean.fill_(round(rng.uniform(-2, 2), 3))
    model.std.fill_(round(rng.uniform(0.3, 2), 3))
    real = torch.float64 if parameters["precision"] == 64 else torch.float32
    state = {key: value.detach().to(real) if value.is_floating_point() else value.clone()
             for key, value in model.state_dict().items()}
    if "check_errors" in parameters:
        reference.rows_by_channel(state, arguments["num_layers"] if arguments["model"] == "tensornet" else 0)
    if rng.random() < 0.2 and parameters.get("output_mlp_num_layers", 0) == 0:
        state = {key.replace("output_network.layers.", "output_network."): value for key, value in state.items()}
    torch.save({"epoch": 1, "hyper_parameters": parameters, "optimizer_states": [],
                "state_dict": {f"model.{key}": value for key, value in state.items()}}, path)


def theirs(path, names, systems):
    from torchmdnet.models.model import load_model

    # Made as programs make it, whose default is single precision; computed without a rounding to that.
    torch.set_default_dtype(torch.float32)
    with contextlib.redirect_stdout(io.StringIO()):
        model = load_model(str(path)).double()
    torch.set_default_dtype(torch.float64)
    for system in systems:
        box = torch.tensor(system["box"], dtype=torch.float64) if "box" in system else None
        for name, prior in zip(names, model.prior_model or ()):
            if name == "D2":
                reference.use_box_in_d2(prior, box)
            if name == "Coulomb":
                vars(prior.distance).pop("forward", None)  # of the system before
                reference.use_nm_in_coulomb(prior, box)
        energy, forces = model(torch.tensor(system["numbers"], dtype=torch.long),
                               torch.tensor(system["positions"], dtype=torch.float64), box=box,
                               q=torch.tensor([system["charge"]], dtype=torch.float64),
                               extra_args={"partial_charges": torch.tensor(system["partial_charges"])})
        yield energy.item(), forces.detach().numpy()


def write_frames(path, systems):
    text = []
    for system in systems:
        box = f'Lattice="{" ".join(map(repr, system["box"].ravel().tolist()))}" ' if "box" in system else ""
        text += [str(len(system["numbers"])),
                 f'{box}Properties=species:S:1:pos:R:3:partial_charges:R:1 charge={system["charge"]}']
        for z, place, charge in zip(system["numbers"], system["positions"].tolist(), system["partial_charges"]):
            text.append(" ".join([SYMBOLS[z], *map(repr, place), str(charge)]))
    path.write_text("\n".join(text) + "\n", encoding="ascii")


def read_frames(path):
    lines = path.read_text(encoding="ascii").splitlines()
    while lines:
        n, comment = int(lines[0]), lines[1]
        columns = comment.split("Properties=")[1].split()[0].split(":")
        first = sum(int(size) for size in columns[2:columns.index("forces"):3])
        yield (float(comment.split(" energy=")[1].split()[0]),
               np.array([line.split()[first:first + 3] for line in lines[2:n + 2]], float))
        lines = lines[n + 2:]


def ours(biogpu, folder, precision):
    done = subprocess.run([str(biogpu), "infer", "energy", "-q", "--device", "cpu", "--threads", "1", "--precision", precision,
                           "--model", "model", "--forces", "frames.extxyz", "-o", f"{precision}.extxyz"], cwd=folder,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return list(read_frames(folder / f"{precision}.extxyz"))


def convert(module, folder):
    messages = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            sys.argv = ["torchmdnet.py", str(folder / "model.ckpt"), str(folder / "model")]
            module.main()
    except SystemExit as error:
        if error.code not in (None, 0):
            raise RuntimeError(f"{error.code} {messages.getvalue()}") from None


def play(biogpu, module, folder, seed, number):
    """The largest differences of a run, by precision and number, and its hyperparameters."""
    rng = random.Random(f"{seed} {number}")
    parameters, known, names, arguments = draw_parameters(rng)
    systems = draw_systems(rng, parameters, known, arguments)
    write_checkpoint(folder / "model.ckpt", rng, parameters)
    right = list(theirs(folder / "model.ckpt", names, systems))
    write_frames(folder / "frames.extxyz", systems)
    found = {}
    try:
        convert(module, folder)
        for precision in BOUNDS:
            worst = collections.defaultdict(float)
            for (energy, forces), (e, f) in zip(ours(biogpu, folder, precision), right, strict=True):
                differences = {"energy": abs(energy - e) / max(len(f), abs(e), np.linalg.norm(f, axis=1).sum()),
                               "forces": np.abs(forces - f).max() / max(1, np.abs(f).max())}
                for key, value in differences.items():
                    worst[key] = max(worst[key], float("inf") if value != value else float(value))
            found[precision] = dict(worst)
    except RuntimeError as error:
        found["refused"] = str(error)
    return found, parameters


def is_wrong(found):
    return "refused" in found or any(found[precision][key] > bound for precision, bounds in BOUNDS.items()
                                     for key, bound in bounds.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    module = converter()
    reference.use_plain_operations()
    worst = {precision: {key: 0.0 for key in bounds} for precision, bounds in BOUNDS.items()}
    drawn, wrong = collections.Counter(), []
    for number in range(arguments.first, arguments.first + arguments.runs):
        with tempfile.TemporaryDirectory(prefix="biogpu_torchmdnet_") as name:
            found, parameters = play(arguments.biogpu, module, pathlib.Path(name), arguments.seed, number)
            if arguments.keep and (is_wrong(found) or arguments.runs == 1):
                shutil.copytree(name, arguments.keep / f"{arguments.seed}_{number}", dirs_exist_ok=True)
        for precision in set(BOUNDS) & set(found):
            worst[precision] = {key: max(value, found[precision][key]) for key, value in worst[precision].items()}
        for key in ("model", "embedding_dimension", "num_layers", "activation", "rbf_type", "output_model", "reduce_op"):
            drawn[f"{key}={parameters[key]}"] += 1
        for key in ("prior_model", "box_vecs", "check_errors", "repulsion"):
            drawn[key] += bool(parameters.get(key) or key == "check_errors" and key in parameters)
        if is_wrong(found):
            wrong.append({"run": number, "found": found, "hyper_parameters": parameters})
            print(f"DIFFERENT --seed {arguments.seed} --first {number} --runs 1: {found}\n  {parameters}", flush=True)
    print(f"{arguments.runs} checkpoints, {len(wrong)} different; largest differences: {worst}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"seed": arguments.seed, "first": arguments.first, "runs": arguments.runs,
                                              "largest": worst, "drawn": dict(sorted(drawn.items())), "different": wrong},
                                             indent=1, default=str) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
