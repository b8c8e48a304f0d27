"""Folders of AlphaGenome made of a small one with two organisms, for tests of organisms and of tables of tracks.

usage: alphagenome_folders.py FOLDER

Writes into the working folder
  tables  with tracks_human.tsv and tracks_mouse.tsv; some columns are padding, all of mouse's PRO-cap;
  mouse   one organism, the second one;
  three   three organisms, the third like the second;
  silent  two organisms whose embeddings are zeros;
  none    no organisms, otherwise like silent's first;
  plain   two organisms without track_means;
  ones    the same with track_means of 1.
"""
import json
import math
import pathlib
import struct
import sys

source = pathlib.Path(sys.argv[1])
config = json.loads((source / "config.json").read_text())
content = (source / "model.safetensors").read_bytes()
size = struct.unpack("<Q", content[:8])[0]
header = json.loads(content[8 : 8 + size])
header.pop("__metadata__", None)
tensors = {name: (tuple(entry["shape"]), content[8 + size :][slice(*entry["data_offsets"])])
           for name, entry in header.items()}
PARTS = ("organism_embed.", "heads.", "contact_maps_head.", "splice_sites_")


def write(folder, n_organisms, changed, names=None):
    path = pathlib.Path(folder)
    path.mkdir()
    more = {"organisms": names} if names else {}
    (path / "config.json").write_text(json.dumps(config | {"num_organisms": n_organisms} | more))
    entries, data = {}, b""
    for name, (shape, values) in changed.items():
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    (path / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def of_organism(name):
    return name.startswith(PARTS) or ".organism_embed." in name


def rows(which):
    """Those rows of each tensor that has one for each organism."""
    result = {}
    for name, (shape, values) in tensors.items():
        if of_organism(name):
            n = len(values) // shape[0]
            values = b"".join(values[row * n : (row + 1) * n] for row in which)
            shape = (len(which), *shape[1:])
        result[name] = (shape, values)
    return result


def like(value):
    return lambda shape: struct.pack("<f", value) * math.prod(shape)


write("tables", 2, tensors)
write("mouse", 1, rows([1]), ["mouse"])
write("three", 3, rows([0, 1, 1]), ["human", "rat", "mouse"])
silent = {name: (shape, like(0)(shape) if "organism_embed" in name else values)
          for name, (shape, values) in tensors.items()}
write("silent", 2, silent)
write("none", 0, {name: values for name, values in rows([0]).items() if "organism_embed" not in name})
write("plain", 2, {name: values for name, values in tensors.items() if not name.endswith("track_means")})
write("ones", 2, {name: (shape, like(1)(shape) if name.endswith("track_means") else values)
                  for name, (shape, values) in tensors.items()})

heads = dict(config["track_heads"], contact_maps=config["contact_tracks"], splice_sites=5,
             splice_site_usage=config["splice_usage_tracks"], splice_junctions=config["splice_junction_tissues"])
REAL = {"human": {"atac": 3, "rna_seq": 4, "splice_sites": 4, "splice_junctions": 2},
        "mouse": {"atac": 1, "procap": 0, "splice_sites": 4}}
for organism, real in REAL.items():
    lines = ["head\tindex\tname\tstrand\tontology_curie\tAssay title\tnonzero_mean"]
    for head, n in heads.items():
        for i in range(n):
            n_real = real.get(head, n)
            if i >= n_real:
                lines.append(f"{head}\t{i}\tPadding\t.\t\t\t")
                continue
            half = n_real // 2
            strand = "+-"[i >= half] if head in ("cage", "splice_sites") else "."
            k = i % half if strand != "." else i
            lines.append(f"{head}\t{i}\t{head} {k}\t{strand}\tCL:{k:07}\tassay of {head}\t1.5")
    pathlib.Path("tables", f"tracks_{organism}.tsv").write_text("\n".join(lines) + "\n")
