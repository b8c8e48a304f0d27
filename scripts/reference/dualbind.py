#!/usr/bin/env python3
"""DualBind in PyTorch, written from its description and from its MIT-licensed ancestors DSMBind and chemprop.

usage: dualbind.py MODEL PROTEIN.pdb LIGANDS.sdf [OUTPUT.tsv] [--dtype float32|float64] [--device cpu|cuda] [--batch N]
                   [--threads N] [--summary FILE.json]

Writes a line "NAME ENERGY" for each ligand, in kcal/mol; the summary has the seconds of the passes alone. MODEL is a folder with config.json and model.safetensors.
It keeps the padded form: 14 places for each atom of the ligand and each residue of the pocket, all eight frames with
all of them, and a matrix of all pairs. Needs torch, safetensors, rdkit 2022.9, biopython and numpy.
"""
import argparse
import io
import json
import math
import os
import sys
import time
import warnings

import torch
from safetensors.torch import load_file

LETTERS = "#ARNDCQEGHILKMFPSTWYV"
SLOTS = 14
BACKBONE = ["N", "CA", "C", "O"]
SIDE_CHAINS = {
    "A": "CB", "R": "CB CG CD NE CZ NH1 NH2", "N": "CB CG OD1 ND2", "D": "CB CG OD1 OD2", "C": "CB SG",
    "Q": "CB CG CD OE1 NE2", "E": "CB CG CD OE1 OE2", "G": "", "H": "CB CG ND1 CD2 CE1 NE2", "I": "CB CG1 CG2 CD1",
    "L": "CB CG CD1 CD2", "K": "CB CG CD CE NZ", "M": "CB CG SD CE", "F": "CB CG CD1 CD2 CE1 CE2 CZ", "P": "CB CG CD",
    "S": "CB OG", "T": "CB OG1 CG2", "W": "CB CG CD1 CD2 NE1 CE2 CE3 CZ2 CZ3 CH2", "Y": "CB CG CD1 CD2 CE1 CE2 CZ OH",
    "V": "CB CG1 CG2",
}
TYPES = ("- N CA C O CB CG CG1 CG2 OG OG1 SG CD CD1 CD2 ND1 ND2 OD1 OD2 SD CE CE1 CE2 CE3 NE NE1 NE2 OE1 OE2 CH2 NH1 "
         "NH2 OH CZ CZ2 CZ3 NZ OXT").split()
THREE = {"ALA": "A", "ARG": "R", "ASN": "N", "ASP": "D", "CYS": "C", "GLN": "Q", "GLU": "E", "GLY": "G", "HIS": "H",
         "ILE": "I", "LEU": "L", "LYS": "K", "MET": "M", "PHE": "F", "PRO": "P", "SER": "S", "THR": "T", "TRP": "W",
         "TYR": "Y", "VAL": "V"}


def read_protein(path):
    """Letters, positions [R, 14, 3] and types [R, 14] of all residues but water."""
    from Bio.PDB import PDBIO, PDBParser
    warnings.simplefilter("ignore")
    parser = PDBParser(QUIET=True)
    writer, again = PDBIO(), io.StringIO()
    writer.set_structure(parser.get_structure("x", path))
    writer.save(again)
    models = list(parser.get_structure("x", io.StringIO(again.getvalue())))
    if len(models) != 1:
        raise SystemExit(f"{path}: has {len(models)} models; expected one")
    letters, positions, types = [], [], []
    for residue in models[0].get_residues():
        name = residue.get_resname().strip()
        if name in ("HOH", "WAT"):
            continue
        letter = THREE.get(name, "#")
        names = BACKBONE + SIDE_CHAINS[letter].split() if letter != "#" else []
        row, kinds = [[0.0] * 3 for _ in range(SLOTS)], [0] * SLOTS
        for slot, atom in enumerate(names):
            kinds[slot] = TYPES.index(atom)
            if atom in residue:
                row[slot] = [float(x) for x in residue[atom].coord]
        letters.append(LETTERS.index(letter))
        positions.append(row)
        types.append(kinds)
    return torch.tensor(letters), torch.tensor(positions, dtype=torch.float32), torch.tensor(types)


def choose_pocket(protein, centre, size):
    letters, positions, types = protein
    distance = (positions[:, 1].double() - centre).norm(dim=1)
    chosen = torch.sort(torch.argsort(distance, stable=True)[:size]).values
    return letters[chosen], positions[chosen], types[chosen]


def read_ligands(path):
    """(name, positions, features of atoms, bonds, features of bonds) of each molecule."""
    from make_molecule_graphs import atom_columns, bond_columns
    from rdkit import Chem
    for mol in Chem.SDMolSupplier(path):
        if mol is None:
            continue
        atoms = torch.zeros(mol.GetNumAtoms(), 133)
        for i, atom in enumerate(mol.GetAtoms()):
            atoms[i, atom_columns(atom)] = 1
            atoms[i, 132] = atom.GetMass() * 0.01
        pairs = sorted((min(b.GetBeginAtomIdx(), b.GetEndAtomIdx()), max(b.GetBeginAtomIdx(), b.GetEndAtomIdx()))
                       for b in mol.GetBonds())
        bonds = torch.zeros(len(pairs), 14)
        for i, pair in enumerate(pairs):
            bonds[i, bond_columns(mol.GetBondBetweenAtoms(*pair))] = 1
        conformer = mol.GetConformer()
        at = [list(conformer.GetAtomPosition(i)) for i in range(mol.GetNumAtoms())]
        yield mol.GetProp("_Name"), torch.tensor(at, dtype=torch.float64), atoms, pairs, bonds


class DualBind:
    def __init__(self, folder, dtype=torch.float32, device="cpu"):
        with open(os.path.join(folder, "config.json")) as file:
            self.config = json.load(file)
        weights = load_file(os.path.join(folder, "model.safetensors"))
        self.w = {name: x.to(device=device, dtype=dtype) for name, x in weights.items()}
        self.dtype, self.device = dtype, device
        self.depth = self.config.get("mpn_depth", 3)
        self.heads = self.config.get("num_heads", 4)
        self.cutoff = self.config.get("cutoff", 10.0)
        self.pocket_size = self.config.get("pocket_size", 50)
        self.stages = {}

    def linear(self, name, x):
        return torch.nn.functional.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, name, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"], 1e-5)

    def messages(self, ligands):
        """Hidden states of atoms of each ligand: a list of [n, d]."""
        atoms, bonds, source, target, counts = [], [], [], [], []
        first = 0
        for _, _, features, pairs, of_bonds in ligands:
            atoms.append(features)
            for k, (a, b) in enumerate(pairs):
                for begin, end in ((a, b), (b, a)):
                    source.append(first + begin)
                    target.append(first + end)
                    bonds.append(torch.cat([features[begin], of_bonds[k]]))
            counts.append(len(features))
            first += len(features)
        atoms = torch.cat(atoms).to(self.device, self.dtype)
        source, target = torch.tensor(source, device=self.device), torch.tensor(target, device=self.device)
        bonds = torch.stack(bonds).to(self.device, self.dtype)
        reverse = torch.arange(len(source), device=self.device) ^ 1
        start = self.linear("mpn.W_i", bonds)
        message = torch.relu(start)
        for _ in range(self.depth - 1):
            sums = message.new_zeros(len(atoms), message.shape[1]).index_add_(0, target, message)
            message = torch.relu(start + self.linear("mpn.W_h", sums[source] - message[reverse]))
        sums = message.new_zeros(len(atoms), message.shape[1]).index_add_(0, target, message)
        return torch.relu(self.linear("mpn.W_o", torch.cat([atoms, sums], dim=1))).split(counts)

    def attention(self, x, mask):
        n, length, d = x.shape
        name = "encoder.encoder.multihead_attention."
        q, k, v = (self.linear(name + part, x).view(n, length, self.heads, -1).transpose(1, 2)
                   for part in ("wq", "wk", "wv"))
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
        scores = scores.masked_fill(~mask[:, None, None, :], -math.inf)
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.linear(name + "dense", mixed.transpose(1, 2).reshape(n, length, d))

    def __call__(self, ligands, protein):
        """Energies of ligands of read_ligands() with one protein of read_protein()."""
        pockets = [choose_pocket(protein, xyz.mean(0), self.pocket_size) for _, xyz, _, _, _ in ligands]
        return self.energies(ligands, pockets)

    def energies(self, ligands, pockets):
        n_atoms = max(len(ligand[1]) for ligand in ligands)
        d = self.w["mpn.W_h.weight"].shape[0]
        n = len(ligands)
        hidden = self.messages(ligands)
        self.stages["atoms"] = torch.cat(hidden)
        ligand_h = torch.zeros(n, n_atoms, d, dtype=self.dtype, device=self.device)
        ligand_x = torch.zeros(n, n_atoms, SLOTS, 3, dtype=self.dtype, device=self.device)
        ligand_types = torch.zeros(n, n_atoms, SLOTS, dtype=torch.long, device=self.device)
        for i, (h, ligand) in enumerate(zip(hidden, ligands)):
            ligand_h[i, :len(h)] = h
            ligand_x[i, :len(h), 1] = ligand[1].float().to(self.device, self.dtype)
            ligand_types[i, :len(h), 1] = 1
        letters = torch.stack([pocket[0] for pocket in pockets]).to(self.device)
        pocket_x = torch.stack([pocket[1] for pocket in pockets]).to(self.device, self.dtype)
        pocket_types = torch.stack([pocket[2] for pocket in pockets]).to(self.device)
        size = letters.shape[1]

        def spread(x):  # to the places of atoms
            return x[:, :, None].expand(-1, -1, SLOTS, -1).reshape(n, -1, x.shape[-1])

        one_hot = torch.nn.functional.one_hot(letters, len(LETTERS)).to(self.dtype)
        of_ligand = torch.cat([spread(self.linear("encoder.W_bind", ligand_h)),
                               self.w["encoder.A_bind.weight"][ligand_types.view(n, -1)]], dim=-1)
        of_pocket = torch.cat([spread(self.linear("encoder.W_tgt", one_hot)),
                               self.w["encoder.A_tgt.weight"][pocket_types.view(n, -1)]], dim=-1)
        features = torch.cat([of_ligand, of_pocket], dim=1)
        x = torch.cat([ligand_x.reshape(n, -1, 3), pocket_x.reshape(n, -1, 3)], dim=1)
        types = torch.cat([ligand_types.view(n, -1), pocket_types.view(n, -1)], dim=1)
        mask = (types > 0) & (x.norm(dim=-1) > 1e-4)

        weight = mask[..., None].to(self.dtype)
        centre = (x * weight).sum(1) / weight.sum(1)
        moved = (x - centre[:, None]) * weight
        _, axes = torch.linalg.eigh(moved.transpose(1, 2) @ moved)
        signs = torch.tensor([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], dtype=self.dtype,
                             device=self.device)
        frames = moved[:, None] @ (axes[:, None] * signs[None, :, None, :])  # [n, 8, tokens, 3]
        tokens = torch.cat([frames, features[:, None].expand(-1, 8, -1, -1)], dim=-1).flatten(0, 1)
        t = self.linear("encoder.linear", tokens)
        all_masks = mask[:, None].expand(-1, 8, -1).flatten(0, 1)
        block = "encoder.encoder."
        t = self.norm(block + "norm1", t + self.attention(t, all_masks))
        t = self.norm(block + "norm2", t + self.linear(block + "linear2", torch.relu(self.linear(block + "linear1", t))))
        h = t.view(n, 8, -1, d).mean(1)
        self.stages["tokens"] = h[mask]
        n_ligand = n_atoms * SLOTS
        silu = torch.nn.functional.silu
        bind = self.linear("binder_output.2", silu(self.linear("binder_output.0", h[:, :n_ligand])))
        target = silu(self.linear("target_output.0", h[:, n_ligand:]))
        apart = (x[:, :n_ligand, None] - x[:, None, n_ligand:]).norm(dim=-1)
        pairs = mask[:, :n_ligand, None] & mask[:, None, n_ligand:] & (apart < self.cutoff)
        self.stages["size"] = size
        return ((bind @ target.transpose(1, 2)) * pairs).sum((1, 2))


def main():
    parser = argparse.ArgumentParser(description="energies of ligands by PyTorch")
    parser.add_argument("model")
    parser.add_argument("protein")
    parser.add_argument("ligands")
    parser.add_argument("output", nargs="?")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--summary")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    model = DualBind(options.model, getattr(torch, options.dtype), options.device)
    protein = read_protein(options.protein)
    ligands = list(read_ligands(options.ligands))
    lines, seconds = [], 0.0
    for begin in range(0, len(ligands), options.batch):
        batch = ligands[begin:begin + options.batch]
        started = time.perf_counter()
        with torch.no_grad():
            energies = model(batch, protein).tolist()  # waits for the device
        seconds += time.perf_counter() - started
        lines += [f"{ligand[0]}\t{energy:.9f}\n" for ligand, energy in zip(batch, energies)]
    if options.output:
        with open(options.output, "w") as out:
            out.writelines(lines)
    else:
        sys.stdout.writelines(lines)
    if options.summary:
        with open(options.summary, "w") as out:
            json.dump({"compute_s": seconds}, out)


if __name__ == "__main__":
    main()
