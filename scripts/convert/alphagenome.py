#!/usr/bin/env python3
"""Makes a folder that `biogpu infer` reads of a published or fine-tuned AlphaGenome.

usage: scripts/convert/alphagenome.py INPUT FOLDER [--human-tracks FILE] [--mouse-tracks FILE] [--means FILE.json]
           [--delta FILE] [--transfer-config FILE.json] [--organism NAME]

INPUT is
  a file of alphagenome-pytorch (genomicsxai), .safetensors or .pth, or a checkpoint of its fine-tuning;
  a file of alphagenome-pt 1.0, .safetensors or .pt;
  a folder of DeepMind's checkpoint, as it is downloaded (needs orbax-checkpoint and jax), or
  an .npz with its arrays under their names (alphagenome/...).
FOLDER gets config.json, model.safetensors and tables of tracks; tables of an earlier model in it are removed. --human-tracks
and --mouse-tracks take what scripts/convert/alphagenome_tracks.py takes, parquet or textproto; weights without factors of
tracks (DeepMind's) get those of the tables, those of alphagenome-pt need --means, its metadata in JSON. --delta is a file of
fine-tuning that holds adapters and heads alone: INPUT is then the model that was tuned. LoRA and IA3 are merged into the
weights; --transfer-config describes adapters of a checkpoint that does not. --organism names that of heads of one organism.

Only tensors and plain values are unpickled (torch.load with weights_only): a checkpoint cannot run code. Needs torch,
numpy and safetensors; requirements.txt has their versions.
"""

import argparse
import json
import pathlib
import sys

import needed_packages  # noqa: F401  (first: says what is missing)

import numpy
import safetensors
import safetensors.torch
import torch

import alphagenome_finetuned
import alphagenome_names
import alphagenome_tracks
import checkpoints
import tensor_names

TERMS = """The weights of AlphaGenome have terms of their own: they and what is predicted with them are for non-commercial use
(https://deepmind.google.com/science/alphagenome/model-terms). Converted weights stay under these terms."""
COARSE = ("chip_tf", "chip_histone")


def fail(path, what):
    sys.exit(f"alphagenome.py: {path}: {what}")


def read_safetensors(path):
    checkpoints.refuse_pointer(path, fail)
    try:
        return safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        fail(path, f"cannot be read: {error}")


def flattened(tree, prefix=""):
    arrays = {}
    for name, value in tree.items():
        name = f"{prefix}/{name}" if prefix else name
        arrays.update(flattened(value, name) if isinstance(value, dict) else {name: value})
    return arrays


def read_orbax(path):
    try:
        import orbax.checkpoint
    except ImportError:
        fail(path, "is a folder; to read DeepMind's checkpoint, the Python packages orbax-checkpoint and jax are needed")
    try:
        restored = orbax.checkpoint.StandardCheckpointer().restore(path.resolve())
    except (OSError, ValueError) as error:
        fail(path, f"cannot be read: {error}".splitlines()[0])
    arrays = {}
    for tree in restored if isinstance(restored, (list, tuple)) else [restored]:
        arrays.update(flattened(tree))
    return {name: torch.from_numpy(numpy.asarray(value, dtype=numpy.float32).copy()) for name, value in arrays.items()}


def read_npz(path):
    try:
        with numpy.load(path, allow_pickle=False) as file:
            return {name: torch.from_numpy(file[name].astype(numpy.float32)) for name in file.files}
    except (OSError, ValueError) as error:
        fail(path, f"cannot be read: {error}".splitlines()[0])


def read_state(path):
    """Tensors by name, and what a checkpoint of fine-tuning tells."""
    if path.is_dir():
        return read_orbax(path), {}
    if path.suffix == ".npz":
        return read_npz(path), {}
    if path.suffix == ".safetensors":
        return read_safetensors(path), {}
    content = checkpoints.load(path, fail, "tensors and plain values")
    if not isinstance(content, dict):
        fail(path, "holds no tensors by name")
    state = content.get("model_state_dict", content)
    if "delta_checkpoint_version" in content or "transfer_config" in content and "weights" in content:
        fail(path, "is a delta, which goes with --delta; INPUT is the model that was tuned")
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        fail(path, "holds something other than tensors")
    return state, content if state is not content else {}


def read_json(path):
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        fail(path, error.strerror)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        fail(path, "is no JSON object")
    return content


def in_port_form(path, state):
    state = tensor_names.unwrapped_state(path, state, fail)
    state, form = alphagenome_names.as_port(state)
    return {name: value.float().contiguous() for name, value in state.items()}, form


def make_config(path, state):
    """The shape, as the tensors tell it."""
    def shape(name):
        if name not in state:
            fail(path, f"has no {name}; expected a model of AlphaGenome")
        return list(state[name].shape)

    def count(prefix, place):
        numbers = [int(name.split(".")[place]) for name in state if name.startswith(prefix)]
        return 1 + max(numbers) if numbers else fail(path, f"has no {prefix}*; expected a model of AlphaGenome")

    first = shape("encoder.dna_embedder.conv1.weight")[0]
    blocks, seq2pair = "tower.blocks.0.", "tower.blocks.0.pair_update.seq2pair."
    config = {"model_type": "alphagenome",
              "num_organisms": state["organism_embed.weight"].shape[0] if "organism_embed.weight" in state else 0,
              "num_channels": first,
              "channel_increment": shape("encoder.down_blocks.0.block1.conv.weight")[0] - first,
              "num_down_blocks": count("encoder.down_blocks.", 2), "num_transformer_blocks": count("tower.blocks.", 2),
              "num_heads": shape(blocks + "attn_bias.proj.weight")[0],
              "qk_head_dim": shape(blocks + "mha.norm_q.weight")[0], "v_head_dim": shape(blocks + "mha.norm_v.weight")[0],
              "pair_channels": shape(seq2pair + "linear_pair.weight")[0], "pair_heads": shape(seq2pair + "q_r_bias")[2],
              "pair_head_dim": shape(seq2pair + "q_r_bias")[3],
              "position_features": shape(seq2pair + "linear_pos_features.weight")[1]}
    heads = {name.split(".")[1]: value.shape[1] for name, value in sorted(state.items())
             if name.startswith("heads.") and name.endswith(".bias")}
    config["track_heads"] = heads
    config["contact_tracks"] = width_of(state, "contact_maps_head.linear.bias")
    config["splice_sites"] = "splice_sites_classification_head.conv.bias" in state
    config["splice_usage_tracks"] = width_of(state, "splice_sites_usage_head.conv.bias")
    rope = state.get("splice_sites_junction_head.rope_params.pos_donor")
    config["splice_junction_tissues"] = 0 if rope is None else rope.shape[2]
    config["splice_junction_channels"] = width_of(state, "splice_sites_junction_head.conv.bias")
    return config


def width_of(state, name):
    return state[name].shape[1] if name in state else 0


def set_forms(path, config, state, new_heads):
    """Resolutions and the squashing of heads, where they are not what their names say."""
    heads = config["track_heads"]
    fine = {name: f"heads.{name}.convs.1.bias" in state for name in heads}
    coarse = {name: f"heads.{name}.convs.128.bias" in state for name in heads}
    is_squashed = {name: new_heads.get(name, {}).get("modality", name) == "rna_seq" for name in heads}
    for name, head in new_heads.items():
        if head.get("encoder_only"):
            fail(path, f"the head {name} reads the encoder alone, which is not computed")
    config["coarse_heads"] = sorted(name for name in heads if not fine[name])
    config["fine_heads"] = sorted(name for name in heads if not coarse[name])
    config["squashed_heads"] = sorted(name for name in heads if is_squashed[name])


def fit_table(path, tables, config):
    """Pads the tables of heads to the widths of the tensors; refuses what is no column of the model."""
    widths = {**config["track_heads"], "contact_maps": config["contact_tracks"],
              "splice_sites": 5 if config["splice_sites"] else 0, "splice_site_usage": config["splice_usage_tracks"],
              "splice_junctions": config["splice_junction_tissues"]}
    rows = []
    for head, n in widths.items():
        tracks = tables.get(head, [])
        if not tracks and n > 0:
            fail(path, f"has no tracks of the head {head}")
        real = [row for row in tracks if row["name"] != alphagenome_tracks.PADDING]
        if len(real) > n or any(row["name"] != alphagenome_tracks.PADDING for row in tracks[n:]):
            fail(path, f"has {len(real)} tracks of the head {head}; the model has {n}")
        rows += tracks[:n]
        rows += [{"head": head, "index": str(i), "name": alphagenome_tracks.PADDING, "strand": "."}
                 for i in range(len(tracks), n)]
    return rows


def read_tables(arguments, config, told):
    """Rows by organism, fitted to the model."""
    tables = {}
    for organism in alphagenome_tracks.ORGANISMS:
        path = getattr(arguments, f"{organism}_tracks")
        if path:
            rows = alphagenome_tracks.by_head(path, alphagenome_tracks.read(path, fail), fail)
            tables[organism] = fit_table(path, rows, config)
    if not tables and told.get("track_metadata"):
        rows = alphagenome_tracks.from_catalog(told["track_metadata"])
        tables[config["organisms"][0]] = fit_table(arguments.input, rows, config)
    return tables


def add_means(arguments, state, config, tables):
    """Factors of tracks, where the weights have none: of --means, or of the tables."""
    given = read_json(arguments.means).get("heads", {}) if arguments.means else {}
    for name, n in config["track_heads"].items():
        key = f"heads.{name}.track_means"
        if key in state:
            state[key] = torch.nan_to_num(state[key], nan=0.0)
        elif given.get(name, {}).get("means") is not None:
            n_rows, rows = max(1, config["num_organisms"]), given[name]["means"]
            try:
                state[key] = torch.tensor(rows, dtype=torch.float32)
            except (TypeError, ValueError):
                fail(arguments.means, f"the means of the head {name} are no rows of numbers")
            if tuple(state[key].shape) != (n_rows, n):
                fail(arguments.means, f"the head {name} has means of shape {list(state[key].shape)}; expected "
                     f"[{n_rows}, {n}]")
        elif not arguments.means and set(tables) >= set(config["organisms"]):
            rows = [[row for row in tables[organism] if row["head"] == name] for organism in config["organisms"]]
            state[key] = torch.tensor([[mean_of(row) for row in tracks] for tracks in rows], dtype=torch.float32)
        else:
            print(f"alphagenome.py: {arguments.input}: the head {name} has no factors of tracks; they are 1",
                  file=sys.stderr)


def mean_of(row):
    return 0.0 if row["name"] == alphagenome_tracks.PADDING else float(row.get("nonzero_mean") or 1)


def convert(arguments):
    raw, told = read_state(arguments.input)
    state, form = in_port_form(arguments.input, raw)
    transfer, source = told.get("transfer_config"), arguments.input
    if arguments.delta:
        def refuse(what):
            fail(arguments.delta, what)

        weights, told = alphagenome_finetuned.read_delta(arguments.delta, refuse)
        state, transfer = alphagenome_finetuned.with_delta(state, weights, told, refuse)
        source = arguments.delta
    if arguments.transfer_config:
        transfer = read_json(arguments.transfer_config)
    state = alphagenome_finetuned.merged(state, transfer, lambda what: fail(source, what))
    unread = alphagenome_names.unread(state)
    if unread:
        fail(source, tensor_names.listed(unread))
    organism = arguments.organism or told.get("organism") or "human"
    if organism not in alphagenome_tracks.ORGANISMS:
        fail(source, f"the organism is {organism}; expected human or mouse")
    state, is_single = alphagenome_finetuned.of_one_organism(state, alphagenome_tracks.ORGANISMS.index(organism))
    config = make_config(arguments.input, state)
    n_rows = max(1, config["num_organisms"])
    config["organisms"] = [organism] if is_single or n_rows == 1 else list(alphagenome_tracks.ORGANISMS)[:n_rows]
    set_forms(source, config, state, (transfer or {}).get("new_heads", {}))
    tables = read_tables(arguments, config, told)
    add_means(arguments, state, config, tables)
    state = {name: value.float().contiguous() for name, value in state.items()
             if not name.endswith(".num_batches_tracked")}
    return config, state, tables, form


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    alphagenome_tracks.add_options(parser)
    parser.add_argument("--means", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--delta", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--transfer-config", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--organism", choices=alphagenome_tracks.ORGANISMS)
    arguments = parser.parse_args()
    config, state, tables, form = convert(arguments)
    # Made when all was read: no folder is left of an input that is refused.
    checkpoints.write(arguments.folder, config, state, fail,
                      {f"tracks_{organism}.tsv": alphagenome_tracks.table_text(rows) for organism, rows in tables.items()},
                      stale=[f"tracks_{organism}.tsv" for organism in alphagenome_tracks.ORGANISMS])
    print(f"{arguments.folder}: {len(state)} tensors of {form}, organisms: {', '.join(config['organisms'])}; "
          f"tables of tracks: {', '.join(tables) or 'none'}")
    print(TERMS)


if __name__ == "__main__":
    main()
