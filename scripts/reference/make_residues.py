#!/usr/bin/env python3
"""A small PDB file with the disorder that real ones have, and its residues as Biopython reads them.

usage: make_residues.py FOLDER

Writes FOLDER/disorder.pdb and disorder.tsv: a line RESIDUE NAME ATOM X Y Z for each atom, and one without an atom for a
residue that has none. The file is parsed, written and parsed again, as DualBind's reference does. Needs biopython.
"""
import io
import os
import sys
import warnings

from Bio.PDB import PDBIO, PDBParser

# record, name, altloc, residue, chain, number, insertion code, x, occupancy
ATOMS = [
    ("ATOM", "N", " ", "GLY", "B", 1, " ", 1.0, 1.0),
    ("ATOM", "CA", " ", "GLY", "B", 1, " ", 2.0, 1.0),
    ("ATOM", "C", " ", "GLY", "B", 1, " ", 3.0, 1.0),
    ("ATOM", "N", "A", "SER", "B", 2, " ", 4.0, 0.4),  # the second is likelier
    ("ATOM", "N", "B", "SER", "B", 2, " ", 5.0, 0.6),
    ("ATOM", "CA", "A", "SER", "B", 2, " ", 6.0, 0.5),  # a tie
    ("ATOM", "CA", "B", "SER", "B", 2, " ", 7.0, 0.5),
    ("ATOM", "CB", " ", "SER", "B", 2, " ", 8.0, 0.9),  # without a letter, then with one
    ("ATOM", "CB", "A", "SER", "B", 2, " ", 9.0, 0.1),
    ("ATOM", "CB", " ", "CYS", "B", 6, " ", 8.5, 0.5),  # a tie of these
    ("ATOM", "CB", "A", "CYS", "B", 6, " ", 9.5, 0.5),
    ("ATOM", "OG", "A", "SER", "B", 2, " ", 10.0, 0.1),  # with a letter, then without one
    ("ATOM", "OG", " ", "SER", "B", 2, " ", 11.0, 0.9),
    ("ATOM", "N", " ", "ALA", "B", 2, "A", 12.0, 1.0),
    ("ATOM", "CA", " ", "ALA", "B", 2, "A", 13.0, 1.0),
    ("ATOM", "CA", " ", "ALA", "B", 2, "A", 14.0, 1.0),  # twice
    ("ATOM", "CA", "A", "THR", "B", 3, " ", 15.0, 0.7),  # two residues take turns
    ("ATOM", "CB", "A", "THR", "B", 3, " ", 16.0, 0.7),
    ("ATOM", "CA", "B", "VAL", "B", 3, " ", 17.0, 0.3),
    ("ATOM", "CA", " ", "LEU", "B", 4, " ", 18.0, 1.0),  # the second one is left out
    ("ATOM", "CA", "B", "ILE", "B", 4, " ", 19.0, 1.0),
    ("HETATM", "CA", " ", "MSE", "B", 5, " ", 20.0, 1.0),
    ("ATOM", "CA", " ", "LYS", "A", 1, " ", 21.0, 1.0),
    ("ATOM", "CA", " ", "ASP", "A", -2, " ", 22.0, 1.0),
    ("HETATM", "ZN", " ", "ZN", "B", 301, " ", 23.0, 1.0),  # behind the other chain
    ("HETATM", "O", " ", "HOH", "B", 401, " ", 24.0, 1.0),
    ("HETATM", "O", " ", "WAT", "A", 402, " ", 25.0, 1.0),
    ("HETATM", "O", " ", "DOD", "A", 403, " ", 26.0, 1.0),
    ("HETATM", "C1", "A", "LIG", "A", 500, " ", 27.0, 0.3),
    ("HETATM", "C1", "B", "LIG", "A", 500, " ", 28.0, 0.7),
]


def line(serial, record, name, altloc, residue, chain, number, code, x, occupancy):
    shown = name if len(name) == 4 or residue == name else " " + name
    return (f"{record:<6}{serial:>5} {shown:<4}{altloc}{residue:>3} {chain}{number:>4}{code}   "
            f"{x:8.3f}{-x / 2:8.3f}{x / 4:8.3f}{occupancy:6.2f}{10:6.2f}          {name[0]:>2}")


def main():
    folder = sys.argv[1]
    text = "\n".join(line(i + 1, *atom) for i, atom in enumerate(ATOMS)) + "\nTER\nEND\n"
    with open(os.path.join(folder, "disorder.pdb"), "w") as out:
        out.write(text)
    warnings.simplefilter("ignore")
    parser = PDBParser(QUIET=True)
    writer, again = PDBIO(), io.StringIO()
    writer.set_structure(parser.get_structure("x", io.StringIO(text)))
    writer.save(again)
    model = parser.get_structure("x", io.StringIO(again.getvalue()))[0]
    with open(os.path.join(folder, "disorder.tsv"), "w") as out:
        for residue in model.get_residues():
            if residue.get_resname().strip() in ("HOH", "WAT"):
                continue
            for atom in residue:
                print(residue.get_resname().strip(), atom.get_name(), *(f"{x:.3f}" for x in atom.coord), sep="\t", file=out)
            print("end", file=out)


if __name__ == "__main__":
    main()
