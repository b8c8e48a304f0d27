#!/usr/bin/env python3
"""Makes a folder that `biogpu infer trunk` reads of a Pairformer stack in a checkpoint.

usage: scripts/convert/pairformer.py CHECKPOINT FOLDER [--part NAME] [--msa] [--openfold3 RELEASE]

CHECKPOINT is a .pt or .ckpt of Protenix (base, mini, tiny, v2), OpenFold3, Boltz-2 or openfold, or a .safetensors of its
state dictionary; the names of the tensors tell which. FOLDER gets config.json, derived from the shapes, and
model.safetensors with the tensors of one stack under the names of Protenix: --part pairformer_stack (the default;
pairformer_module for Boltz-2), or another with the same blocks, as confidence_head.pairformer_stack or
template_embedder.pairformer_stack. The tensors of other parts are left out; the program says how many. Maps of both sides
of a triangle product are split in two. --msa takes the blocks of the MSA module too, which the trunk then runs over rows
of an alignment in front of the stack. Of openfold, AlphaFold 2 in PyTorch, --part evoformer or extra_msa_stack takes the
blocks of pairs alone: what updates its alignment is left out.

OpenFold3 reads the bias of triangle attention around the ending node in another order since release 0.5. The tensors of the
blocks do not tell it, those of the diffusion transformer do: where a checkpoint has none, --openfold3 says which release it
is of, 0.4 (or before) or 0.5.

Only tensors are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch and safetensors;
requirements.txt has their versions.
"""

import argparse
import pathlib
import re
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import safetensors
import safetensors.torch
import torch

import checkpoints
import tensor_names

STACK = "pairformer_stack"
_ATTENTION = r"linear_(q|k|v|g|o)\.weight"
_NORM = r"(weight|bias)"
_TRANSITION = rf"(layernorm1\.{_NORM}|linear_no_bias(_a|_b)?\.weight)"
_PAIRS = (rf"tri_mul_(out|in)\.(layer_norm_(in|out)\.{_NORM}|linear_([ab]_[pg]|g|z)\.weight)"
          rf"|tri_att_(start|end)\.(layer_norm\.{_NORM}|linear\.weight|mha\.{_ATTENTION})|pair_transition\.{_TRANSITION}")
# Of openfold: biases, and a ReLU transition of two maps, whose names stay.
EVOFORMER_BLOCK = re.compile(
    rf"blocks\.\d+\.({_PAIRS}|tri_mul_(out|in)\.linear_([ab]_[pg]|g|z)\.bias|tri_att_(start|end)\.mha\.linear_[go]\.bias"
    rf"|pair_transition\.(layer_norm|linear_[12])\.{_NORM})")
# Its parts that update the alignment, or read it.
ALIGNMENT_PARTS = re.compile(r"blocks\.\d+\.(msa_att_(row|col)|(core\.)?(msa_transition|outer_product_mean))\.")
MSA = "msa_module"
MSA_BLOCK = re.compile(
    rf"blocks\.\d+\.(outer_product_mean_msa\.(layer_norm\.{_NORM}|linear_[12]\.weight|linear_out\.{_NORM})"
    rf"|msa_stack\.(msa_pair_weighted_averaging\.(layernorm_[mz]\.{_NORM}|linear_no_bias_(mv|mg|z|out)\.weight)"
    rf"|transition_m\.{_TRANSITION})|pair_stack\.({_PAIRS}))")
BLOCK = re.compile(
    rf"blocks\.\d+\.({_PAIRS}|single_transition\.{_TRANSITION}"
    rf"|attention_pair_bias\.(layernorm_[az]\.{_NORM}|linear_nobias_z\.weight|attention\.(linear_q\.bias|{_ATTENTION})))")


# What names of OpenFold3 and Boltz-2 are in Protenix, below a block.
_TRANSITION3 = {"layer_norm": "layernorm1", "swiglu.linear_a": "linear_no_bias_a", "swiglu.linear_b": "linear_no_bias_b",
                "linear_out": "linear_no_bias"}
_TRANSITION_BOLTZ = {"norm": "layernorm1", "fc1": "linear_no_bias_a", "fc2": "linear_no_bias_b", "fc3": "linear_no_bias"}
OPENFOLD3 = {
    **{f"pair_stack.tri_mul_{side}.": f"tri_mul_{side}." for side in ("out", "in")},
    **{f"pair_stack.tri_att_{node}.linear_z.": f"tri_att_{node}.linear." for node in ("start", "end")},
    **{f"pair_stack.tri_att_{node}.": f"tri_att_{node}." for node in ("start", "end")},
    **{f"pair_stack.pair_transition.{old}.": f"pair_transition.{new}." for old, new in _TRANSITION3.items()},
    **{f"single_transition.{old}.": f"single_transition.{new}." for old, new in _TRANSITION3.items()},
    "attn_pair_bias.layer_norm_a.": "attention_pair_bias.layernorm_a.",
    "attn_pair_bias.layer_norm_z.": "attention_pair_bias.layernorm_z.",
    "attn_pair_bias.linear_z.": "attention_pair_bias.linear_nobias_z.",
    "attn_pair_bias.mha.": "attention_pair_bias.attention.",
}
BOLTZ2 = {
    **{f"tri_mul_{side}.{old}.": f"tri_mul_{side}.{new}." for side in ("out", "in") for old, new in (
        ("norm_in", "layer_norm_in"), ("norm_out", "layer_norm_out"), ("p_out", "linear_z"), ("g_out", "linear_g"))},
    **{f"tri_att_{node}.": f"tri_att_{node}." for node in ("start", "end")},
    **{f"transition_z.{old}.": f"pair_transition.{new}." for old, new in _TRANSITION_BOLTZ.items()},
    **{f"transition_s.{old}.": f"single_transition.{new}." for old, new in _TRANSITION_BOLTZ.items()},
    **{f"attention.proj_{part}.": f"attention_pair_bias.attention.linear_{part}." for part in "qkvgo"},
    "attention.proj_z.0.": "attention_pair_bias.layernorm_z.",
    "attention.proj_z.1.": "attention_pair_bias.linear_nobias_z.",
    "pre_norm_s.": "attention_pair_bias.layernorm_a.",
}
_AVERAGING = "msa_stack.msa_pair_weighted_averaging."
OPENFOLD3_MSA = {
    **{f"msa_att_row.{old}.": f"{_AVERAGING}{new}." for old, new in (
        ("layer_norm_m", "layernorm_m"), ("layer_norm_z", "layernorm_z"), ("linear_z", "linear_no_bias_z"),
        ("linear_v", "linear_no_bias_mv"), ("linear_g", "linear_no_bias_mg"), ("linear_o", "linear_no_bias_out"))},
    **{f"msa_transition.{old}.": f"msa_stack.transition_m.{new}." for old, new in _TRANSITION3.items()},
    "outer_product_mean.": "outer_product_mean_msa.",
    **{old: "pair_stack." + new for old, new in OPENFOLD3.items() if old.startswith("pair_stack.")},
}
BOLTZ2_MSA = {
    **{f"pair_weighted_averaging.{old}.": f"{_AVERAGING}{new}." for old, new in (
        ("norm_m", "layernorm_m"), ("norm_z", "layernorm_z"), ("proj_m", "linear_no_bias_mv"),
        ("proj_g", "linear_no_bias_mg"), ("proj_z", "linear_no_bias_z"), ("proj_o", "linear_no_bias_out"))},
    **{f"msa_transition.{old}.": f"msa_stack.transition_m.{new}." for old, new in _TRANSITION_BOLTZ.items()},
    **{f"outer_product_mean.{old}.": f"outer_product_mean_msa.{new}." for old, new in (
        ("norm", "layer_norm"), ("proj_a", "linear_1"), ("proj_b", "linear_2"), ("proj_o", "linear_out"))},
    **{"pairformer_layer." + old: "pair_stack." + new for old, new in BOLTZ2.items() if old.startswith(("tri_", "transition_z"))},
    "pairformer_layer.": "pair_stack.",
}
# Maps of both sides of a triangle product in one, a before b.
BOTH_SIDES = {"p_in": "p", "g_in": "g", "linear_ab_p": "p", "linear_ab_g": "g"}


def fail(path, what):
    sys.exit(f"pairformer.py: {path}: {what}")


def read_state(path, fail=fail):
    if path.suffix.lower() == ".safetensors":
        checkpoints.refuse_pointer(path, fail)
        try:
            return safetensors.torch.load_file(path)
        except (OSError, safetensors.SafetensorError) as error:
            fail(path, f"cannot be read: {error}")
    state = checkpoints.load(path, fail)
    for key in ("model", "state_dict"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(path, "holds no tensors by name; expected a checkpoint of Protenix, OpenFold3, Boltz-2 or openfold")
    return state


def halves(path, name, value, fail=fail):
    """The maps of two sides that are one behind the other in a tensor."""
    if value.ndim == 0 or value.shape[0] == 0 or value.shape[0] % 2 != 0:
        fail(path, f"{name} has the shape {list(value.shape)}; expected an even number of rows")
    return value.chunk(2)


def protenix_names(path, stack, table):
    """The tensors of a stack under the names of Protenix; those that the table does not have as they are."""
    renamed = {}
    for name, value in stack.items():
        block, index, rest = name.split(".", 2) if name.count(".") > 1 else ("", "", name)
        for old, new in table.items():
            if rest.startswith(old):
                rest = new + rest[len(old):]
                break
        both = re.fullmatch(r"((?:pair_stack\.)?tri_mul_(?:out|in))\.(\w+)\.(weight|bias)", rest)
        if both and both[2] in BOTH_SIDES:
            for side, half in zip("ab", halves(path, name, value)):
                renamed[f"blocks.{index}.{both[1]}.linear_{side}_{BOTH_SIDES[both[2]]}.{both[3]}"] = half
        else:
            renamed[f"blocks.{index}.{rest}" if block in ("blocks", "layers") else name] = value
    return renamed


def take_msa(path, state):
    """The blocks of the MSA module, by Protenix's names in it, and whether they are Boltz-2's, which update rows first.
    What makes its rows of features is left out."""
    blocks = {name[len(MSA) + 1:]: value for name, value in state.items()
              if name.startswith((MSA + ".blocks.", MSA + ".layers."))}
    if not blocks:
        fail(path, f"has no {MSA}.blocks, which --msa asks for")
    is_boltz = any(name.startswith("layers.") for name in blocks)
    if is_boltz:
        blocks = protenix_names(path, blocks, BOLTZ2_MSA)
    elif any(".outer_product_mean." in name for name in blocks):
        blocks = protenix_names(path, blocks, OPENFOLD3_MSA)
    unread = sorted(name for name in blocks if not MSA_BLOCK.fullmatch(name))
    if unread:
        fail(path, f"{MSA}: {tensor_names.listed(unread)}")
    return blocks, is_boltz


def evoformer_pairs(path, part, stack):
    """The tensors of openfold's blocks of pairs, in front of whose names older files have core. and newer pair_stack."""
    if "template" in part:
        fail(path, f"{part}: blocks of openfold's templates compute in another order")
    return {re.sub(r"^(blocks\.\d+\.)(core|pair_stack)\.", r"\1", name): value for name, value in stack.items()
            if name.startswith("blocks.") and not ALIGNMENT_PARTS.match(name)}


def swaps_ending_bias(path, state, release):
    """Whether a checkpoint of OpenFold3 is of release 0.5 or later, which has one norm of pairs for all blocks of the
    diffusion transformer."""
    transformer = "diffusion_module.diffusion_transformer."
    for found, name in (("0.5", "layer_norm_z.weight"), ("0.4", "blocks.0.attention_pair_bias.layer_norm_z.weight")):
        if transformer + name in state:
            if release not in (None, found):
                fail(path, f"is of OpenFold3 {found}; --openfold3 is {release}")
            return found == "0.5"
    if release is None:
        fail(path, "has blocks of OpenFold3 and no diffusion transformer, which tells the release; give --openfold3")
    return release == "0.5"


def take_stack(path, state, part):
    """The tensors of the part, by Protenix's names in it, and the number of others."""
    if part == STACK and not any(name.startswith(STACK + ".") for name in state):
        part = "pairformer_module"  # of Boltz-2
    stack = {name[len(part) + 1:]: value for name, value in state.items() if name.startswith(part + ".")}
    known = BLOCK
    if any(name.endswith(".pair_transition.linear_1.weight") for name in stack):
        stack, known = evoformer_pairs(path, part, stack), EVOFORMER_BLOCK
    n_others = len(state) - len(stack)
    if known is EVOFORMER_BLOCK:
        stack = protenix_names(path, stack, {})
    elif any(".pair_stack." in name for name in stack):
        stack = protenix_names(path, stack, OPENFOLD3)
    elif any(name.startswith("layers.") for name in stack):
        stack = protenix_names(path, stack, BOLTZ2)
    if not stack:
        part = STACK if part == "pairformer_module" else part
        block = r"(.*)\.(?:blocks|layers)\.0\.(?:(?:pair_stack|core)\.)?tri_mul_out\."
        parts = sorted({match[1] for name in state if (match := re.match(block, name))})
        fail(path, f"has no part {part}; " + (f"there are {', '.join(parts)}" if parts else "there is no Pairformer"))
    unread = sorted(name for name in stack if not known.fullmatch(name))
    if unread:
        fail(path, f"{part}: {tensor_names.listed(unread)}")
    return stack, n_others


def shape_in(path, blocks, fail=fail):
    """A function that tells an extent of a tensor of the first block."""
    def shape(name, axis):
        value = blocks.get("blocks.0." + name)
        if value is None or value.ndim <= axis:
            fail(path, f"has no tensor blocks.0.{name} of {axis + 1} axes")
        if 0 in value.shape:
            fail(path, f"blocks.0.{name} has the shape {list(value.shape)}; expected numbers")
        return value.shape[axis]
    return shape


def n_blocks(blocks):
    return 1 + max(int(name.split(".")[1]) for name in blocks)


def derive_msa_config(path, blocks, is_boltz):
    shape, n = shape_in(path, blocks), n_blocks(blocks)
    config = {"n_msa_blocks": n, "c_m": shape("outer_product_mean_msa.layer_norm.weight", 0),
              "c_hidden_opm": shape("outer_product_mean_msa.linear_1.weight", 0)}
    if is_boltz:
        config["opm_first"] = config["opm_divides_bias"] = False
    if n > 1 or is_boltz:  # of the others the last one has no averaging
        averaging = "msa_stack.msa_pair_weighted_averaging."
        config["no_heads_msa"] = shape(averaging + "linear_no_bias_z.weight", 0)
        config["c_hidden_msa_att"] = shape(averaging + "linear_no_bias_mv.weight", 0) // config["no_heads_msa"]
    return config


def derive_config(path, stack):
    shape = shape_in(path, stack)
    c_z, heads = shape("tri_mul_out.layer_norm_in.weight", 0), shape("tri_att_start.linear.weight", 0)
    has_single = any(".attention_pair_bias." in name for name in stack)
    inner = "linear_1" if "blocks.0.pair_transition.linear_1.weight" in stack else "linear_no_bias_a"
    return {
        "model_type": "pairformer",
        "n_blocks": n_blocks(stack),
        "c_z": c_z,
        "c_s": shape("attention_pair_bias.layernorm_a.weight", 0) if has_single else 0,
        "n_heads": shape("attention_pair_bias.linear_nobias_z.weight", 0) if has_single else 1,
        "c_hidden_mul": shape("tri_mul_out.linear_a_p.weight", 0),
        "c_hidden_pair_att": shape("tri_att_start.mha.linear_q.weight", 0) // heads,
        "no_heads_pair": heads,
        "num_intermediate_factor": shape(f"pair_transition.{inner}.weight", 0) // c_z,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--part", default=STACK, help=f"the stack's name in the checkpoint [{STACK}]")
    parser.add_argument("--msa", action="store_true", help=f"take the blocks of {MSA} too")
    parser.add_argument("--openfold3", choices=("0.4", "0.5"), help="release of OpenFold3 that the checkpoint is of")
    arguments = parser.parse_args()
    path = arguments.checkpoint
    state = tensor_names.unwrapped_state(path, read_state(path), fail)
    stack, n_others = take_stack(path, state, arguments.part)
    config = derive_config(path, stack)
    if any(".pair_stack.tri_att_end.linear_z." in name for name in state):
        if swaps_ending_bias(path, state, arguments.openfold3):
            config["transpose_bias"] = True
    elif arguments.openfold3:
        fail(path, "has no blocks of OpenFold3, which --openfold3 is for")
    tensors = {f"{STACK}.{name}": value.contiguous() for name, value in stack.items()}
    if arguments.msa:
        msa, is_boltz = take_msa(path, state)
        config.update(derive_msa_config(path, msa, is_boltz))
        tensors.update({f"{MSA}.{name}": value.contiguous() for name, value in msa.items()})
        n_others -= sum(name.startswith((MSA + ".blocks.", MSA + ".layers.")) for name in state)
    checkpoints.write(arguments.folder, config, tensors, fail)
    print(f"{arguments.folder}: {config['n_blocks']} blocks, {len(tensors)} tensors; {n_others} tensors of other parts "
          "are left out")


if __name__ == "__main__":
    main()
