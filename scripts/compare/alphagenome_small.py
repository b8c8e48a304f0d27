#!/usr/bin/env python3
"""Compares biogpu with alphagenome-pt on a small model with random weights, which scripts/convert/alphagenome.py converts:
every head of a window, the largest difference over the head's standard deviation, and the cosine.

usage: scripts/compare/alphagenome_small.py BIOGPU [--bases N] [--channels N] [--organism 0|1] [--seed N] [--json FILE]

Needs torch and `pip install --no-deps alphagenome-pt==1.0.0` with its einops. Exit status 1 where a head differs by more
than 1e-3 or has a cosine below 0.99999; of junctions, whose angles are fp32 there and exact here, the cosine decides.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import safetensors.torch
import torch

from alphagenome_heads import BOUND, COSINE, common_junctions

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "reference"))
from dna_windows import make_windows  # noqa: E402  (the folder has to be on the path first)

NAMES = {"contact_maps": "contact_maps/predictions", "splice_sites": "splice_sites_classification/predictions",
         "splice_site_usage": "splice_sites_usage/predictions", "splice_junctions": "splice_sites_junction/predictions"}


def make_model(channels, seed):
    from alphagenome_pt.heads import HeadName
    from alphagenome_pt.model import AlphaGenome, AlphaGenomeConfig
    from alphagenome_pt.synthetic import synthetic_metadata

    heads = [head for head in HeadName if head != HeadName.MASKED_LANGUAGE_MODELING]
    torch.manual_seed(seed)
    metadata = synthetic_metadata(heads=heads, organisms=["human", "mouse"])
    # Rotary positions follow from the longest sequence: that of the published model.
    model = AlphaGenome(AlphaGenomeConfig(max_seq_len=1048576, num_channels=channels, transformer_layers=3,
                                          metadata=metadata, dtype_policy="float32")).eval()
    state = model.state_dict()
    for name, value in state.items():
        noise = torch.randn(value.shape)
        if name.endswith("var_EMA"):
            value.copy_(0.5 + 1.5 * torch.rand(value.shape))
        elif name.endswith((".conv.scale", "residual_scale")):
            value.copy_(0.9 + 0.2 * noise)
        elif name.endswith(".scale"):
            value.copy_(1 + 0.2 * noise)
        elif "logits_embeddings" in name:
            value.copy_(0.5 * noise)
        elif "classification" in name:
            value.copy_(noise * value.shape[-2] ** -0.5)
        elif value.dim() < 2 or name.endswith(("bias", "offset")):
            value.add_(0.1 * noise)
    model.load_state_dict(state)
    means = {head: {"means": torch.as_tensor(values["means"]).tolist()}
             for head, values in metadata.metadata["heads"].items() if "means" in values}
    return model, {"heads": means}


def run_biogpu(program, model, metadata, window, organism):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        state = {name: value.contiguous() for name, value in model.state_dict().items()}
        safetensors.torch.save_file(state, folder / "pt.safetensors")
        (folder / "means.json").write_text(json.dumps(metadata))
        subprocess.run([sys.executable, HERE / "convert" / "alphagenome.py", folder / "pt.safetensors", folder / "model",
                        "--means", folder / "means.json"], check=True, stdout=subprocess.DEVNULL)
        path = folder / "model" / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"sequence_length": len(window)}))
        (folder / "window.fa").write_text(f">one\n{window}\n")
        subprocess.run([program, "infer", "tracks", "-q", "--device", "cpu", "--model", folder / "model", "--organism",
                        ("human", "mouse")[organism], folder / "window.fa", "-o", folder / "tracks.safetensors"], check=True)
        tracks = safetensors.torch.load_file(folder / "tracks.safetensors")
    return {name.removeprefix("one/"): value.double() for name, value in tracks.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu")
    parser.add_argument("--bases", type=int, default=16384)
    parser.add_argument("--channels", type=int, default=48)
    parser.add_argument("--organism", type=int, choices=(0, 1), default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    model, metadata = make_model(args.channels, args.seed)
    window = make_windows(args.bases)["one"]
    with torch.no_grad():
        theirs = {f"{head}/{name}": value[0] for head, values in
                  model([window], organism_index=torch.tensor([args.organism])).items() for name, value in values.items()}
    ours = run_biogpu(args.biogpu, model, metadata, window, args.organism)
    heads, bad = {}, []
    for name, got in ours.items():
        if name == "splice_junctions_positions":
            continue
        head, _, resolution = name.partition("/")
        right = theirs[NAMES.get(name, f"{head}/predictions_{resolution}bp")].double()
        if name == "splice_junctions":
            right, got = common_junctions(right, theirs["splice_sites_junction/splice_site_positions"], got,
                                          ours["splice_junctions_positions"], got.shape[2] // 2)
        difference = float((got - right).abs().max() / right.std())
        cosine = float(torch.nn.functional.cosine_similarity(got.flatten(), right.flatten(), 0))
        heads[name] = {"largest_difference": difference, "cosine": cosine}
        print(f"{name}\t{difference:.1e}\t{cosine:.9f}")
        if not (difference < (math.inf if name == "splice_junctions" else BOUND) and cosine > COSINE):
            bad.append(name)
    if args.json:
        args.json.write_text(json.dumps({"bases": args.bases, "organism": args.organism, "heads": heads}, indent=2) + "\n")
    if len(heads) < 16 or bad:
        sys.exit(f"alphagenome_small.py: {len(heads)} heads; other ones: {', '.join(bad) or 'none'}")


if __name__ == "__main__":
    main()
