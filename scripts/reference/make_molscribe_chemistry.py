#!/usr/bin/env python3
"""Writes graphs of molecules and what the original's chemistry makes of them with RDKit.

usage: make_molscribe_chemistry.py MOLSCRIBE OUT.json     MOLSCRIBE: a checkout of github.com/thomas0809/MolScribe

Needs RDKit 2022.09.3 (Debian 12's python3-rdkit, so that SMILES equal those of librdkit-dev) and numpy. Of each graph:
symbols, coords (0 to 1), edges, aspect, and the original's smiles and molfile without its first two lines, which name
the program. Graphs: drawings by RDKit with wedges, every abbreviation on a ring, formulas, charges, residues, and what
is no molecule.
"""
import json
import pathlib
import sys
import types

import numpy as np
from rdkit import Chem
from rdkit.Chem import AllChem

STEREO = ["C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "F/C=C/F", "F/C=C\\F", "C[C@H](O)[C@@H](F)Cl", "C/C=C/[C@H](O)C",
          "C[C@@H]1CC[C@H](C)CC1", "C[S@](=O)CC", "C[P@](=O)(O)CC", "O[C@H]1[C@H](O)[C@@H](O)[C@H](O)[C@H](O)[C@@H]1O",
          "CC(C)(C)OC(=O)N[C@@H](Cc1ccccc1)C(=O)O", "C[C@]12CC[C@H]3[C@@H](CCc4cc(O)ccc34)[C@@H]1CC[C@@H]2O",
          "N[C@@H](CS)C(=O)O", "C=C=C", "CC=C=CC", "F[C@](Cl)(Br)I"]
PLAIN = ["c1ccccc1", "c1ccc2[nH]ccc2c1", "O=C(O)c1ccccc1OC(C)=O", "C[N+](C)(C)CC(=O)[O-]", "c1ccncc1", "C1CC1C#N",
         "[Na+].[Cl-]", "CCO.CCN", "O=S(=O)(N)c1ccc(N)cc1", "c1ccc(-c2ccccc2)cc1", "C", "[NH4+]", "[13CH4]", "B(O)O",
         "OC1CCN(C)CC1", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "[O-][n+]1ccccc1", "N#[N+]c1ccccc1", "c1cc[se]c1", "CC#CC"]
FORMULAS = ["CO2Me", "NHBoc", "CONH2", "CH2CH3", "C2H5", "(CH2)3CH3", "CH2N(CH3)2", "SO2NH2", "SO2Me", "NHCOCH3", "OCH2Ph",
            "N3", "NH2", "OH", "CH2OH", "COCl", "PO3H2", "B(OH)2", "SiMe3", "CF2CF3", "C6H5", "C3H7", "C(CH3)3", "H2N",
            "HOOC", "MeO2C", "EtO2C", "BocHN", "PhCH2", "N(Me)2", "CHF2", "OCHF2", "XYZ", "R13", "C2(CH3)5", "((C))",
            ")C", "C12345678901234567890", "NMe2", "OSO2CF3", "CH(OH)CH3", "S(O)CH3", "NO", "ONa", "K", "~~"]


def load_original(folder):
    """Its chemistry, without the packages that this part does not call."""
    stub = types.ModuleType("SmilesPE.pretokenizer")
    stub.atomwise_tokenizer = None
    sys.modules["SmilesPE"] = types.ModuleType("SmilesPE")
    sys.modules["SmilesPE.pretokenizer"] = stub
    package = types.ModuleType("molscribe")
    package.__path__ = [str(pathlib.Path(folder) / "molscribe")]
    sys.modules["molscribe"] = package
    import molscribe.chemistry
    import molscribe.constants
    return molscribe.chemistry, molscribe.constants


def symbol_of(atom):
    plain = atom.GetSymbol() if not atom.GetIsAromatic() else atom.GetSymbol().lower()
    has_brackets = (atom.GetFormalCharge() or atom.GetIsotope() or (atom.GetIsAromatic() and atom.GetTotalNumHs() and atom.GetSymbol() == "N")
                    or plain not in ("B", "C", "N", "O", "P", "S", "F", "Cl", "Br", "I", "b", "c", "n", "o", "p", "s"))
    if not has_brackets:
        return plain
    hydrogens, charge = atom.GetTotalNumHs(), atom.GetFormalCharge()
    return ("[" + (str(atom.GetIsotope()) if atom.GetIsotope() else "") + plain
            + ("" if not hydrogens else "H" if hydrogens == 1 else f"H{hydrogens}")
            + ("" if not charge else ("+" if charge > 0 else "-") + (str(abs(charge)) if abs(charge) > 1 else "")) + "]")


def graph_of(smiles):
    """Symbols, places from 0 to 1 with y down, edges as the model gives them."""
    mol = Chem.MolFromSmiles(smiles)
    AllChem.Compute2DCoords(mol)
    places = mol.GetConformer().GetPositions()[:, :2]
    low, size = places.min(0), np.maximum(np.ptp(places, axis=0), 1e-3).max()
    places = np.round((places - low) / size * 63) / 63
    places[:, 1] = 1 - places[:, 1]
    Chem.WedgeMolBonds(mol, mol.GetConformer())
    n = mol.GetNumAtoms()
    edges = np.zeros((n, n), int)
    kinds = {Chem.BondType.SINGLE: 1, Chem.BondType.DOUBLE: 2, Chem.BondType.TRIPLE: 3, Chem.BondType.AROMATIC: 4}
    for bond in mol.GetBonds():
        i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        edges[i, j] = edges[j, i] = kinds[bond.GetBondType()]
        if bond.GetBondDir() == Chem.BondDir.BEGINWEDGE:
            edges[i, j], edges[j, i] = 5, 6
        elif bond.GetBondDir() == Chem.BondDir.BEGINDASH:
            edges[i, j], edges[j, i] = 6, 5
    return [symbol_of(atom) for atom in mol.GetAtoms()], places.tolist(), edges.tolist()


def with_symbol(smiles, symbol, kind=1):
    """A molecule with one more atom on its first."""
    symbols, places, edges = graph_of(smiles)
    n = len(symbols)
    edges = [row + [0] for row in edges] + [[0] * (n + 1)]
    edges[0][n] = edges[n][0] = kind
    return symbols + [f"[{symbol}]"], places + [[places[0][0] / 2, 1.0]], edges


def graphs(constants):
    for smiles in STEREO + PLAIN:
        yield graph_of(smiles)
    for name in constants.ABBREVIATIONS:
        yield with_symbol("c1ccccc1", name)
    for name in constants.RGROUP_SYMBOLS:
        yield with_symbol("CCO", name)
    for name in FORMULAS:
        yield with_symbol("c1ccccc1", name)
        yield with_symbol("CC(C)=O", name, 2)
    yield with_symbol("C(C)(C)(C)C", "Ph")
    symbols, places, edges = with_symbol("c1ccccc1", "NMe")
    edges[3][6] = edges[6][3] = 1
    yield symbols, places, edges
    yield ["C", "N", "[Ph]", "[Ph]", "Xx", "[", "[H]", "*"], [[i / 9, i % 2] for i in range(8)], [
        [int(abs(i - j) == 1) for j in range(8)] for i in range(8)]
    yield ["C"] * 5, [[i / 9, i % 2] for i in range(5)], [[4 * int(abs(i - j) == 1) for j in range(5)] for i in range(5)]
    yield [], [], []


def main():
    chemistry, constants = load_original(sys.argv[1])
    results = []
    for k, (symbols, places, edges) in enumerate(graphs(constants)):
        height, width = [(300, 400), (200, 200), (517, 231)][k % 3]
        image = np.zeros((height, width, 3), np.uint8)
        smiles, molfile, _ = chemistry._convert_graph_to_smiles(places, symbols, edges, image)
        results.append({"symbols": symbols, "coords": places, "edges": edges, "aspect": width / height, "smiles": smiles,
                        "molfile": "\n".join(molfile.split("\n")[2:])})
    invalid = sum(result["smiles"] == "<invalid>" for result in results)
    print(len(results), "graphs,", invalid, "invalid")
    pathlib.Path(sys.argv[2]).write_text(json.dumps(results, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
