"""Tensors of AlphaGenome under the names that biogpu reads, those of alphagenome-pytorch 0.3.

Renames those of alphagenome-pt 1.0 and of DeepMind's checkpoint (Haiku) and brings them into the same layout. Tensors are
torch's.
"""

import re

import tensor_names

_RBN = r"norm\.(weight|bias|running_var|num_batches_tracked)"
_CONV = rf"({_RBN}|conv\.(weight|bias|scale))"
_MAP = r"(weight|bias)"
HEADS = ("heads.", "contact_maps_head.", "splice_sites_")
# A tensor that no pattern matches is an input of something that biogpu does not compute.
KNOWN = [
    rf"encoder\.dna_embedder\.(conv1\.{_MAP}|block\.{_CONV})", rf"encoder\.down_blocks\.\d+\.block[12]\.{_CONV}",
    r"(embedder_(128bp|1bp|pair)\.)?organism_embed\.weight",
    rf"decoder\.up_blocks\.\d+\.(residual_scale|(conv_in|pointwise|conv_out)\.{_CONV})",
    r"tower\.blocks\.\d+\.pair_update\.seq2pair\.([qk]_r_bias|linear_(q|k|y_q|y_k)\.weight"
    rf"|(norm_seq2pair|linear_pos_features|linear_pair)\.{_MAP})",
    rf"tower\.blocks\.\d+\.pair_update\.(row_attn\.(norm\.{_MAP}|linear_[qk]\.weight|linear_v\.{_MAP})"
    rf"|pair_mlp\.(norm|linear[12])\.{_MAP})",
    rf"tower\.blocks\.\d+\.attn_bias\.({_RBN}|proj\.weight)",
    rf"tower\.blocks\.\d+\.mha\.((final_)?{_RBN}|[qkv]_proj\.weight|(norm_[qkv]|linear_embedding)\.{_MAP})",
    rf"tower\.blocks\.\d+\.mlp\.((final_)?{_RBN}|fc[12]\.{_MAP})",
    rf"embedder_(128bp|1bp)\.({_RBN}|project_in\.{_MAP}|project_skip\.weight)", rf"embedder_pair\.norm\.{_MAP}",
    rf"heads\.\w+\.(convs\.(1|128)\.{_MAP}|residual_scales\.(1|128)|track_means)", rf"contact_maps_head\.linear\.{_MAP}",
    rf"splice_sites_(classification|usage|junction)_head\.conv\.{_MAP}",
    r"splice_sites_junction_head\.rope_params\.(pos|neg)_(donor|acceptor)"]


def unread(names):
    return tensor_names.unread(names, KNOWN)


# Rules are tried in this order, all of them, on the whole name.
_LEAVES = [(r"\.offset$", ".bias"), (r"(?<!conv)\.scale$", ".weight")]
_ALPHAGENOME_PT = [
    (r"^sequence_encoder\.downres_blocks\.bin_size_1\.conv1_d\.", "encoder.dna_embedder.conv1."),
    (r"^sequence_encoder\.downres_blocks\.bin_size_1\.conv_block\.", "encoder.dna_embedder.block."),
    (r"^sequence_encoder\.downres_blocks\.bin_size_(\d+)\.conv_block", r"encoder.down_blocks.<down \1>.block"),
    (r"^sequence_decoder\.upres_blocks\.bin_size_(\d+)\.", r"decoder.up_blocks.<up \1>."),
    (r"\.pointwise_conv_unet_skip\.", ".pointwise."), (r"^org_embedder\.", "organism_embed."),
    (r"^transformer_tower\.", "tower."), (r"\.sequence_to_pair_block\.norm\.", ".seq2pair.norm_seq2pair."),
    (r"\.sequence_to_pair_block\.", ".seq2pair."), (r"\.row_attention_block\.", ".row_attn."),
    (r"\.pair_mlp_block\.fc", ".pair_mlp.linear"), (r"\.pair_mlp_block\.", ".pair_mlp."),
    (r"\.attn_bias\.bn\.", ".attn_bias.norm."), (r"\.attn_bias\.fc\.", ".attn_bias.proj."),
    (r"\.(mha|mlp)\.bn1\.", r".\1.norm."), (r"\.(mha|mlp)\.bn2\.", r".\1.final_norm."),
    (r"\.mha\.([qkv])_layer\.", r".mha.\1_proj."), (r"^output_t\.", "embedder_128bp."), (r"^output_x\.", "embedder_1bp."),
    (r"^output_pair\.", "embedder_pair."), (r"^(embedder_\w+)\.fc1\.", r"\1.project_in."),
    (r"^(embedder_\w+)\.fc_skip\.", r"\1.project_skip."), (r"^(embedder_\w+)\.org\.", r"\1.organism_embed."),
    (r"^_heads\.contact_maps\.multiorg_linear\.", "contact_maps_head.linear."),
    (r"^_heads\.splice_sites_(\w+)\.multiorg_linear\.", r"splice_sites_\1_head.conv."),
    (r"^_heads\.splice_sites_junction\.(\w+)_logits_embeddings$", r"splice_sites_junction_head.rope_params.\1"),
    (r"^_heads\.(\w+)\.multiorg_linear\.", r"heads.\1.convs."), (r"^_heads\.", "heads."),
    (r"\.var_EMA$", ".running_var"), *_LEAVES]
_HAIKU = [
    (r"^alphagenome/", ""), ("/", "."), (r"\.b$", ".bias"), (r"\.w$", ".weight"),
    (r"^sequence_encoder\.dna_embedder\.conv1_d\.", "encoder.dna_embedder.conv1."),
    (r"^sequence_encoder\.dna_embedder\.conv_block\.", "encoder.dna_embedder.block."),
    (r"^sequence_encoder\.downres_block_(\d+)\.conv_block\.", r"encoder.down_blocks.\1.block1."),
    (r"^sequence_encoder\.downres_block_(\d+)\.conv_block_1\.", r"encoder.down_blocks.\1.block2."),
    (r"^sequence_decoder\.up_res_block\.", "sequence_decoder.up_res_block_0."),
    (r"^sequence_decoder\.up_res_block_(\d+)\.", r"decoder.up_blocks.\1."), (r"\.standardized_conv1_d\.", ".conv."),
    (r"\.pointwise_conv_unet_skip\.linear\.", ".pointwise.conv."), (r"\.pointwise_conv_unet_skip\.", ".pointwise."),
    (r"^transformer_tower\.(\w+_block)\.", r"transformer_tower.\1_0."),
    (r"^transformer_tower\.(mha|mlp)_block_(\d+)\.", r"tower.blocks.\2.\1."),
    (r"^transformer_tower\.attention_bias_block_(\d+)\.", r"tower.blocks.\1.attn_bias."),
    (r"^transformer_tower\.pair_update_block_(\d+)\.", r"tower.blocks.<pair \1>.pair_update."),
    (r"\.sequence_to_pair_block\.", ".seq2pair."), (r"\.row_attention_block\.", ".row_attn."),
    (r"\.pair_mlp_block\.", ".pair_mlp."), (r"\.pair_mlp\.linear\.", ".pair_mlp.linear1."),
    (r"\.pair_mlp\.linear_1\.", ".pair_mlp.linear2."), (r"\.attn_bias\.linear\.", ".attn_bias.proj."),
    (r"\.mha\.([qkv])_layer\.", r".mha.\1_proj."), (r"\.mlp\.linear\.", ".mlp.fc1."), (r"\.mlp\.linear_1\.", ".mlp.fc2."),
    (r"^output_embedder\.", "embedder_128bp."), (r"^output_embedder_1\.", "embedder_1bp."),
    (r"^output_pair\.", "embedder_pair."), (r"^(embedder_\w+)\.linear\.", r"\1.project_in."),
    (r"^(embedder_\w+)\.linear_1\.", r"\1.project_skip."), (r"(^|\.)embed\.embeddings$", r"\1organism_embed.weight"),
    (r"\.rms_batch_norm\.", ".norm."), (r"\.rms_batch_norm_1\.", ".final_norm."), (r"\.layer_norm\.", ".norm."),
    (r"^head\.contact_maps\.multi_organism_linear\.", "contact_maps_head.linear."),
    (r"^head\.splice_sites_(\w+)\.multi_organism_linear\.", r"splice_sites_\1_head.conv."),
    (r"^head\.splice_sites_junction\.(\w+)_logits\.embeddings$", r"splice_sites_junction_head.rope_params.\1"),
    (r"^head\.(\w+)\.resolution_(\d+)\.multi_organism_linear\.", r"heads.\1.convs.\2."),
    (r"^head\.(\w+)\.resolution_(\d+)\.learnt_scale$", r"heads.\1.residual_scales.\2"),
    (r"\.var_ema$", ".running_var"), *_LEAVES]


def _renamed(name, rules, n_down):
    for pattern, replacement in rules:
        name = re.sub(pattern, replacement, name)
    numbers = {"down": lambda bin_size: bin_size.bit_length() - 2, "up": lambda bin_size: n_down + 1 - bin_size.bit_length(),
               "pair": lambda block: 2 * block}
    return re.sub(r"<(\w+) (\d+)>", lambda match: str(numbers[match[1]](int(match[2]))), name)


def _as_port(name, array, inputs_first, junction_channels):
    """An array in the port's layout. inputs_first: weights of linear maps and convolutions are [..., inputs, outputs]."""
    if re.match(r"splice_sites_junction_head\.rope_params\.", name):
        return array.reshape(array.shape[0], 2, -1, junction_channels)
    if re.match(r"(heads\.\w+\.convs\.\d+|splice_sites_\w+_head\.conv)\.weight$", name):
        return array.swapaxes(1, 2)
    if name.startswith(HEADS) or name.endswith((".organism_embed.weight", "_r_bias")) or name == "organism_embed.weight":
        return array
    if name.endswith("residual_scale"):
        return array.reshape(1)
    if name.endswith(".conv.scale"):
        return array.reshape(-1, 1, 1)
    if re.search(r"norm\w*\.\w+$", name):
        return array.reshape(-1)
    if not name.endswith(".weight"):
        return array
    if inputs_first:
        array = array.permute(*range(array.ndim)[::-1])
    if re.search(r"\.(project_in|project_skip|pointwise\.conv)\.weight$", name) and array.ndim == 2:
        array = array[..., None]
    return array


def as_port(arrays):
    """Tensors of any of the three under the port's names, and which form they had."""
    # A checkpoint holds two trees, parameters and running variances.
    arrays = {re.sub(r"^(params|state|0|1)/(?=alphagenome/)", "", name): array for name, array in arrays.items()}
    is_haiku = any(name.startswith("alphagenome/") for name in arrays)
    is_pt = any(name.startswith("sequence_encoder.") for name in arrays)
    if not is_haiku and not is_pt:
        return arrays, "alphagenome-pytorch"
    sizes = [int(size) for name in arrays for size in re.findall(r"\.bin_size_(\d+)\.", name)]
    rules, n_down = (_HAIKU, 0) if is_haiku else (_ALPHAGENOME_PT, max(sizes).bit_length() - 1)
    renamed = {_renamed(name, rules, n_down): array for name, array in arrays.items()}
    bias = renamed.get("splice_sites_junction_head.conv.bias")
    channels = bias.shape[-1] if bias is not None else -1
    return ({name: _as_port(name, array, is_haiku, channels) for name, array in renamed.items()},
            "alphagenome_research" if is_haiku else "alphagenome-pt")
