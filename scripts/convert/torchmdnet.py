#!/usr/bin/env python3
"""Makes a folder that `biogpu infer energy` reads of a checkpoint of torchmd-net.

usage: scripts/convert/torchmdnet.py INPUT.ckpt FOLDER [--energy-unit eV|kcal/mol|hartree]

FOLDER gets config.json, the hyperparameters by their own names, and model.safetensors with all tensors of the model. A
checkpoint does not tell its unit of energy: eV unless another is given. Optimizer states and the like are left out.

Only tensors and plain values are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and
safetensors; requirements.txt has their versions.
"""

import argparse
import pathlib
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import torch

import checkpoints
import tensor_names

KEPT = ("embedding_dimension", "num_layers", "num_rbf", "rbf_type", "trainable_rbf", "activation", "cutoff_lower",
        "cutoff_upper", "max_z", "max_num_neighbors", "equivariance_invariance_group", "output_model", "reduce_op",
        "prior_args", "q_dim", "q_weights", "coulomb_cutoff", "output_mlp_num_layers", "repulsion",
        "remove_ref_energy", "precision", "box_vecs")
MODEL_TYPES = {"tensornet": "tensornet", "tensornet2": "tensornet2", "tensornetv2_alt": "tensornet2",
               "tensornet-nqe": "tensornet2"}
# What biogpu computes, of hyperparameters that change the formula; the program has the same rules.
KNOWN = {"rbf_type": ("expnorm", "gauss"), "activation": ("silu", "swish", "ssp", "tanh", "sigmoid", "mish"),
         "equivariance_invariance_group": ("O(3)", "SO(3)"), "reduce_op": ("add", "sum", "mean"),
         "atom_filter": (-1,)}
OUTPUTS = {"tensornet": ("Scalar",), "tensornet2": ("Scalar", "ScalarPlusWeightedCoulomb")}
PRIORS = ("Atomref", "ZBL", "D2", "Coulomb")


def fail(path, what):
    sys.exit(f"torchmdnet.py: {path}: {what}")


def load(path):
    checkpoint = checkpoints.load(path, fail, "tensors and plain values")
    if not isinstance(checkpoint, dict):
        fail(path, "holds no checkpoint of torchmd-net")
    parameters, state = checkpoint.get("hyper_parameters"), checkpoint.get("state_dict")
    if not isinstance(parameters, dict) or not isinstance(state, dict) or not all(
            isinstance(value, torch.Tensor) for value in state.values()):
        fail(path, "has no hyper_parameters or no state_dict")
    return parameters, tensor_names.unwrapped_state(path, state, fail)


def plain(value):
    """Lists instead of tensors and tuples, as JSON has them."""
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def prior_names(prior):
    """Names of priors in order, and the arguments that stand with them."""
    if not prior:
        return [], []
    names, arguments = [], []
    for one in prior if isinstance(prior, list) else [prior]:
        for name, values in one.items() if isinstance(one, dict) else [(one, None)]:
            names.append(name)
            arguments.append(values or {})
    return names, arguments


def refuse_unknown(path, model_type, parameters, priors):
    """Names the first hyperparameter that the program would refuse."""
    known = {**KNOWN, "output_model": OUTPUTS[model_type]}
    for key, values in known.items():
        if parameters.get(key) is not None and parameters[key] not in values:
            fail(path, f"{key} is {parameters[key]!r}; known are {', '.join(map(repr, values))}")
    for name in priors:
        if name not in PRIORS:
            fail(path, f"prior_model has {name!r}; known are {', '.join(map(repr, PRIORS))}")
    if model_type == "tensornet2" and not parameters.get("q_dim"):
        fail(path, "q_dim is 0; expected a TensorNet2 with charges")
    if model_type == "tensornet" and parameters.get("repulsion"):
        fail(path, "repulsion is known of TensorNet2 alone")
    if parameters.get("box_vecs") is not None and (
            parameters.get("repulsion") or parameters.get("output_model") == "ScalarPlusWeightedCoulomb"):
        fail(path, "box_vecs with a Coulomb energy or a repulsion is not supported")


def add_atomic_numbers(arguments, state):
    """Those of priors that took them from a data set: the weights have them."""
    for k, values in enumerate(arguments):
        name = f"prior_model.{k}."
        numbers = state.get(name + "atomic_number", state.get(name + "Z_map"))
        if numbers is not None:
            values["atomic_number"] = numbers.tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--energy-unit", choices=("eV", "kcal/mol", "hartree"), default="eV")
    args = parser.parse_args()
    parameters, state = load(args.input)
    model = parameters.get("model")
    if model not in MODEL_TYPES:
        fail(args.input, f"holds the model {model!r}; known are {', '.join(sorted(MODEL_TYPES))}")
    config = {"model_type": MODEL_TYPES[model], "dialect": "torchmdnet", "energy_unit": args.energy_unit,
              "length_unit": "angstrom"}
    config.update({key: plain(parameters[key]) for key in KEPT if parameters.get(key) is not None})
    # That the key is there, with any value, tells the order of rows.
    if "check_errors" in parameters:
        config["check_errors"] = bool(parameters["check_errors"])
    names, arguments = prior_names(plain(parameters.get("prior_model")))
    refuse_unknown(args.input, MODEL_TYPES[model], parameters, names)
    given = config.pop("prior_args", None)
    if names:
        config["prior_model"] = names
        config["prior_args"] = arguments if given is None else given if isinstance(given, list) else [given]
        if len(config["prior_args"]) != len(names):
            fail(args.input, f"prior_args has {len(config['prior_args'])} objects for {len(names)} of prior_model")
        add_atomic_numbers(config["prior_args"], state)
    tensors = {}
    for name, value in state.items():
        if value.is_floating_point():
            # The tables of the prior D2 begin with NaN, for no element.
            if name.endswith((".C_6", ".R_r")):
                value[0] = 0
            tensors[name] = value.contiguous().clone()
    checkpoints.write(args.folder, config, tensors, fail)
    rows = "channel by channel" if "check_errors" in parameters else "part by part"
    print(f"{args.folder}: {len(tensors)} tensors, {config['model_type']}, scalar rows {rows}")


if __name__ == "__main__":
    main()
