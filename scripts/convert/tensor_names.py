"""The tensors that biogpu reads of a checkpoint, by name: a converter refuses any other.

A tensor that nobody reads is an input of a variant that is not supported, and a model without it gives other numbers.
The loaders (lib/models) hold the same rule. The standard library is enough.
"""

import re

MAX_LISTED = 10
MAX_LIST_LENGTH = 360


def _mpnn_layer(kind, messages, norms):
    layer = rf"{kind}_layers\.[0-2]\."
    return [rf"{layer}norm[1-{norms}]\.(weight|bias)", rf"{layer}W({messages})\.(weight|bias)",
            rf"{layer}dense\.W_(in|out)\.(weight|bias)"]


MPNN = ([r"features\.embeddings\.linear\.(weight|bias)", r"features\.edge_embedding\.weight",
         r"features\.norm_edges\.(weight|bias)", r"W_e\.(weight|bias)", r"W_s\.weight", r"W_out\.(weight|bias)"]
        + _mpnn_layer("encoder", "1|2|3|11|12|13", 3) + _mpnn_layer("decoder", "1|2|3", 2))
# The original's CA-only models have these and do not read them. In membrane models they are the encoder's input.
MPNN_CA_ONLY = [r"features\.node_embedding\.weight", r"features\.norm_nodes\.(weight|bias)", r"W_v\.(weight|bias)"]

_BERT_LAYER = (r"encoder\.layer\.\d+\.(attention\.self\.(query|key|value)|attention\.output\.dense|intermediate\.dense"
               r"|output\.dense)\.(weight|bias)")
_POOLER = r"pooler\.dense\.(weight|bias)"
TRANSFORMERS = {
    "esm": [r"(esm\.)?" + name for name in (
        r"embeddings\.(word_embeddings\.weight|position_ids|position_embeddings\.weight)", _BERT_LAYER,
        r"encoder\.layer\.\d+\.(attention\.)?LayerNorm\.(weight|bias|gamma|beta)",
        r"encoder\.emb_layer_norm_after\.(weight|bias)", _POOLER,
        r"(encoder\.layer\.(\d+|\*)\.attention\.self\.)?rotary_embeddings\.inv_freq",
        r"contact_head\.regression\.(weight|bias)")]
    + [r"lm_head\.(bias|(dense|layer_norm)\.(weight|bias)|decoder\.weight)"],
    "bert": [r"(bert\.)?" + name for name in (
        r"embeddings\.((word|position|token_type)_embeddings\.weight|position_ids)",
        r"(embeddings|encoder\.layer\.\d+(\.attention)?\.output)\.LayerNorm\.(weight|bias|gamma|beta)",
        _BERT_LAYER, _POOLER)]
    + [r"cls\.predictions\.(bias|decoder\.(weight|bias)|transform\.(dense|LayerNorm)\.(weight|bias|gamma|beta))",
       r"cls\.seq_relationship\.(weight|bias)"],
}


_BATCH_NORM = r"(weight|bias|running_mean|running_var|num_batches_tracked)"
_MAP = r"(weight|bias)"
ENFORMER = [rf"stem\.0\.{_MAP}", rf"stem\.1\.fn\.0\.{_BATCH_NORM}", rf"stem\.1\.fn\.2\.{_MAP}",
            rf"conv_tower\.\d+\.(0|1\.fn)\.0\.{_BATCH_NORM}", rf"conv_tower\.\d+\.(0|1\.fn)\.2\.{_MAP}",
            r"(stem|conv_tower\.\d+)\.2\.to_attn_logits\.weight",
            rf"transformer\.\d+\.(0\.fn\.0|0\.fn\.1\.to_out|1\.fn\.[014])\.{_MAP}",
            r"transformer\.\d+\.0\.fn\.1\.(to_(q|k|v|rel_k)\.weight|rel_(content|pos)_bias)",
            rf"final_pointwise\.1\.0\.{_BATCH_NORM}", rf"final_pointwise\.1\.2\.{_MAP}", rf"_heads\.\w+\.0\.{_MAP}",
            "gamma_position_basis"]


_CONV = rf"(norm\.{_BATCH_NORM}|conv_layer\.{_MAP})"
TRANSFORMERS["borzoi"] = [
    rf"conv_dna\.conv_layer\.{_MAP}", rf"(res_tower\.\d+|unet1\.1|horizontal_conv[01])\.{_CONV}",
    rf"(upsampling_unet[01]|final_joined_convs)\.0\.{_CONV}", r"separable[01]\.conv_layer\.0\.weight",
    rf"separable[01]\.conv_layer\.1\.{_MAP}", rf"transformer\.\d+\.(0\.fn\.0|0\.fn\.1\.to_out|1\.fn\.[014])\.{_MAP}",
    r"transformer\.\d+\.0\.fn\.1\.(to_(q|k|v|rel_k)\.weight|rel_(content|pos)_bias)",
    rf"transformer\.\d+\.0\.fn\.1\.mha\.((Wqkv|out_proj)\.{_MAP}|rotary_emb\.inv_freq)", rf"\w+_head\.{_MAP}"]


WRAPPERS = ("module.", "model.", "_orig_mod.")


def unwrapped(name):
    """A tensor's name without what programs of training put in front of a model's own: PyTorch's wrappers of a model for
    several devices and for its compiler, and a training class that holds it as `model`; several of them in any order."""
    while name.startswith(WRAPPERS):
        name = name[name.index(".") + 1:]
    return name


def unwrapped_state(path, state, fail):
    """The tensors under their names without wrappers; fail(path, what) where two get the same one."""
    names = {}
    for name in state:
        if unwrapped(name) in names:
            fail(path, f"has {names[unwrapped(name)]} and {name}, which are one tensor of the model")
        names[unwrapped(name)] = name
    return {name: state[wrapped] for name, wrapped in names.items()}


def unread(names, patterns):
    """Those of the names that no pattern matches as a whole."""
    known = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    return sorted(name for name in names if not known.fullmatch(name))


def unread_proteinmpnn(names, ca_only):
    return unread(names, MPNN + (MPNN_CA_ONLY if ca_only else []))


def unread_transformer(names, model_type):
    """Nothing for a model_type that biogpu does not know: its loader says so."""
    patterns = TRANSFORMERS.get(model_type)
    return unread(names, patterns) if patterns else []


def listed(names):
    """Some of the names, so that a message stays one line that can be read."""
    shown = []
    for name in names[:MAX_LISTED]:
        if shown and len(", ".join([*shown, name])) > MAX_LIST_LENGTH:
            break
        shown.append(name if len(name) <= MAX_LIST_LENGTH else name[:MAX_LIST_LENGTH] + "...")
    more = ", ..." if len(names) > len(shown) else ""
    return f"{len(names)} tensors are not read: {', '.join(shown)}{more}"
