#!/usr/bin/env python3
"""Makes tiny TensorNets with random weights, and what torchmd-net and matgl compute with them in double precision.

usage: scripts/reference/make_tensornet.py FOLDER [--matgl SOURCE] [--case NAME]...    tiny models of both, for tests/data/models
       scripts/reference/make_tensornet.py FOLDER --matgl SOURCE --backend DGL    one of matgl's layers for DGL: matgl_dgl
       scripts/reference/make_tensornet.py --crystals INPUT --matgl SOURCE    lattice constants by a published model

FOLDER gets a folder a case: config.json, model.safetensors and expected.safetensors with systems N/numbers, N/positions,
N/box, N/charge and their N/energy, N/forces, and N/stress in GPa where matgl is the reference. SOURCE is the src folder of
matgl 2.0.4 (git e9cde22): released weights are of its order of pairs. torchmd-net's plain operations are used, since its
Warp kernels compute in single precision, and its prior D2 is given the box, which it does not use as published, its prior Coulomb
the box in nm.
Weights are drawn so that every part matters.

Needs torch, torchmd-net 3.1.0 with warp-lang, and for matgl what scripts/reference/matgl_tensornet.py says.
"""

import argparse
import functools
import json
import pathlib

import numpy as np
import safetensors.torch
import torch

import matgl_tensornet

SHARED = {"model": "tensornet", "embedding_dimension": 16, "num_layers": 2, "num_rbf": 8, "rbf_type": "expnorm",
          "trainable_rbf": False, "activation": "silu", "cutoff_lower": 0.0, "cutoff_upper": 3.5, "max_z": 20,
          "max_num_neighbors": 64, "equivariance_invariance_group": "O(3)", "output_model": "Scalar", "prior_model": None,
          "reduce_op": "add", "precision": 64, "derivative": True, "atom_filter": -1}
SMALL = {"num_layers": 1, "max_z": 18}
# Meters in an Angstrom, joules in a kcal/mol.
SCALES = {"distance_scale": 1e-10, "energy_scale": 6.9476954e-21}
CASES = {
    "o3": {},
    "so3_old_rows": {"equivariance_invariance_group": "SO(3)", "cutoff_lower": 1.05, "num_rbf": 6, "rbf_type": "gauss",
                     "prior_model": ["Atomref"], "check_errors": True},
    "charges": {"model": "tensornet2", "q_dim": 8, "q_weights": [0.5, 1.0, 2.0], "check_errors": True,
                "output_model": "ScalarPlusWeightedCoulomb"},
    "charges_box": {"model": "tensornet2", "q_dim": 8, "q_weights": [0.5, 1.0, 2.0], "coulomb_cutoff": 3.6,
                    "coulomb_max_num_neighbors": 100, "output_model": "ScalarPlusWeightedCoulomb"},
    # Widths that are no multiple of 8.
    "odd": {"embedding_dimension": 10, "num_rbf": 7},
    "charges_odd": {"model": "tensornet2", "embedding_dimension": 10, "q_dim": 3, "q_weights": [0.5, 1.0, 2.0],
                    "check_errors": True, "output_model": "ScalarPlusWeightedCoulomb"},
    # Type 7 is another element than its number.
    "zbl": {**SMALL, "prior_model": ["ZBL", "Atomref"],
            "prior_args": [{"cutoff_distance": 3.3, "max_num_neighbors": 64,
                            "atomic_number": [15 if z == 7 else z for z in range(17)], **SCALES},
                           {"max_z": 18, "enable": True}]},
    "d2": {**SMALL, "prior_model": ["D2"],
           "prior_args": [{"cutoff_distance": 3.45, "max_num_neighbors": 64,
                           "atomic_number": [53 if z == 7 else z for z in range(18)], **SCALES}]},
    # A prior of a longer cutoff than the network's, in a box that is wide enough for it.
    "d2_long": {**SMALL, "prior_model": ["D2"], "box_scale": 2.3,
                "prior_args": [{"cutoff_distance": 8.0, "max_num_neighbors": 64, "atomic_number": list(range(18)), **SCALES}]},
    "coulomb": {**SMALL, "prior_model": ["Coulomb"],
                "prior_args": [{"lower_switch_distance": 0.13, "upper_switch_distance": 0.32, "max_num_neighbors": 64, **SCALES}]},
    "repulsion": {**SMALL, "model": "tensornet2", "q_dim": 8, "q_weights": [0.5, 2.0], "coulomb_cutoff": 3.4,
                  "coulomb_max_num_neighbors": 100, "output_model": "ScalarPlusWeightedCoulomb", "repulsion": True},
    # Odd widths, other activations and forms; energies of free atoms of fewer elements than the model has.
    "mish_mean": {**SMALL, "embedding_dimension": 7, "num_rbf": 5, "activation": "mish", "reduce_op": "mean",
                  "equivariance_invariance_group": "SO(3)", "prior_model": {"Atomref": {"max_z": 17, "enable": True}}},
    "no_layers": {"model": "tensornet2", "embedding_dimension": 9, "num_layers": 0, "num_rbf": 7, "max_z": 18,
                  "activation": "ssp", "q_dim": 3, "q_weights": [0.75], "output_mlp_num_layers": 2, "repulsion": True,
                  "reduce_op": "mean", "output_model": "ScalarPlusWeightedCoulomb", "coulomb_cutoff": 3.5,
                  "coulomb_max_num_neighbors": 100},
    "box_vecs": {**SMALL, "embedding_dimension": 5, "activation": "tanh", "reduce_op": "sum",
                 "box_vecs": [[7.25, 0.0, 0.0], [1.5, 7.5, 0.0], [-2.0, 1.25, 8.0]]},
}
MATGL = {"element_types": ["H", "C", "O", "Si"], "units": 16, "nblocks": 2, "num_rbf": 32, "max_n": 3, "max_l": 3,
         "rbf_type": "SphericalBessel", "use_smooth": True, "activation_type": "swish", "cutoff": 4.0,
         "equivariance_invariance_group": "O(3)", "width": 0.5, "task_type": "regression", "is_intensive": False,
         "include_state": False, "ntargets": 1}


def draw(module, generator):
    """Weights of single precision, so that a file holds them as they are."""
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if name.endswith(("means", "betas", "offset", "coeff")):
                weight.copy_(weight.float().double())
                continue
            size = (1.3 / max(1, weight.shape[-1])) ** 0.5 if weight.dim() > 1 else 0.3
            if "emb.weight" in name:
                size = 1.0
            numbers = torch.randn(weight.shape, generator=generator, dtype=torch.float64) * size
            if "norm.weight" in name:
                numbers = 1 + numbers
            weight.copy_(numbers.float().double())
        for name, buffer in module.named_buffers():
            if buffer.is_floating_point():
                buffer.copy_(buffer.float().double())


def molecule(n, spread, elements, seed):
    """Atoms about a bond's length apart."""
    random = np.random.default_rng(seed)
    grid = np.array([(i % 3, i // 3 % 3, i // 9) for i in range(n)])
    positions = 1.45 * grid + random.uniform(-spread, spread, (n, 3))
    return random.choice(elements, n), positions


def torch_systems(elements, box_scale, smallest):
    systems = []
    for i, (n, charge) in enumerate(((12, 0), (9, 1), (14, -1), (smallest, 0))):
        numbers, positions = molecule(n, 0.2, elements, i)
        systems.append({"numbers": numbers, "positions": positions, "charge": charge})
    numbers, positions = molecule(20, 0.2, elements, 9)
    box = box_scale * np.array([[7.4, 0, 0], [1.1, 7.2, 0], [-1.7, 0.8, 7.9]])
    shifts = np.random.default_rng(3).integers(-2, 3, (20, 3))
    systems.append({"numbers": numbers, "positions": box_scale * positions + shifts @ box, "charge": 1, "box": box})
    return systems


def make_torchmdnet(folder, name, changes):
    from torchmdnet.models.model import create_model

    use_plain_operations()
    args = {**SHARED, **changes}
    box_scale = args.pop("box_scale", 1)
    model_args = {key: value for key, value in args.items() if key != "check_errors"}
    if isinstance(model_args["prior_model"], list) and "prior_args" not in args:
        model_args["prior_args"] = [{"max_z": args["max_z"], "enable": True}]
    torch.manual_seed(1)
    model = create_model(model_args).double()
    draw(model, torch.Generator().manual_seed(7))
    for module in model.modules():
        if type(module).__name__ == "ShiftedSoftplus":
            module.shift = torch.log(torch.tensor(2.0, dtype=torch.float32)).item()  # as by torch's default
    model.mean.fill_(0.375)
    model.std.fill_(1.625)
    expected = {}
    has_coulomb = "Coulomb" in (args["prior_model"] or [])
    # The prior Coulomb cannot compute an atom that is alone.
    systems = torch_systems([1, 6, 7, 8, 16], box_scale, 2 if has_coulomb else 1)
    if args["model"] == "tensornet2" and "coulomb_cutoff" not in args:
        systems = [system for system in systems if "box" not in system]
    for i, system in enumerate(systems):
        numbers = torch.tensor(system["numbers"], dtype=torch.long)
        positions = torch.tensor(system["positions"], dtype=torch.float64)
        box = torch.tensor(system["box"]) if "box" in system else None
        q = torch.tensor([system["charge"]], dtype=torch.float64)
        if "D2" in (args["prior_model"] or []):
            use_box_in_d2(model.prior_model[0], box)
        if has_coulomb:
            use_nm_in_coulomb(model.prior_model[0], box)
            system["partial_charges"] = np.round(np.random.default_rng(20 + i).uniform(-0.9, 0.9, len(numbers)), 3)
        extra = {"partial_charges": torch.tensor(system["partial_charges"])} if has_coulomb else None
        energy, forces = model(numbers, positions, box=box, q=q, extra_args=extra)
        expected[f"{i}/energy"] = energy.detach().reshape(1)
        expected[f"{i}/forces"] = forces.detach()
        if "Atomref" in (args["prior_model"] or []):
            references = model.prior_model[list(args["prior_model"]).index("Atomref")]
            references.enable = False
            expected[f"{i}/energy_without_references"] = model(numbers, positions, box=box, q=q)[0].detach().reshape(1)
            references.enable = True
        for key, value in system.items():
            expected[f"{i}/{key}"] = torch.tensor(np.atleast_1d(value), dtype=torch.float64)
    state = {key: value.detach().clone() for key, value in model.state_dict().items()}
    if args.get("check_errors"):
        rows_by_channel(state, args["num_layers"] if args["model"] == "tensornet" else 0)
    config = {"model_type": args["model"], "energy_unit": "kcal/mol", "length_unit": "angstrom",
              **{key: args[key] for key in args if key not in ("model", "derivative", "atom_filter", "precision")}}
    save(folder / name, {key: value for key, value in config.items() if value is not None}, state, expected)


def use_plain_operations():
    """Those of PyTorch instead of Warp's kernels, which compute in single precision."""
    from torchmdnet.models import tensornet, tensornet2

    for function in ("compose_tensor", "decompose_tensor", "tensor_matmul_o3", "tensor_matmul_so3"):
        setattr(tensornet, function, getattr(tensornet, "_" + function))
        setattr(tensornet2, function, getattr(tensornet, "_" + function))
    tensornet.OPT = tensornet2.OPT = False


def use_box_in_d2(prior, box):
    """torchmd-net's D2 looks past the box; biogpu takes the nearest images, as the other priors do."""
    distances = prior.distances
    distances.forward = functools.partial(type(distances).forward, distances, box=box)


def use_nm_in_coulomb(prior, box):
    """torchmd-net's Coulomb takes positions in nm and the box as it comes; biogpu takes both in the same unit."""
    if box is not None:
        prior.distance.forward = functools.partial(_with_box, prior.distance, 1e9 * prior.distance_scale * box)


def _with_box(distance, nm, positions, batch, box):
    return type(distance).forward(distance, positions, batch, box=nm)


def without_nan(name, values):
    """The tables of D2 begin with NaN, for no element."""
    return torch.nan_to_num(values) if name.endswith((".C_6", ".R_r")) else values


def rows_by_channel(state, n_layers):
    """Rows p F + f to 3 f + p, as checkpoints with check_errors have them."""
    names = ["representation_model.tensor_embedding.linears_scalar.1"]
    names += [f"representation_model.layers.{i}.linears_scalar.2" for i in range(n_layers)]
    for name in names:
        for part in ("weight", "bias"):
            rows = state[f"{name}.{part}"]
            state[f"{name}.{part}"] = rows.reshape(3, -1, *rows.shape[1:]).transpose(0, 1).reshape(rows.shape).contiguous()


def save(folder, config, state, expected=None):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tensors = {key: without_nan(key, value).float().contiguous() for key, value in state.items() if value.is_floating_point()}
    safetensors.torch.save_file(tensors, folder / "model.safetensors")
    if expected is not None:
        safetensors.torch.save_file({key: value.contiguous() for key, value in expected.items()},
                                    folder / "expected.safetensors")
    print(folder)


def matgl_systems():
    random = np.random.default_rng(5)
    sio2 = np.array([[0.1, 0, 0], [1.3, 1.2, 0.2], [0.2, 1.5, 1.4]])
    numbers, positions = molecule(10, 0.25, [1, 6, 8], 4)
    return [
        {"numbers": numbers, "positions": positions},
        # Smaller than the cutoff, and left-handed.
        {"numbers": np.array([14, 8, 8]), "positions": sio2, "box": np.array([[3.0, 0.3, 0], [-0.4, 0.2, 3.3], [0.2, 3.1, 0]])},
        {"numbers": np.array([14]), "positions": np.array([[0.3, -7.0, 9.0]]), "box": np.array([[0, 2.3, 2.3], [2.4, 0, 2.2], [2.3, 2.5, 0]])},
        {"numbers": random.choice([1, 6, 8, 14], 24), "positions": random.uniform(-3, 3, (24, 3)) * 2, "box": np.diag([9.0, 8.5, 9.5])},
    ]


def make_matgl(folder, name):
    Potential, TensorNet = matgl_tensornet.classes()
    model = TensorNet(**{key: value for key, value in MATGL.items() if key != "element_types"},
                      element_types=tuple(MATGL["element_types"]), dtype=torch.float64).double()
    draw(model, torch.Generator().manual_seed(11))
    references = torch.tensor([-1.25, -3.5, -2.75, -0.8125], dtype=torch.float64)
    potential = Potential(model, data_mean=torch.tensor(0.25), data_std=torch.tensor(1.75), element_refs=references,
                          calc_stresses=True).double()
    expected = {}
    for i, system in enumerate(matgl_systems()):
        energy, forces, stress = matgl_tensornet.results(potential, system)
        expected[f"{i}/energy"], expected[f"{i}/forces"] = energy, forces
        if "box" in system:
            expected[f"{i}/stress"] = stress
        for key, value in system.items():
            expected[f"{i}/{key}"] = torch.tensor(np.atleast_1d(value), dtype=torch.float64)
    config = {"model_type": "tensornet", "dialect": "matgl", "model_version": TensorNet.__version__, **MATGL,
              "data_mean": 0.25, "data_std": 1.75, "element_refs": references.tolist()}
    save(folder / name, config, model.state_dict(), expected)


CRYSTALS = {"Si": ("diamond", 5.43), "C": ("diamond", 3.57), "NaCl": ("rocksalt", 5.64), "MgO": ("rocksalt", 4.21),
            "Al": ("fcc", 4.05)}


def lattice_constants(folder):
    """Where the trace of the stress is 0, by secants, and energies and stresses of the cells at the experiment's."""
    from ase.build import bulk

    potential = matgl_tensornet.load_published(folder)
    for name, (kind, a) in CRYSTALS.items():
        def results(length):
            atoms = bulk(name, kind, a=length)
            return matgl_tensornet.results(potential, {"numbers": atoms.numbers, "positions": atoms.positions,
                                             "box": np.array(atoms.cell)})
        def pressure(length):
            return float(results(length)[2].diagonal().sum()) / 3

        lengths = [a, 1.005 * a]
        pressures = [pressure(length) for length in lengths]
        while abs(lengths[-1] - lengths[-2]) > 1e-7:
            slope = (pressures[-1] - pressures[-2]) / (lengths[-1] - lengths[-2])
            lengths.append(lengths[-1] - pressures[-1] / slope)
            pressures.append(pressure(lengths[-1]))
        energy, _, stress = results(a)
        print(f"{name}\t{kind}\t{a}\t{lengths[-1]:.7f}\t{float(energy):.9f}\t{float(stress[0, 0]):.7f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--matgl", type=pathlib.Path, metavar="SOURCE")
    parser.add_argument("--backend", choices=("PYG", "DGL"), default="PYG")
    parser.add_argument("--case", action="append", choices=sorted(CASES), help="of torchmd-net, instead of all")
    parser.add_argument("--crystals", type=pathlib.Path, metavar="INPUT")
    args = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    if args.matgl:
        matgl_tensornet.use(args.matgl, args.backend)
    if args.crystals:
        return lattice_constants(args.crystals)
    for name, changes in CASES.items() if args.backend == "PYG" else ():
        if args.case is None or name in args.case:
            make_torchmdnet(args.folder, name, changes)
    if args.matgl:
        make_matgl(args.folder, "matgl" if args.backend == "PYG" else "matgl_dgl")


if __name__ == "__main__":
    main()
