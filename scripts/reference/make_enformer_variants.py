#!/usr/bin/env python3
"""Writes a genome, variants of it and their effects by enformer-pytorch next to a folder of make_enformer.py.

usage: scripts/reference/make_enformer_variants.py FOLDER

FOLDER is one that make_enformer.py wrote. It gets genome.fa, variants.vcf and variants.tsv: of every ALT allele,
kind of window and track of the head "human" the predictions for REF and ALT in double precision, as means over all
bins and as the number of the bin that the variant's first base lies in. Sequences are made here from the text of
the genome: a window has the variant's first base at half its length; what an allele inserts or deletes moves the
letters right of it, and the window keeps its length; N is beyond the ends of a contig. Kinds: "forward"; "both",
the mean with the reverse complement, whose bins are turned round; "shifts", the mean over windows moved by -1, 0
and 3 bases, of which each has the variant in the bin that holds it there.
"""

import json
import pathlib
import sys

import numpy
import safetensors.torch
import torch
from dna_windows import one_hot
from make_enformer import SHAPES, original

COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def load(folder):
    config = json.loads((folder / "config.json").read_text())
    shape = next(values for values in SHAPES.values()
                 if all(config[key] == value for key, value in values.items()))
    values = {key: value for key, value in shape.items() if key != "sequence_length"}
    torch.set_default_dtype(torch.float64)  # of linspace, too
    model = original.Enformer(original.EnformerConfig(**values)).eval()
    state = safetensors.torch.load_file(folder / "model.safetensors")
    missing, unknown = model.load_state_dict({k: v.double() for k, v in state.items()}, strict=False)
    assert not unknown and all(name.startswith("_trunk.") for name in missing), (missing, unknown)
    return model.double(), shape["sequence_length"], 2 ** config["num_downsamples"]


def make_genome(length):
    rng = numpy.random.default_rng(11)
    letters = numpy.array(list("ACGT"))
    return {name: "".join(letters[rng.integers(0, 4, n)]) for name, n in (("chr1", 3 * length), ("chr2", length // 2))}


def make_variants(genome, length):
    """(contig, position from 0, id, REF, ALTs): substitutions, several alleles, insertions, deletions, ends."""
    variants = []

    def add(contig, position, n_ref, *alts):
        ref = genome[contig][position:position + n_ref]
        variants.append((contig, position, f"v{len(variants) + 1}", ref, [alt(ref) for alt in alts]))

    def other(step):
        return lambda ref: "".join("ACGT"[("ACGT".index(c) + step) % 4] for c in ref)

    add("chr1", 3, 1, other(1))
    add("chr1", length, 1, other(1))
    add("chr1", length + 9, 1, other(1), other(2), other(3))
    add("chr1", length + 40, 3, other(1))
    add("chr1", length + 41, 1, lambda ref: ref + "ACGTTGCA")
    add("chr1", length + 77, 6, lambda ref: ref[0], other(2))
    add("chr1", 2 * length, 1, lambda ref: ref + "GATTACA" * 40)
    add("chr1", 3 * length - 1, 1, other(2))
    add("chr2", length // 4, 20, lambda ref: ref[:4])
    return variants


def window_of(sequence, anchor, length, shift):
    """Letters around letter `anchor`, which is letter length / 2 - shift."""
    begin = anchor - length // 2 + shift
    return "".join(sequence[i] if 0 <= i < len(sequence) else "N" for i in range(begin, begin + length))


def predict(model, window):
    with torch.no_grad():
        return model(one_hot(window).double()[None])["human"][0]


def predict_all(model, sequence, anchor, length):
    forward = predict(model, window_of(sequence, anchor, length, 0))
    reverse = predict(model, window_of(sequence, anchor, length, 0)[::-1].translate(COMPLEMENT)).flip(0)
    shifted = [forward] + [predict(model, window_of(sequence, anchor, length, s)) for s in (-1, 3)]
    return {"forward": [(0, forward)], "both": [(0, forward), (0, reverse)], "shifts": list(zip((0, -1, 3), shifted))}


def centre_bin(tracks, length, bin_size, shift):
    """Of the variant's first base, which is letter length / 2 - shift."""
    first_base = (length - tracks.shape[0] * bin_size) // 2
    return (length // 2 - shift - first_base) // bin_size


def mean_of(views, bins, track, length, bin_size):
    values = []
    for shift, tracks in views:
        middle = centre_bin(tracks, length, bin_size, shift)
        values.append((tracks[:, track].mean() if bins == "all" else tracks[middle, track]).item())
    return sum(values) / len(values)


def main():
    folder = pathlib.Path(sys.argv[1])
    model, length, bin_size = load(folder)
    genome = make_genome(length)
    variants = make_variants(genome, length)
    (folder / "genome.fa").write_text("".join(
        f">{name}\n" + "".join(text[i:i + 60] + "\n" for i in range(0, len(text), 60)) for name, text in genome.items()))
    (folder / "variants.vcf").write_text(
        "##fileformat=VCFv4.2\n" + "".join(f"##contig=<ID={n},length={len(t)}>\n" for n, t in genome.items()) +
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
        "".join(f"{c}\t{p + 1}\t{i}\t{ref}\t{','.join(alts)}\t.\t.\t.\n" for c, p, i, ref, alts in variants))
    lines = ["id\talt\twindows\tbins\ttrack\tref_value\talt_value\n"]
    for contig, position, name, ref, alts in variants:
        text = genome[contig]
        reference = predict_all(model, text, position, length)
        for alt in alts:
            alternate = predict_all(model, text[:position] + alt + text[position + len(ref):], position, length)
            for kind, before in reference.items():
                after = alternate[kind]
                for bins in ("all", "centre:1"):
                    for track in range(before[0][1].shape[1]):
                        values = [mean_of(views, bins, track, length, bin_size) for views in (before, after)]
                        lines.append(f"{name}\t{alt}\t{kind}\t{bins}\t{track}\t{values[0]:.9g}\t{values[1]:.9g}\n")
    (folder / "variants.tsv").write_text("".join(lines))


if __name__ == "__main__":
    main()
