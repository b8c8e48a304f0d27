"""An AlphaGenome with many tracks, made of a small one.

usage: many_tracks.py FOLDER NEW_FOLDER TRACKS BASES

Heads atac, cage and rna_seq of NEW_FOLDER have so many tracks, those of FOLDER again and again, and windows so many
bases.
"""
import json
import math
import pathlib
import struct
import sys

source, made = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
n_tracks, n_bases = int(sys.argv[3]), int(sys.argv[4])
MANY = ("atac", "cage", "rna_seq")
config = json.loads((source / "config.json").read_text())
content = (source / "model.safetensors").read_bytes()
size = struct.unpack("<Q", content[:8])[0]
header = json.loads(content[8 : 8 + size])
header.pop("__metadata__", None)
entries, data = {}, b""
for name, entry in header.items():
    shape, values = entry["shape"], content[8 + size :][slice(*entry["data_offsets"])]
    if name.startswith(tuple(f"heads.{head}." for head in MANY)):  # [organisms, tracks, ...]
        row = 4 * math.prod(shape[2:])
        organisms = [values[i : i + shape[1] * row] for i in range(0, len(values), shape[1] * row)]
        values = b"".join((rows * (n_tracks // shape[1] + 1))[: n_tracks * row] for rows in organisms)
        shape = [shape[0], n_tracks, *shape[2:]]
    entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
    data += values
config["track_heads"] |= {head: n_tracks for head in MANY}
config["sequence_length"] = n_bases
made.mkdir()
(made / "config.json").write_text(json.dumps(config))
text = json.dumps(entries).encode()
text += b" " * (-len(text) % 8)
(made / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
