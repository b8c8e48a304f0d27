"""Energies, forces and stress in double precision by a TensorNet of matgl 2.0.4 (git e9cde22), with either of its backends.

The layers for PyG and for DGL are two networks: weights of the one are not for the other. PYG needs torch_geometric, DGL needs
dgl (2.1.0 with torch 2.2.1); both need torch, ase, pymatgen and lightning. A process can use only one of them.
"""

import importlib
import json
import os
import sys

import torch


def use(source, backend):
    """Imports matgl from its src folder. Before all other functions."""
    os.environ["MATGL_BACKEND"] = backend
    sys.path.insert(0, str(source))
    import matgl

    matgl.set_default_dtype("float", 64)


def _module(name):
    import matgl.config

    return importlib.import_module(f"matgl.{name}_{matgl.config.BACKEND.lower()}")


def classes():
    """Potential and TensorNet."""
    return _module("apps._pes").Potential, _module("models._tensornet").TensorNet


def backend_of(folder):
    """The backend whose layers a published folder was trained with."""
    return "DGL" if "_dgl" in json.loads((folder / "model.json").read_text())["kwargs"]["model"]["@module"] else "PYG"


def load_published(folder):
    Potential, TensorNet = classes()
    arguments = json.loads((folder / "model.json").read_text())["kwargs"]["model"]["init_args"]
    state = torch.load(folder / "state.pt", map_location="cpu", weights_only=True)
    model = TensorNet(**{**arguments, "element_types": tuple(arguments["element_types"]), "dtype": torch.float64})
    model.load_state_dict({key.removeprefix("model."): value for key, value in state.items() if key.startswith("model.")})
    return Potential(model.double(), data_mean=state["data_mean"].double(), data_std=state["data_std"].double(),
                     element_refs=state["element_refs.property_offset"].double(), calc_stresses=True).double()


def results(potential, system):
    """Energy in eV, forces, and stress in GPa of a matgl Potential."""
    import ase

    atoms = ase.Atoms(numbers=system["numbers"], positions=system["positions"], cell=system.get("box"),
                      pbc="box" in system)
    converter = _module("ext._ase").Atoms2Graph(potential.model.element_types, potential.model.cutoff)
    graph, lattice, state = converter.get_graph(atoms)
    nodes, edges = (graph.ndata, graph.edata) if hasattr(graph, "ndata") else (graph, graph)
    if "box" not in system:
        nodes["frac_coords"] = torch.tensor(atoms.get_positions())
        lattice = torch.eye(3, dtype=torch.float64)[None]
    nodes["frac_coords"], edges["pbc_offset"] = nodes["frac_coords"].double(), edges["pbc_offset"].double()
    energy, forces, stress, _ = potential(graph, lattice.double(), torch.tensor(state))
    return energy.detach().reshape(1), forces.detach(), stress.detach()
