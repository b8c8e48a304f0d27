#!/usr/bin/env python3
"""A DualBind of random weights, a protein and ligands in it, with the energies that PyTorch gives.

usage: make_dualbind.py FOLDER [--full] [--seed N] [--ligands N] [--residues N]

Writes FOLDER/config.json, model.safetensors, protein.pdb, ligands.sdf and expected.safetensors: `energy` (of the double
precision reference, as fp64), `energy32` (its fp32 form), `atoms` and `tokens`, the hidden states of the first four complexes. --full: the
published shape. Weights are such that every part matters: peaked attention, norms and biases that change numbers.
Needs what dualbind.py needs.
"""
import argparse
import json
import os
import random

import torch
from rdkit import Chem
from rdkit.Chem import AllChem
from safetensors.torch import save_file

import dualbind

SMILES = ["C[C@]12CC[C@H]3[C@H]([C@@H]1CC[C@@H]2O)CCC4=C3C=CC(=C4)O", "O=C([O-])c1ccc(Cl)cc1F", "CCO", "N#CC(F)=C(Br)C",
          "CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)O", "CN1C=NC2=C1C(=O)N(C)C(=O)N2C", "CS(=O)(=O)Nc1cc[nH+]cc1", "[2H]C(O)CC",
          "OB(O)c1ccoc1", "C1CC1N1CCOCC1", "COP(=O)(O)OCC", "c1ccc2c(c1)CCC2=NO"]


def make_weights(width, heads, ffn, generator):
    def uniform(*shape, scale):
        return (2 * torch.rand(*shape, generator=generator, dtype=torch.float64) - 1) * scale

    weights = {}

    def linear(name, n_out, n_in, bias=True, scale=1.0):
        weights[name + ".weight"] = uniform(n_out, n_in, scale=scale * (3 / n_in) ** 0.5)
        if bias:
            weights[name + ".bias"] = uniform(n_out, scale=0.3)

    linear("mpn.W_i", width, 147, bias=False, scale=2)
    linear("mpn.W_h", width, width, bias=False)
    linear("mpn.W_o", width, 133 + width)
    linear("encoder.W_bind", width, width)
    linear("encoder.W_tgt", width, 21, scale=4)
    weights["encoder.A_bind.weight"] = uniform(38, width, scale=1.5)
    weights["encoder.A_tgt.weight"] = uniform(38, width, scale=1.5)
    linear("encoder.linear", width, 3 + 2 * width)
    weights["encoder.linear.weight"][:, :3] *= (3 + 2 * width) ** 0.5 / 12  # coordinates are several Angstrom
    for part, scale in (("wq", 1.2), ("wk", 1.2), ("wv", 1), ("dense", 1)):
        linear("encoder.encoder.multihead_attention." + part, width, width, scale=scale)
    linear("encoder.encoder.linear1", ffn, width, scale=1.4)
    linear("encoder.encoder.linear2", width, ffn)
    for norm in ("norm1", "norm2"):
        weights[f"encoder.encoder.{norm}.weight"] = 1 + uniform(width, scale=0.5)
        weights[f"encoder.encoder.{norm}.bias"] = uniform(width, scale=0.5)
    linear("binder_output.0", width, width)
    linear("binder_output.2", width, width, scale=width ** -0.5 / 48)
    weights["binder_output.2.bias"] *= width ** -0.5 / 48
    linear("target_output.0", width, width)
    return {name: x.float().contiguous() for name, x in weights.items()}


def make_protein(path, n_residues, rng):
    names = [name for name in dualbind.THREE]
    lines, at, serial = [], [0.0, 0.0, 0.0], 0
    for r in range(n_residues):
        step = [rng.gauss(0, 1) for _ in range(3)]
        length = sum(x * x for x in step) ** 0.5
        at = [0.92 * a + 3.8 * x / length for a, x in zip(at, step)]  # stays around the origin
        name = "MSE" if r % 17 == 11 else rng.choice(names)
        letter = dualbind.THREE.get(name, "M")
        for atom in dualbind.BACKBONE + dualbind.SIDE_CHAINS[letter].split():
            if rng.random() < 0.04:
                continue  # missing
            serial += 1
            x = [a + (0 if atom == "CA" else rng.gauss(0, 1.2)) for a in at]
            for altloc, occupancy in ((" ", 1.0),) if rng.random() < 0.95 else (("A", 0.3), ("B", 0.7)):
                lines.append(f"{'HETATM' if name == 'MSE' else 'ATOM':<6}{serial:>5}  {atom:<3}{altloc}{name} A{r + 1:>4}    "
                             f"{x[0]:8.3f}{x[1]:8.3f}{x[2]:8.3f}{occupancy:6.2f}{20:6.2f}          {atom[0]:>2}")
                x = [a + 0.4 for a in x]
    lines.append(f"HETATM{serial + 1:>5}  O   HOH A 900    {1:8.3f}{1:8.3f}{1:8.3f}{1:6.2f}{20:6.2f}           O")
    with open(path, "w") as out:
        out.write("\n".join(lines) + "\nEND\n")


def make_ligands(path, n_ligands, rng):
    writer = Chem.SDWriter(path)
    for i in range(n_ligands):
        mol = Chem.AddHs(Chem.MolFromSmiles(SMILES[i % len(SMILES)]))
        assert AllChem.EmbedMolecule(mol, randomSeed=rng.randrange(1 << 30), useRandomCoords=True) == 0
        conformer = mol.GetConformer()
        shift = [rng.gauss(0, 5) for _ in range(3)]
        for a in range(mol.GetNumAtoms()):
            p = conformer.GetAtomPosition(a)
            conformer.SetAtomPosition(a, (p.x + shift[0], p.y + shift[1], p.z + shift[2]))
        mol.SetProp("_Name", f"ligand{i + 1}")
        writer.write(mol)
    writer.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ligands", type=int, default=12)
    parser.add_argument("--residues", type=int, default=40)
    parser.add_argument("--no-expected", action="store_true", help="energies are not computed")
    options = parser.parse_args()
    width, heads, ffn, pocket = (256, 4, 256, 50) if options.full else (32, 2, 48, 12)
    os.makedirs(options.folder, exist_ok=True)
    config = {"model_type": "dualbind", "hidden_size": width, "mpn_depth": 3, "num_heads": heads, "ff_size": ffn,
              "cutoff": 10.0, "pocket_size": pocket}
    with open(os.path.join(options.folder, "config.json"), "w") as out:
        json.dump(config, out, indent=2)
        out.write("\n")
    weights = make_weights(width, heads, ffn, torch.Generator().manual_seed(options.seed))
    save_file(weights, os.path.join(options.folder, "model.safetensors"))
    rng = random.Random(options.seed)
    protein_path, ligand_path = (os.path.join(options.folder, name) for name in ("protein.pdb", "ligands.sdf"))
    make_protein(protein_path, options.residues, rng)
    make_ligands(ligand_path, options.ligands, rng)
    if options.no_expected:
        return
    protein, ligands = dualbind.read_protein(protein_path), list(dualbind.read_ligands(ligand_path))
    outputs = {}
    for dtype, suffix in ((torch.float64, ""), (torch.float32, "32")):
        model = dualbind.DualBind(options.folder, dtype)
        energies, atoms, tokens = [], [], []
        with torch.no_grad():
            for begin in range(0, len(ligands), 4):
                energies.append(model(ligands[begin:begin + 4], protein))
                atoms.append(model.stages["atoms"])
                tokens.append(model.stages["tokens"])
        outputs["energy" + suffix] = torch.cat(energies)
        if dtype == torch.float64 and not options.full:
            outputs["atoms"], outputs["tokens"] = atoms[0].float(), tokens[0].float()
    print("energies", [round(e, 6) for e in outputs["energy"].tolist()])
    print("largest difference of fp32", (outputs["energy"] - outputs["energy32"].double()).abs().max().item())
    save_file(outputs, os.path.join(options.folder, "expected.safetensors"))


if __name__ == "__main__":
    main()
