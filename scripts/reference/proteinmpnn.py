#!/usr/bin/env python3
"""Writes the structures and reference vectors of tests/data/models/proteinmpnn.

usage: scripts/reference/proteinmpnn.py ORIGINAL [FOLDER]      default: tests/data/models/proteinmpnn

ORIGINAL is a clone of github.com/dauparas/ProteinMPNN. The structure is the beginning of both chains of its
homo-oligomer 4GYT (Protein Data Bank, CC0), edited: a residue left out, an atom left out, an insertion code,
an alternate location, a selenomethionine, a residue of no standard kind, a second model. The weights are those
of make_proteinmpnn.py with seed 1. Letters are drawn in fp32, as the original computes; features, states and
log-probabilities are its own in double precision on the graph of fp32, so that a test's bound is that of one
side's rounding. (Two neighbours may be as far within fp32's rounding; which is the 48th is then fp32's matter.)
"""

import json
import pathlib
import sys

import safetensors.numpy
import torch

import make_proteinmpnn
from proteinmpnn_original import Original, double_precision

RESIDUES = 32  # of each chain
TAPPED = [0, 21, 40, 60]  # residues whose edges are kept


def edit(lines):
    """The backbone atoms of the first residues of chains A and B, with what real files contain."""
    numbers = {c: sorted({int(x[22:26]) for x in lines if x[21] == c})[:RESIDUES] for c in "AB"}
    out = []
    for line in lines:
        chain, number, atom = line[21], int(line[22:26]), line[12:16].strip()
        if chain not in numbers or number not in numbers[chain] or atom not in ("N", "CA", "C", "O", "CB"):
            continue
        place = numbers[chain].index(number)
        if line[26] != " " or line[16] not in " A":
            continue
        line = line[:16] + " " + line[17:]
        if chain == "A" and place == 9:
            continue  # its number is missing in the file
        if chain == "A" and place == 14 and atom == "O":
            continue
        if chain == "B" and place == 5:
            line = "HETATM" + line[6:17] + "MSE" + line[20:]
        if chain == "B" and place == 12:
            line = line[:17] + "UNK" + line[20:]
        if chain == "B" and place == 20:  # the residue before it, inserted
            line = line[:22] + f"{numbers['B'][19]:4d}A" + line[27:]
        out.append(line)
        if chain == "A" and place == 3 and atom == "CA":
            moved = f"{float(line[30:38]) + 0.7:8.3f}"
            out[-1] = line[:16] + "A" + line[17:]
            out.append(line[:16] + "B" + line[17:30] + moved + line[38:])
    head = ["REMARK   1 PROTEIN DATA BANK ENTRY 4GYT, CUT AND EDITED FOR TESTS", "MODEL        1"]
    second = [x[:30] + "   0.000   0.000   0.000" + x[54:] for x in out[:3]]
    return head + out + ["ENDMDL", "MODEL        2"] + second + ["ENDMDL", "END"]


def write_inputs(folder, bias_rows):
    name = "edited"
    files = {
        "chain_id": {name: [["A"], ["B"]]},
        "fixed_positions": {name: {"A": [1, 2, 17, 30], "B": []}},
        "omit_AA": {name: {"A": [[[3, 4, 5], "MLFV"], [[20], "A"]], "B": []}},
        "bias_AA": {"M": -1.5, "K": 0.75},
        "bias_by_res": {name: {"A": bias_rows}},
        "tied_positions": {name: [{"A": [i], "B": [i]} for i in (1, 2, 6, 21)]
                           + [{"B": [[8, 11], [1.0, 0.5]], "A": [[8], [-0.25]]}]},
    }
    for key, value in files.items():
        (folder / f"{key}.jsonl").write_text(json.dumps(value) + "\n")
    return files


class Both:
    """The original in fp32, and in double precision."""

    def __init__(self, source, ca_only):
        checkpoint = make_proteinmpnn.checkpoint_of(make_proteinmpnn.make_state(ca_only, 1))
        self.single = Original(source, checkpoint, ca_only)
        with double_precision():
            self.double = Original(source, checkpoint, ca_only, dtype=torch.float64)
        self.double.model.features._dist = self.distances

    def distances(self, ca, mask, eps=1e-6):
        """Distances in double precision to the neighbours that fp32 finds."""
        found = self.single.model.features._dist(ca.to(torch.float32), mask.to(torch.float32), eps)
        neighbours = found[1]
        both = mask[:, None, :] * mask[:, :, None]
        every = both * torch.sqrt(torch.sum((ca[:, None] - ca[:, :, None]) ** 2, 3) + eps)
        every = every + (1 - both) * torch.max(every, -1, True)[0]
        return torch.gather(every, 2, neighbours), neighbours, *found[2:]

    def featurize(self, *arguments, **options):
        return self.single.featurize(*arguments, **options), self.double.featurize(*arguments, **options)

    def log_probs(self, f, letters, randn, order=None):
        with double_precision():
            return self.double.log_probs(f[1], letters, randn, order)

    def sample(self, f, *arguments):
        letters, _, probs = self.single.sample(f[0], *arguments)
        return letters, self.log_probs(f, letters, arguments[0], self.single.last_order), probs

    def encode(self, f):
        with double_precision():
            return self.double.encode(f[1])


def case(both, f, prefix, generator, vectors, temperature, bias=None, omit="X"):
    n = f[0]["X"].shape[1]
    randn = torch.randn((3, n), generator=generator)
    uniforms = torch.rand((2, n), generator=generator)
    vectors[f"{prefix}/order_native"] = randn[0]
    vectors[f"{prefix}/order"] = randn[1:]
    vectors[f"{prefix}/uniform"] = uniforms
    native = both.log_probs(f, f[1]["S"], randn[:1])
    vectors[f"{prefix}/native_log_probs"] = native[0]
    scores = [both.double.scores(f[1], f[1]["S"], native)]
    samples = []
    for s in range(2):
        letters, log_probs, probs = both.sample(f, randn[s + 1:s + 2], uniforms[s], temperature, omit, bias)
        samples.append((letters[0], log_probs[0], probs[0]))
        scores.append(both.double.scores(f[1], letters, log_probs))
        print(prefix, scores[-1], both.single.text(f[0], letters))
    vectors[f"{prefix}/S"] = torch.stack([x[0] for x in samples])
    vectors[f"{prefix}/log_probs"] = torch.stack([x[1] for x in samples])
    vectors[f"{prefix}/probs"] = torch.stack([x[2] for x in samples])
    vectors[f"{prefix}/scores"] = torch.tensor(scores)


def encoder_case(both, f, prefix, vectors):
    neighbours, features, h, edges = both.encode(f)
    vectors[f"{prefix}/neighbours"] = neighbours
    vectors[f"{prefix}/features"] = features[TAPPED]
    vectors[f"{prefix}/h"] = h
    vectors[f"{prefix}/edges"] = edges[TAPPED]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    folder = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "models" / "proteinmpnn"
    if len(sys.argv) > 2:
        folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    pdb = (source / "inputs/PDB_homooligomers/pdbs/4GYT.pdb").read_text().splitlines()
    edited = folder / "edited.pdb"
    edited.write_text("\n".join(edit([x for x in pdb if x.startswith(("ATOM", "HETATM"))])) + "\n")
    vectors, generator = {}, torch.Generator().manual_seed(8)

    both = Both(source, False)
    f = both.featurize(edited)
    rows = [[round(0.05 * ((7 * i + 3 * a) % 11) - 0.25, 3) for a in range(21)] for i in range(RESIDUES)]
    inputs = write_inputs(folder, rows)
    assert len(f[0]["masked"][0]) == 2 and f[0]["masked_lengths"][0][0] == RESIDUES, f[0]["masked_lengths"]
    encoder_case(both, f, "all", vectors)
    case(both, f, "all", generator, vectors, 1.0)
    f = both.featurize(edited, ["A"], inputs["fixed_positions"], inputs["omit_AA"],
                           bias_by_res=inputs["bias_by_res"])
    case(both, f, "fixed", generator, vectors, 0.5, inputs["bias_AA"], "CX")
    f = both.featurize(edited, tied=inputs["tied_positions"])
    case(both, f, "tied", generator, vectors, 1.0)

    both = Both(source, True)
    f = both.featurize(edited)
    encoder_case(both, f, "ca", vectors)
    case(both, f, "ca", generator, vectors, 1.0)

    # Numbers of letters and residues are stored as floats, which hold them exactly.
    arrays = {k: v.float().contiguous().numpy() for k, v in vectors.items()}
    safetensors.numpy.save_file(arrays, folder / "expected.safetensors")
    (folder / "expected.safetensors").chmod(0o644)
    print(sum(v.nbytes for v in arrays.values()), "bytes of vectors")


if __name__ == "__main__":
    main()
