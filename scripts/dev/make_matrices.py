#!/usr/bin/env python3
"""Write lib/align/scoring/matrix_data/ from the files that Debian packages hold, or --check it.

  apt-get download emboss-data r-bioc-biostrings && for d in *.deb; do dpkg -x $d root; done
  scripts/dev/make_matrices.py --emboss root/usr/share/EMBOSS/data \
      --biostrings root/usr/lib/R/site-library/Biostrings/data

EMBOSS packages NCBI's BLOSUM and PAM files and its own DNA matrix; BLOSUM100 is Biostrings' copy of
NCBI's. NUC.4.4 is EMBOSS' matrix without U, with the lowest score for every other letter.
"""

import argparse
import gzip
import pathlib
import struct
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "lib" / "align" / "scoring" / "matrix_data"
PROTEIN = "ARNDCQEGHILKMFPSTWYVBZX*"
BLOSUM = [30, 35, 40, 45, 50, 55, 60, 62, 65, 70, 75, 80, 85, 90]


def read_ncbi(path):
    """The letters and rows of a matrix in NCBI's text form."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    lines = [words for words in lines if words and not words[0].startswith("#")]
    return "".join(lines[0]), [[int(word) for word in words[1:]] for words in lines[1:]]


def read_r_integers(path, letters):
    """The integer matrix of these letters in R's binary form (.rda)."""
    data = gzip.decompress(path.read_bytes())
    n = len(letters) ** 2
    at = data.index(struct.pack(">i", n)) + 4
    values = struct.unpack(f">{n}i", data[at : at + 4 * n])
    names = b"".join(b"\0\0\0\x09\0\0\0\x01" + letter.encode() for letter in letters)
    if names not in data:
        sys.exit(f"make_matrices.py: {path} does not have the letters {letters}")
    return [list(values[i * len(letters) : (i + 1) * len(letters)]) for i in range(len(letters))]


def block(name, letters, rows):
    """One matrix: its name and letters, then the rows up to the diagonal."""
    for i, row in enumerate(rows):
        if any(row[j] != rows[j][i] for j in range(i)):
            sys.exit(f"make_matrices.py: {name} is not symmetric")
    lines = [" ".join(str(value) for value in row[: i + 1]) for i, row in enumerate(rows)]
    return f"matrix {name} {letters}\n" + "\n".join(lines) + "\n"


def make(emboss, biostrings):
    def protein(name):
        letters, rows = read_ncbi(emboss / f"E{name.upper()}")
        assert letters == PROTEIN, name
        return block(name, letters, rows)

    blosum100 = read_r_integers(biostrings / "BLOSUM100.rda", PROTEIN)
    letters, rows = read_ncbi(emboss / "EDNAFULL")
    lowest = min(min(row) for row in rows)
    nuc44 = [row[:-1] + [lowest] for row in rows[:-1]] + [[lowest] * len(rows)]
    return {
        "blosum.txt": "# BLOSUM matrices as NCBI publishes them: rows up to the diagonal.\n"
        "# S. Henikoff and J. G. Henikoff, doi:10.1073/pnas.89.22.10915\n"
        + "".join(protein(f"blosum{percent}") for percent in BLOSUM)
        + block("blosum100", PROTEIN, blosum100)
        + protein("blosumn"),
        "pam.txt": "# PAM matrices by NCBI's program pam 1.0.6: rows up to the diagonal.\n"
        "# M. O. Dayhoff, R. M. Schwartz and B. C. Orcutt, Atlas of Protein Sequence and\n"
        "# Structure 5, suppl. 3 (1978), 345-352\n"
        + "".join(protein(f"pam{distance}") for distance in range(10, 510, 10)),
        "nucleotide.txt": "# T. Lowe's matrix of nucleotide codes (1992): rows up to the diagonal.\n"
        "# NUC.4.4 of NCBI and DNAfull of EMBOSS; the last letter stands for all others.\n"
        + block("nuc44", letters[:-1] + "*", nuc44)
        + block("dnafull", letters, rows),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--emboss", type=pathlib.Path, required=True)
    parser.add_argument("--biostrings", type=pathlib.Path, required=True)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    for name, text in make(args.emboss, args.biostrings).items():
        path = FOLDER / name
        if not args.check:
            path.write_text(text, encoding="ascii")
        elif path.read_text(encoding="ascii") != text:
            sys.exit(f"make_matrices.py: {path} differs")


if __name__ == "__main__":
    main()
