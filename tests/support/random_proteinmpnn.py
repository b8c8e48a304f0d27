#!/usr/bin/env python3
"""Writes a folder with a ProteinMPNN of random weights; the standard library is enough.

usage: tests/support/random_proteinmpnn.py FOLDER

Any weights of the right shapes: tests/models/proteinmpnn compares numbers.
"""

import json
import pathlib
import random
import struct
import sys


def shapes():
    linear = {"features.embeddings.linear": (16, 66), "W_e": (128, 128), "W_out": (21, 128)}
    for layer in range(3):
        for kind, parts, names in (("encoder", 3, "1 2 3 11 12 13"), ("decoder", 4, "1 2 3")):
            prefix = f"{kind}_layers.{layer}."
            for name in names.split():
                linear[prefix + "W" + name] = (128, parts * 128 if name in ("1", "11") else 128)
            linear[prefix + "dense.W_in"], linear[prefix + "dense.W_out"] = (512, 128), (128, 512)
    tensors = {"features.edge_embedding.weight": (128, 416), "W_s.weight": (21, 128)}
    for name, shape in linear.items():
        tensors[name + ".weight"], tensors[name + ".bias"] = shape, shape[:1]
    norms = ["features.norm_edges"]
    norms += [f"encoder_layers.{layer}.norm{i}" for layer in range(3) for i in (1, 2, 3)]
    norms += [f"decoder_layers.{layer}.norm{i}" for layer in range(3) for i in (1, 2)]
    for name in norms:
        tensors[name + ".weight"] = tensors[name + ".bias"] = (128,)
    return tensors


def write(folder):
    folder.mkdir()
    rng = random.Random(1)
    header, data = {}, bytearray()
    for name, shape in shapes().items():
        size = shape[0] * (shape[1] if len(shape) == 2 else 1)
        block = [rng.uniform(-0.2, 0.2) for _ in range(min(size, 4099))]
        values = (block * (size // len(block) + 1))[:size]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * size]}
        data += struct.pack(f"<{size}f", *values)
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    config = {"model_type": "proteinmpnn", "name": "v_48_020", "num_edges": 48, "noise_level": 0.2}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
