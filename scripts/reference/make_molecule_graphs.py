#!/usr/bin/env python3
"""Molecules as SDF and MOL2 with the features that chemprop 1.x gives them, by RDKit's Python package.

usage: make_molecule_graphs.py FOLDER

Writes FOLDER/graphs.sdf (V2000, hydrogen atoms explicit), graphs_v3000.sdf, graphs.mol2 and, for each, NAME.tsv:
lines "molecule NAME", "atom COLUMNS MASS X Y Z" and "bond FIRST SECOND COLUMNS", where COLUMNS are those of the ones.
Needs rdkit 2022.9, the version of Debian's package. The rules of the features are from chemprop 1.7's documentation of
them, written anew.
"""
import os
import sys

from rdkit import Chem
from rdkit.Chem import AllChem

MOLECULES = {
    "estradiol": "C[C@]12CC[C@H]3[C@H]([C@@H]1CC[C@@H]2O)CCC4=C3C=CC(=C4)O",
    "zwitterion": "C[C@@H](C(=O)[O-])[NH3+]",
    "nitro": "O=[N+]([O-])c1ccc(Cl)c(Br)c1",
    "sulfone": "CS(=O)(=O)NC(=S)N",
    "e-stilbene": "F/C(=C/c1ccccc1)c1ccncc1",
    "nitrile": "N#CCC#CC(F)(F)I",
    "phosphate": "COP(=O)(O)O",
    "fused": "c1ccc2[nH]ccc2c1",
    "boronic": "OB(O)c1ccoc1",
    "deuterated": "[2H]C([2H])([2H])O",
    "salt": "[Na+].CC(=O)[O-]",
    "pentafluoride": "FP(F)(F)(F)F",
    "hexafluoride": "FS(F)(F)(F)(F)F",
    "silane": "C[Si](C)(C)C1CC1",
    "dication": "C[N+](C)(C)CC[N+](C)(C)C",
    "selenium": "C[Se]c1cscn1",
}

MOL2 = """# benzoate, by hand
@<TRIPOS>MOLECULE
benzoate
9 9 0 0 0
SMALL
NO_CHARGES

@<TRIPOS>ATOM
1 C1 0.0000 1.3900 0.1000 C.ar 1 LIG 0.0
2 C2 1.2040 0.6950 0.0000 C.ar 1 LIG 0.0
3 C3 1.2040 -0.6950 0.0000 C.ar 1 LIG 0.0
4 C4 0.0000 -1.3900 0.0000 C.ar 1 LIG 0.0
5 C5 -1.2040 -0.6950 0.0000 C.ar 1 LIG 0.0
6 C6 -1.2040 0.6950 0.0000 C.ar 1 LIG 0.0
7 C7 0.0000 2.8900 0.1000 C.2 1 LIG 0.0
8 O1 1.1000 3.5000 0.2000 O.co2 1 LIG 0.0
9 O2 -1.1000 3.5000 0.2000 O.co2 1 LIG 0.0
@<TRIPOS>BOND
1 1 2 ar
2 2 3 ar
3 3 4 ar
4 4 5 ar
5 5 6 ar
6 6 1 ar
7 1 7 1
8 7 8 ar
9 7 9 ar
"""


def one_hot(value, choices):
    return choices.index(value) if value in choices else len(choices)


def atom_columns(atom):
    h = Chem.rdchem.HybridizationType
    parts = [
        (one_hot(atom.GetAtomicNum(), list(range(1, 101))), 101),
        (one_hot(atom.GetTotalDegree(), [0, 1, 2, 3, 4, 5]), 7),
        (one_hot(atom.GetFormalCharge(), [-1, -2, 1, 2, 0]), 6),
        (one_hot(int(atom.GetChiralTag()), [0, 1, 2, 3]), 5),
        (one_hot(int(atom.GetTotalNumHs()), [0, 1, 2, 3, 4]), 6),
        (one_hot(atom.GetHybridization(), [h.SP, h.SP2, h.SP3, h.SP3D, h.SP3D2]), 6),
    ]
    columns, first = [], 0
    for chosen, width in parts:
        columns.append(first + chosen)
        first += width
    if atom.GetIsAromatic():
        columns.append(first)
    assert first + 2 == 133
    return columns


def bond_columns(bond):
    t = Chem.rdchem.BondType
    columns = [1 + i for i, kind in enumerate([t.SINGLE, t.DOUBLE, t.TRIPLE, t.AROMATIC]) if bond.GetBondType() == kind]
    if bond.GetIsConjugated():
        columns.append(5)
    if bond.IsInRing():
        columns.append(6)
    return columns + [7 + one_hot(int(bond.GetStereo()), list(range(6)))]


def write_features(path, molecules):
    with open(path, "w") as out:
        for mol in molecules:
            print("molecule", mol.GetProp("_Name"), sep="\t", file=out)
            conformer = mol.GetConformer()
            for atom in mol.GetAtoms():
                at = conformer.GetAtomPosition(atom.GetIdx())
                print("atom", ",".join(map(str, atom_columns(atom))), f"{atom.GetMass() * 0.01:.9g}",
                      f"{at.x:.4f}", f"{at.y:.4f}", f"{at.z:.4f}", sep="\t", file=out)
            for first in range(mol.GetNumAtoms()):
                for second in range(first + 1, mol.GetNumAtoms()):
                    bond = mol.GetBondBetweenAtoms(first, second)
                    if bond is not None:
                        print("bond", first, second, ",".join(map(str, bond_columns(bond))), sep="\t", file=out)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    made = []
    for name, smiles in MOLECULES.items():
        mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
        if name == "hexafluoride":  # RDKit does not embed octahedra
            conformer = Chem.Conformer(mol.GetNumAtoms())
            for i, at in enumerate([(1.6, 0, 0), (0, 0, 0), (-1.6, 0, 0), (0, 1.6, 0), (0, -1.6, 0), (0, 0, 1.6), (0, 0, -1.6)]):
                conformer.SetAtomPosition(i, at)
            conformer.Set3D(True)
            mol.AddConformer(conformer)
        else:
            assert AllChem.EmbedMolecule(mol, randomSeed=7, useRandomCoords=True) == 0, name
        mol.SetProp("_Name", name)
        made.append(mol)
    for name, v3000 in (("graphs", False), ("graphs_v3000", True)):
        path = os.path.join(folder, name + ".sdf")
        writer = Chem.SDWriter(path)
        writer.SetForceV3000(v3000)
        for mol in made:
            writer.write(mol)
        writer.close()
        write_features(os.path.join(folder, name + ".tsv"), list(Chem.SDMolSupplier(path, sanitize=True, removeHs=True)))
    with open(os.path.join(folder, "graphs.mol2"), "w") as out:
        out.write(MOL2)
    write_features(os.path.join(folder, "graphs_mol2.tsv"), [Chem.MolFromMol2Block(MOL2[MOL2.index("@"):])])


if __name__ == "__main__":
    main()
