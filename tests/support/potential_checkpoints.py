#!/usr/bin/env python3
"""Writes checkpoints of potentials as torchmd-net and matgl do, of biogpu's folders, and files that must be refused.

usage: tests/support/potential_checkpoints.py FOLDERS OUT

FOLDERS is tests/data/models/tensornet. OUT gets o3.ckpt, so3_old_rows.ckpt, charges.ckpt, zbl.ckpt, mish_mean.ckpt,
no_layers.ckpt and box_vecs.ckpt, the folders matgl and matgl_dgl, and what a name beginning with bad_ says. Needs torch and safetensors.
"""

import json
import os
import pathlib
import pickle
import sys
import tarfile

import safetensors.torch
import torch

OF_BIOGPU = ("model_type", "energy_unit", "length_unit")  # not hyperparameters
TRAINING = {"lr": 1e-4, "derivative": True, "atom_filter": -1, "precision": 64, "dataset": None, "num_workers": 4}
OUTSIDE = ("data_mean", "data_std", "element_refs")


class RunsCode:
    def __init__(self, file):
        self.file = str(file.absolute())

    def __reduce__(self):
        return os.system, (f"touch '{self.file}'",)


def read(folder):
    return json.loads((folder / "config.json").read_text()), safetensors.torch.load_file(folder / "model.safetensors")


def torchmdnet(folder):
    """As Lightning writes it: hyperparameters, the module's tensors below 'model.', and what training needs."""
    config, tensors = read(folder)
    # As after training on several devices of a compiled model, too.
    wrappers = "module._orig_mod.model." if folder.name == "no_layers" else "model."
    state = {wrappers + name: tensor for name, tensor in tensors.items()}
    parameters = {"model": config["model_type"], **TRAINING,
                  **{key: value for key, value in config.items() if key not in OF_BIOGPU}}
    if folder.name == "zbl":
        # Priors in the form of a list of dictionaries; the type's elements are a data set's, so only the weights have them.
        arguments = parameters.pop("prior_args")
        state["model.prior_model.0.atomic_number"] = torch.tensor(arguments[0].pop("atomic_number"))
        parameters["prior_model"] = [{name: one} for name, one in zip(config["prior_model"], arguments)]
    return {"epoch": 3, "global_step": 70, "pytorch-lightning_version": "2.5.0", "hyper_parameters": parameters,
            "state_dict": state, "optimizer_states": [{"state": {}, "param_groups": []}]}


def matgl(folder):
    """model.json and the tensors of state.pt."""
    config, tensors = read(folder)
    version = config.pop("model_version")
    inside = {key: value for key, value in config.items() if key not in ("model_type", "dialect", *OUTSIDE)}
    backend = "dgl" if "tensor_embedding.emb3.weight" in tensors else "pyg"
    model = {"@class": "TensorNet", "@module": f"matgl.models._tensornet_{backend}", "@model_version": version,
             "init_args": {**inside, "dtype": "torch.float32", "readout_type": "weighted_atom"}}
    references = torch.tensor(config["element_refs"], dtype=torch.float64)
    # As matgl has them, text that is not read: the numbers are in state.pt.
    description = {"@class": "Potential", "@module": f"matgl.apps._pes_{backend}", "@model_version": 3, "metadata": None,
                   "kwargs": {"model": model, "data_mean": "tensor(0.)", "calc_repuls": False}}
    wrappers = "_orig_mod.model." if folder.name == "matgl_dgl" else "model."
    state = {wrappers + name: tensor for name, tensor in tensors.items()}
    state.update({"data_mean": torch.tensor(config["data_mean"]), "data_std": torch.tensor(config["data_std"]),
                  "element_refs.property_offset": references, "element_refs.onehot": torch.eye(len(references))})
    return description, state


def write_matgl(folder, description, state):
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps(description, indent=4))
    torch.save(state, folder / "state.pt")


def cut(path, n_bytes, whole):
    path.write_bytes(whole.read_bytes()[:n_bytes])


def main():
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    runs = RunsCode(out / "ran")
    for name in ("o3", "so3_old_rows", "charges", "zbl", "mish_mean", "no_layers", "box_vecs"):
        torch.save(torchmdnet(source / name), out / f"{name}.ckpt")
    checkpoint = torchmdnet(source / "o3")
    parameters = checkpoint["hyper_parameters"]
    bad = {"parameter": {**checkpoint, "hyper_parameters": {**parameters, "dataset": runs}},
           "tensor": {**checkpoint, "state_dict": {**checkpoint["state_dict"], "model.mean": runs}},
           "optimizer": {**checkpoint, "optimizer_states": runs},
           "model": {**checkpoint, "hyper_parameters": {**parameters, "model": "equivariant-transformer"}},
           "state": {"hyper_parameters": parameters}, "list": [torch.zeros(1)]}
    for key, value in {"activation": "relu", "reduce_op": "max", "output_model": "DipoleMoment", "atom_filter": 0,
                       "prior_model": {"Morse": {}}, "prior_args": [{"max_z": 20}, {}]}.items():
        changed = {**parameters, key: value, **({"prior_model": "Atomref"} if key == "prior_args" else {})}
        bad[key] = {**checkpoint, "hyper_parameters": changed}
    for name, value in bad.items():
        torch.save(value, out / f"bad_{name}.ckpt")
    torch.save(bad["parameter"], out / "bad_old.ckpt", _use_new_zipfile_serialization=False)
    (out / "bad_plain.ckpt").write_bytes(pickle.dumps(runs))
    with tarfile.open(out / "bad_tar.ckpt", "w") as tar:
        for name in ("storages", "tensors", "pickle"):
            tar.add(out / "bad_plain.ckpt", name)
    cut(out / "bad_cut.ckpt", 30000, out / "o3.ckpt")
    cut(out / "bad_short.ckpt", 0, out / "o3.ckpt")

    write_matgl(out / "matgl_dgl", *matgl(source / "matgl_dgl"))
    description, state = matgl(source / "matgl")
    write_matgl(out / "matgl", description, state)
    write_matgl(out / "bad_code", description, {**state, "data_std": runs})
    write_matgl(out / "bad_extra", description, {**state, "extra": runs})
    write_matgl(out / "bad_half", description, state)
    cut(out / "bad_half" / "state.pt", 30000, out / "matgl" / "state.pt")
    write_matgl(out / "bad_dgl", description, {**state, "model.tensor_embedding.emb3.weight": torch.ones(16, 3)})
    write_matgl(out / "bad_scale", description, {**state, "data_std": torch.ones(2)})
    write_matgl(out / "bad_json", description, state)
    cut(out / "bad_json" / "model.json", 300, out / "matgl" / "model.json")
    description["kwargs"]["calc_repuls"] = True
    write_matgl(out / "bad_repulsion", description, state)


if __name__ == "__main__":
    main()
