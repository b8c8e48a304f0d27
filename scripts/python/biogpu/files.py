"""Inputs as files, and results out of files."""
import contextlib
import os
import pathlib
import tempfile

import numpy


@contextlib.contextmanager
def scratch():
    """A folder for one run. What is mapped from its files outlives it."""
    with tempfile.TemporaryDirectory(prefix="biogpu-") as name:
        yield pathlib.Path(name)


def is_file(sequences):
    return isinstance(sequences, (str, os.PathLike))


def sequence_file(sequences, folder, name):
    """The path of a file with the sequences: FASTA in `folder`, where they are no file. Those of a list are named by their
    index."""
    if is_file(sequences):
        return sequences
    records = sequences.items() if isinstance(sequences, dict) else enumerate(sequences)
    path = folder / name
    with open(path, "wb") as out:
        for key, sequence in records:
            key = os.fsencode(str(key))
            letters = bytes(sequence) if isinstance(sequence, (bytes, bytearray)) else str(sequence).encode()
            if not key or key.split() != [key]:
                raise ValueError(f"the name '{os.fsdecode(key)}': expected a word without blanks")
            if b"\n" in letters or b"\r" in letters or letters[:1] in (b">", b"@"):
                raise ValueError(f"the sequence '{os.fsdecode(key)}' has a line break, or the mark of a name")
            out.write(b">" + key + b"\n" + letters + b"\n")
    return path


def read_rows(path):
    """An array of the program with the rows of all records, and [(key, first row, number of rows)]."""
    rows = numpy.load(path, mmap_mode="c").view(numpy.ndarray)
    with open(f"{path}.index.tsv", encoding="utf-8", errors="surrogateescape") as index:
        lines = [line.rstrip("\n").split("\t") for line in index][1:]
    return rows, [(key, int(first), int(count)) for key, first, count in lines]


def collect(sequences, keys, values):
    """Results as the module's documentation says: a list's in its order, else by name."""
    if is_file(sequences):
        return dict(zip(keys, values))
    if isinstance(sequences, dict):
        return dict(zip(sequences, values))
    return values


TEXT = {"query", "target", "strand", "cigar", "name", "mutant"}
WHOLE = {"query_index", "target_index", "query_length", "target_length", "score", "query_begin", "query_end", "target_begin",
         "target_end", "matches", "mismatches", "similar", "length", "gaps", "gap_opens", "residues"}


def read_table(text, floats=()):
    """The columns of a table: {name: array}. What the program writes as * or NA is NaN."""
    header, *lines = text.splitlines()
    names = header.split("\t")
    rows = [line.split("\t") for line in lines]
    columns = {}
    for at, name in enumerate(names):
        cells = [row[at] for row in rows]
        if name in TEXT:
            columns[name] = numpy.array(cells, dtype=str)
        elif name in WHOLE and name not in floats:
            columns[name] = numpy.array([int(cell) for cell in cells], dtype=numpy.int64)
        else:
            columns[name] = numpy.array([float("nan") if cell in ("*", "NA") else float(cell) for cell in cells])
    return columns
