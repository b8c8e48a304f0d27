"""Writes a small AlphaGenome in every form that scripts/convert/alphagenome.py reads.

usage: alphagenome_checkpoints.py FOLDER

Into the working folder: port.pth, pt.safetensors with means.json, haiku.npz and trees.npz, tuned.pth (a checkpoint with LoRA and
IA3, tuned.json its transfer_config), delta.safetensors and delta.delta.pth (of the model that FOLDER holds), and
expected/ with the tuned model as it is merged; locon.pth, foreign.safetensors, other.pth for refusals.
"""
import json
import pathlib
import re
import sys

import numpy
import safetensors.torch
import torch

source = pathlib.Path(sys.argv[1])
state = safetensors.torch.load_file(source / "model.safetensors")
config = json.loads((source / "config.json").read_text())
n_down = config["num_down_blocks"]
torch.save(state, "port.pth")


def suffix(number):
    return f"_{number}" if int(number) else ""


def split(name):
    """Module and leaf."""
    return name.rsplit(".", 1)


# alphagenome-pt: one rule for each module, from the port's names.
PT = [(r"encoder\.dna_embedder\.conv1", lambda m: "sequence_encoder.downres_blocks.bin_size_1.conv1_d"),
      (r"encoder\.dna_embedder\.block\.(\w+)", lambda m: f"sequence_encoder.downres_blocks.bin_size_1.conv_block.{m[1]}"),
      (r"encoder\.down_blocks\.(\d+)\.block(\d)\.(\w+)",
       lambda m: f"sequence_encoder.downres_blocks.bin_size_{2 ** (int(m[1]) + 1)}.conv_block{m[2]}.{m[3]}"),
      (r"decoder\.up_blocks\.(\d+)(.*)", lambda m: f"sequence_decoder.upres_blocks.bin_size_{2 ** (n_down - int(m[1]))}"
       + m[2].replace("pointwise", "pointwise_conv_unet_skip")),
      (r"organism_embed", lambda m: "org_embedder"),
      (r"(tower\.blocks\.\d+)\.pair_update\.(\w+)\.?(\w*)", lambda m: f"transformer_{m[1]}.pair_update." + {
          "seq2pair": "sequence_to_pair_block", "row_attn": "row_attention_block", "pair_mlp": "pair_mlp_block"}[m[2]]
       + "." + {"norm_seq2pair": "norm", "linear1": "fc1", "linear2": "fc2"}.get(m[3], m[3])),
      (r"(tower\.blocks\.\d+)\.attn_bias\.(\w+)", lambda m: f"transformer_{m[1]}.attn_bias." + {
          "norm": "bn", "proj": "fc"}[m[2]]),
      (r"(tower\.blocks\.\d+\.(?:mha|mlp))\.(\w+)", lambda m: f"transformer_{m[1]}." + {
          "norm": "bn1", "final_norm": "bn2", "q_proj": "q_layer", "k_proj": "k_layer", "v_proj": "v_layer"}.get(m[2], m[2])),
      (r"embedder_(128bp|1bp)\.(\w+)", lambda m: {"128bp": "output_t.", "1bp": "output_x."}[m[1]] + {
          "project_in": "fc1", "project_skip": "fc_skip", "organism_embed": "org", "norm": "norm"}[m[2]]),
      (r"embedder_pair\.(\w+)", lambda m: f"output_pair.{m[1]}"),
      (r"heads\.(\w+)\.convs\.(\d+)", lambda m: f"_heads.{m[1]}.multiorg_linear.{m[2]}"),
      (r"heads\.(\w+)\.residual_scales", lambda m: f"_heads.{m[1]}.residual_scales"),
      (r"contact_maps_head\.linear", lambda m: "_heads.contact_maps.multiorg_linear"),
      (r"splice_sites_(\w+)_head\.conv", lambda m: f"_heads.splice_sites_{m[1]}.multiorg_linear"),
      (r"splice_sites_junction_head\.rope_params", lambda m: "_heads.splice_sites_junction")]
HAIKU = [(r"encoder\.dna_embedder\.conv1", lambda m: "sequence_encoder/dna_embedder/conv1_d"),
         (r"encoder\.dna_embedder\.block\.(\w+)", lambda m: "sequence_encoder/dna_embedder/conv_block/" + STD[m[1]]),
         (r"encoder\.down_blocks\.(\d+)\.block(\d)\.(\w+)", lambda m: f"sequence_encoder/downres_block_{m[1]}/conv_block"
          + {"1": "/", "2": "_1/"}[m[2]] + STD[m[3]]),
         (r"decoder\.up_blocks\.(\d+)\.pointwise\.(\w+)", lambda m: f"sequence_decoder/up_res_block{suffix(m[1])}/"
          "pointwise_conv_unet_skip/" + {"conv": "linear", "norm": "rms_batch_norm"}[m[2]]),
         (r"decoder\.up_blocks\.(\d+)\.(conv_\w+)\.(\w+)",
          lambda m: f"sequence_decoder/up_res_block{suffix(m[1])}/{m[2]}/{STD[m[3]]}"),
         (r"decoder\.up_blocks\.(\d+)", lambda m: f"sequence_decoder/up_res_block{suffix(m[1])}"),
         (r"organism_embed", lambda m: "embed"),
         (r"tower\.blocks\.(\d+)\.pair_update\.(\w+)\.?(\w*)", lambda m: "transformer_tower/pair_update_block"
          + suffix(int(m[1]) // 2) + {"seq2pair": "/sequence_to_pair_block/", "row_attn": "/row_attention_block/",
                                      "pair_mlp": "/pair_mlp_block/"}[m[2]]
          + {"norm": "layer_norm", "linear1": "linear", "linear2": "linear_1"}.get(m[3], m[3])),
         (r"tower\.blocks\.(\d+)\.attn_bias\.(\w+)", lambda m: f"transformer_tower/attention_bias_block{suffix(m[1])}/"
          + {"norm": "rms_batch_norm", "proj": "linear"}[m[2]]),
         (r"tower\.blocks\.(\d+)\.(mha|mlp)\.(\w+)", lambda m: f"transformer_tower/{m[2]}_block{suffix(m[1])}/" + {
             "norm": "rms_batch_norm", "final_norm": "rms_batch_norm_1", "q_proj": "q_layer", "k_proj": "k_layer",
             "v_proj": "v_layer", "fc1": "linear", "fc2": "linear_1"}.get(m[3], m[3])),
         (r"embedder_(\w+)\.(\w+)", lambda m: {"128bp": "output_embedder/", "1bp": "output_embedder_1/",
                                               "pair": "output_pair/"}[m[1]] + {
             "project_in": "linear", "project_skip": "linear_1", "organism_embed": "embed",
             "norm": "layer_norm" if m[1] == "pair" else "rms_batch_norm"}[m[2]]),
         (r"heads\.(\w+)\.convs\.(\d+)", lambda m: f"head/{m[1]}/resolution_{m[2]}/multi_organism_linear"),
         (r"contact_maps_head\.linear", lambda m: "head/contact_maps/multi_organism_linear"),
         (r"splice_sites_(\w+)_head\.conv", lambda m: f"head/splice_sites_{m[1]}/multi_organism_linear")]
STD = {"conv": "standardized_conv1_d", "norm": "rms_batch_norm"}


def module_name(name, rules):
    for pattern, made in rules:
        match = re.fullmatch(pattern, name)
        if match:
            return made(match).rstrip("./")
    sys.exit(f"alphagenome_checkpoints.py: no rule for {name}")


def is_norm(module):
    return "norm" in module.rsplit(".", 1)[-1]


pt = {}
for name, value in state.items():
    if name.endswith("track_means"):
        continue
    module, leaf = split(name)
    if is_norm(module):
        leaf = {"weight": "scale", "bias": "offset", "running_var": "var_EMA"}[leaf]
    if "rope_params" in module:
        leaf += "_logits_embeddings"
    if re.search(r"heads\.\w+\.convs|splice_sites_\w+_head\.conv", module) and leaf == "weight":
        value = value.transpose(1, 2)
    elif value.dim() == 3 and value.shape[2] == 1 and leaf == "weight":
        value = value[..., 0]
    pt[f"{module_name(module, PT)}.{leaf}"] = value.contiguous()
safetensors.torch.save_file(pt, "pt.safetensors")
means = {name.split(".")[1]: {"means": value.tolist()} for name, value in state.items() if name.endswith("track_means")}
pathlib.Path("means.json").write_text(json.dumps({"organisms": ["human", "mouse"], "heads": means}))

haiku = {}
for name, value in state.items():
    if name.endswith("track_means"):
        continue
    module, leaf = split(name)
    array = value.numpy()
    if "rope_params" in module:
        haiku[f"alphagenome/head/splice_sites_junction/{leaf}_logits/embeddings"] = array.reshape(array.shape[0], -1)
        continue
    if "residual_scales" in module:
        head = module.split(".")[1]
        haiku[f"alphagenome/head/{head}/resolution_{leaf}/learnt_scale"] = array
        continue
    if is_norm(module):
        leaf = {"weight": "scale", "bias": "offset", "running_var": "var_ema"}[leaf]
        if "embedder_pair" not in module and re.search(r"(^|\.)(final_)?norm$", module) and "pair_update" not in module:
            array = array.reshape((1, 1, 1, -1) if "attn_bias" in module else (1, 1, -1))
    elif module.endswith(".conv") and "pointwise" not in module and "head" not in module:
        leaf = {"weight": "w", "bias": "bias", "scale": "scale"}[leaf]
        array = array.transpose(2, 1, 0) if leaf == "w" else array.reshape(1, 1, -1) if leaf == "scale" else array
    elif module.endswith("organism_embed"):
        leaf = "embeddings"
    elif leaf == "residual_scale":
        array = array.reshape(())
    elif leaf in ("weight", "bias"):
        if leaf == "weight" and "contact_maps" not in module:
            if array.ndim == 3 and array.shape[2] == 1 and "head" not in module:
                array = array[..., 0]
            array = array.swapaxes(1, 2) if "head" in module else array.transpose(*range(array.ndim)[::-1])
        leaf = {"weight": "w", "bias": "b"}[leaf]
    haiku[f"alphagenome/{module_name(module, HAIKU)}/{leaf}"] = array
numpy.savez("haiku.npz", **haiku)
numpy.savez("trees.npz", **{("state/" if name.endswith("var_ema") else "params/") + name: array for name, array in haiku.items()})

# Fine-tuned: LoRA of one map, IA3 of the output of another and of the input of a third, a norm, one new head.
generator = torch.Generator().manual_seed(3)
query, key, down, norm = ("tower.blocks.0.mha.q_proj", "tower.blocks.1.mha.k_proj", "tower.blocks.0.mlp.fc2",
                          "tower.blocks.1.mlp.norm.weight")
width = state[query + ".weight"].shape[1]
lora = [torch.randn(3, width, generator=generator), torch.randn(state[query + ".weight"].shape[0], 3, generator=generator)]
scales = {key: torch.rand(state[key + ".weight"].shape[0], generator=generator),
          down: torch.rand(state[down + ".weight"].shape[1], generator=generator)}
head = {"heads.own.convs.1.weight": torch.randn(1, 2, 2 * config["num_channels"], generator=generator),
        "heads.own.convs.1.bias": torch.randn(1, 2, generator=generator),
        "heads.own.residual_scales.1": torch.randn(1, 2, generator=generator)}
transfer = {"mode": ["lora", "ia3"], "lora_rank": 3, "lora_alpha": 6, "ia3_targets": ["k_proj"], "ia3_ff_targets": ["fc2"],
            "new_heads": {"own": {"modality": "rna_seq", "num_tracks": 2, "resolutions": [1]}}}
changed_norm = state[norm] + 0.5
adapters = {query + ".lora_A.weight": lora[0], query + ".lora_B.weight": lora[1],
            **{module + ".scale": scale for module, scale in scales.items()}}
trunk = {name: value for name, value in state.items() if not name.startswith(("heads.", "contact_maps_", "splice_sites_"))}
wrapped = {}
for name, value in (trunk | {norm: changed_norm}).items():
    module, leaf = split(name)
    wrapped[f"{module}.original_layer.{leaf}" if module in (query, key, down) else name] = value
torch.save({"epoch": 1, "model_state_dict": wrapped | adapters | head}, "tuned.pth")
pathlib.Path("tuned.json").write_text(json.dumps(transfer))
tracks = [{"track_index": i, "output_name": "own", "organism": 1, "track_name": f"mine {i}", "strand": "+-"[i]}
          for i in range(2)]
told = {"transfer_config": transfer, "organism": "mouse", "track_metadata": tracks}
safetensors.torch.save_file(adapters | head | {norm: changed_norm}, "delta.safetensors",
                            metadata={name: json.dumps(value) for name, value in told.items()})
torch.save({"delta_checkpoint_version": 1, "transfer_config": transfer, "adapter_state_dict": adapters,
            "head_state_dict": head, "norm_state_dict": {norm: changed_norm}, "base_model_hash": "",
            "metadata": {"organism": "mouse", "track_metadata": tracks}}, "delta.delta.pth")
expected = trunk | head | {norm: changed_norm}
expected[query + ".weight"] = (state[query + ".weight"].double() + 2 * lora[1].double() @ lora[0].double()).float()
expected[key + ".weight"] = (state[key + ".weight"].double() * scales[key].double()[:, None]).float()
expected[down + ".weight"] = (state[down + ".weight"].double() * scales[down].double()).float()
expected = {name: value[1:2] if name.endswith("organism_embed.weight") else value for name, value in expected.items()}
pathlib.Path("expected").mkdir()
safetensors.torch.save_file({name: value.contiguous() for name, value in expected.items()}, "expected/model.safetensors")
torch.save({"model_state_dict": state | {"encoder.dna_embedder.block.conv.locon_down.weight": torch.ones(2)}}, "locon.pth")
safetensors.torch.save_file(state | {"tower.blocks.0.mha.gate.weight": torch.ones(2)}, "foreign.safetensors")
torch.save({"something.weight": torch.ones(2)}, "other.pth")
