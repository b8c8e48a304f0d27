"""Fine-tuned variants of AlphaGenome as alphagenome-pytorch writes them: adapters and delta files are merged into the
weights.

fail(what) ends the program. Needs torch and safetensors.
"""

import json

import safetensors

import alphagenome_names
import checkpoints

UNMERGED = (".locon_down.", ".locon_up.", ".adapter.")


def read_delta(path, fail):
    """Tensors of a delta file by name, and what it tells: transfer_config, organism, track_names, track_metadata."""
    if path.suffix == ".safetensors":
        with safetensors.safe_open(path, framework="pt") as file:
            told = {key: json.loads(value) for key, value in (file.metadata() or {}).items()
                    if key in ("transfer_config", "organism", "track_names", "track_metadata")}
            weights = {name: file.get_tensor(name) for name in file.keys()}
    else:
        content = checkpoints.load(path, lambda _, what: fail(what), "tensors and plain values")
        if not isinstance(content, dict):
            fail("holds no delta of alphagenome-pytorch")
        if "delta_checkpoint_version" in content:
            weights = {name: value for part in ("norm_state_dict", "adapter_state_dict", "head_state_dict")
                       for name, value in content.get(part, {}).items()}
            told = {**content.get("metadata", {}), "transfer_config": content.get("transfer_config")}
        else:
            weights, told = content.get("weights"), content
    if not isinstance(told.get("transfer_config"), dict) or not isinstance(weights, dict):
        fail("has no transfer_config or no weights; expected a delta of alphagenome-pytorch")
    return weights, told


def with_delta(base, weights, told, fail):
    """The base model with the heads of the delta in place of its own."""
    state = {name: value for name, value in base.items() if not name.startswith(alphagenome_names.HEADS)}
    names = {name.replace(".original_layer.", "."): name for name in weights}
    foreign = sorted(name for name in names if name not in state and not name.startswith(alphagenome_names.HEADS)
                     and not is_adapter(name))
    if foreign:
        fail(f"has tensors that the base model does not: {', '.join(foreign[:10])}")
    state.update({name: weights[stored] for name, stored in names.items()})
    return state, told["transfer_config"]


def is_adapter(name):
    return any(part in name for part in (".lora_A.", ".lora_B.", *UNMERGED)) or (
        name.endswith(".scale") and not name.endswith(".conv.scale"))


def merged(state, config, fail):
    """The weights with LoRA and IA3 in them. config: transfer_config, or None."""
    state = {name.replace(".original_layer.", "."): value for name, value in state.items()}
    unmerged = sorted(name for name in state if any(part in name for part in UNMERGED))
    if unmerged:
        fail(f"has {len(unmerged)} tensors of Locon or Houlsby adapters, which are no part of a weight and are not "
             f"computed: {', '.join(unmerged[:10])}")
    adapters = {name: state.pop(name) for name in sorted(state) if is_adapter(name)}
    if adapters and config is None:
        fail("has adapters, but no transfer_config; give --transfer-config")
    for name in adapters:
        layer, part = name.rsplit(".scale", 1)[0].split(".lora_")[0], name
        weight = layer + ".weight"
        if weight not in state:
            fail(f"{name} is an adapter of {layer}, which the model does not have")
        if ".lora_B." in part:
            continue
        if ".lora_A." in part:
            down, up = adapters[name].double(), adapters.get(layer + ".lora_B.weight")
            if up is None:
                fail(f"{name} has no lora_B")
            factor = config.get("lora_alpha", 16) / down.shape[0]
            state[weight] = (state[weight].double() + factor * (up.double() @ down)).float()
            continue
        scale = adapters[name].double()
        # Of the input of maps that ia3_ff_targets names, of the output of others.
        if any(target in layer for target in config.get("ia3_ff_targets", [])):
            state[weight] = (state[weight].double() * scale[None, :]).float()
            continue
        state[weight] = (state[weight].double() * scale[:, None]).float()
        if layer + ".bias" in state:
            state[layer + ".bias"] = (state[layer + ".bias"].double() * scale).float()
    return state


def of_one_organism(state, row):
    """Heads of fine-tuning have one row: with them a model of one organism, whose embeddings are those of a row."""
    heads = [value.shape[0] for name, value in state.items() if name.startswith(alphagenome_names.HEADS)]
    embedded = state.get("organism_embed.weight")
    if embedded is None or not heads or min(heads) == embedded.shape[0]:
        return state, False
    if max(heads) > 1:
        return state, False
    return {name: value[row:row + 1] if name.endswith("organism_embed.weight") else value
            for name, value in state.items()}, True
