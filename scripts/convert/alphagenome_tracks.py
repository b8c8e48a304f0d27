#!/usr/bin/env python3
"""Makes the tables of tracks of an AlphaGenome folder, tracks_human.tsv and tracks_mouse.tsv, of published metadata.

usage: scripts/convert/alphagenome_tracks.py FOLDER [--human-tracks FILE] [--mouse-tracks FILE]

A FILE is
  track_metadata_ORGANISM.parquet of alphagenome-pytorch (src/alphagenome_pytorch/data; needs pyarrow),
  OutputMetadataResponse_ORGANISM_*.textproto of alphagenome_research (model/metadata), or
  a table that is separated by tabs, with the columns of the one written, for a fine-tuned model.
The table has a line for each column of each head's tensor; docs/models/alphagenome.md has its columns.
"""

import argparse
import csv
import io
import math
import pathlib
import re
import struct
import sys

import whole_files

ORGANISMS = ("human", "mouse")
FIRST = ("head", "index", "name", "strand")
METADATA = ("ontology_curie", "biosample_name", "biosample_type", "biosample_life_stage", "gtex_tissue", "data_source",
            "Assay title", "histone_mark", "transcription_factor", "genetically_modified", "endedness", "nonzero_mean")
COLUMNS = FIRST + METADATA
# The names of other files.
PARQUET = {"head": "output_type", "index": "track_index", "name": "track_name", "Assay title": "assay_title"}
TEXTPROTO = {"assay": "Assay title", "histone_mark_code": "histone_mark",
             "transcription_factor_code": "transcription_factor"}
STRANDS = {"STRAND_POSITIVE": "+", "STRAND_NEGATIVE": "-", "STRAND_UNSTRANDED": "."}
PADDING = "Padding"


def fail(path, what):
    sys.exit(f"alphagenome_tracks.py: {path}: {what}")


def shortest(number):
    """The shortest text of a number in single precision."""
    single = struct.unpack("f", struct.pack("f", number))[0]
    return next(text for text in (f"{single:.{digits}g}" for digits in range(1, 18))
                if struct.unpack("f", struct.pack("f", float(text)))[0] == single)


def as_text(value):
    if value is None or isinstance(value, float) and math.isnan(value):
        return ""
    return shortest(value) if isinstance(value, float) else str(value)


def read_parquet(path, fail):
    try:
        import pyarrow.parquet
    except ImportError:
        fail(path, "needs the Python package pyarrow to be read")
    try:
        rows = pyarrow.parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        fail(path, f"cannot be read: {error}".splitlines()[0])
    missing = [PARQUET.get(name, name) for name in FIRST if rows and PARQUET.get(name, name) not in rows[0]]
    if missing:
        fail(path, f"has no column {missing[0]}; expected track_metadata_*.parquet of alphagenome-pytorch")
    return [{name: as_text(row.get(PARQUET.get(name, name))) for name in COLUMNS} for row in rows]


def parse_textproto(path, text, fail):
    """A message of the text format: a dictionary of lists, of texts and messages."""
    message = {}
    open_messages = [message]
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        opened = re.fullmatch(r"(\w+) \{", line)
        value = re.fullmatch(r'(\w+): (?:"((?:[^"\\]|\\["\'\\])*)"|([\w.+-]+))', line)
        if opened:
            inner = {}
            open_messages[-1].setdefault(opened[1], []).append(inner)
            open_messages.append(inner)
        elif line == "}" and len(open_messages) > 1:
            open_messages.pop()
        elif value:
            text = re.sub(r"\\(.)", r"\1", value[2]) if value[2] is not None else value[3]
            open_messages[-1].setdefault(value[1], []).append(text)
        elif line:
            fail(path, f"line {number}: is no line of a textproto")
    if len(open_messages) > 1:
        fail(path, "ends in a message")
    return message


def textproto_row(head, index, track):
    def one(message, name, default=""):
        return message.get(name, [default])[-1]

    row = dict.fromkeys(COLUMNS, "")
    row.update(head=head, index=str(index), name=one(track, "name"),
               strand=STRANDS[one(track, "strand", "STRAND_UNSTRANDED")])
    for name, value in track.items():
        if isinstance(value[-1], str) and TEXTPROTO.get(name, name) in METADATA:
            row[TEXTPROTO.get(name, name)] = value[-1]
    term, sample = one(track, "ontology_term", {}), one(track, "biosample", {})
    if term:
        row["ontology_curie"] = f"{one(term, 'ontology_type').removeprefix('ONTOLOGY_TYPE_')}:{int(one(term, 'id')):07}"
    row["biosample_name"] = one(sample, "name")
    row["biosample_type"] = one(sample, "type").removeprefix("BIOSAMPLE_TYPE_").lower()
    row["biosample_life_stage"] = one(sample, "stage")
    row["endedness"] = row["endedness"].removeprefix("ENDEDNESS_").lower()
    row["genetically_modified"] = row["genetically_modified"].capitalize()
    row["nonzero_mean"] = shortest(float(row["nonzero_mean"])) if row["nonzero_mean"] else ""
    return row


def read_textproto(path, text, fail):
    rows = []
    for output in parse_textproto(path, text, fail).get("output_metadata", []):
        head = output["output_type"][-1].removeprefix("OUTPUT_TYPE_").lower()
        groups = output.get("tracks", []) + output.get("junctions", [])
        tracks = [track for group in groups for track in group.get("metadata", [])]
        rows += [textproto_row(head, index, track) for index, track in enumerate(tracks)]
    if not rows:
        fail(path, "has no output_metadata; expected OutputMetadataResponse_*.textproto of alphagenome_research")
    return rows


def read_table(path, text, fail):
    reader = csv.DictReader(io.StringIO(text), delimiter="\t")
    if tuple(reader.fieldnames or ())[:len(FIRST)] != FIRST:
        fail(path, f"is no table of tracks; expected columns {', '.join(FIRST)} first")
    rows = list(reader)
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            fail(path, f"line {number}: has another number of columns than the first line")
    return rows


def read_rows(path, fail):
    if path.suffix == ".parquet":
        return read_parquet(path, fail)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(path, getattr(error, "strerror", None) or "is no text")
    return (read_textproto if path.suffix == ".textproto" else read_table)(path, text, fail)


def read(path, fail=fail):
    """The rows of a file: dictionaries of texts by the names of columns."""
    rows = read_rows(path, fail)
    for row in rows:
        if row["name"].lower() == PADDING.lower():
            row["name"] = PADDING
    return rows


def from_catalog(tracks):
    """Rows by head, of the rows that a fine-tuned checkpoint of alphagenome-pytorch holds."""
    heads = {}
    for track in tracks:
        names = {name: PARQUET.get(name, name) for name in COLUMNS} | {"head": "output_name"}
        row = {name: as_text(track.get(key)) for name, key in names.items()}
        row["index"], row["strand"] = str(len(heads.get(row["head"], []))), row["strand"] or "."
        heads.setdefault(row["head"], []).append(row)
    return heads


def by_head(path, rows, fail=fail):
    """The rows of each head, in the order of their indexes."""
    heads = {}
    for row in rows:
        heads.setdefault(row["head"], []).append(row)
    for head, tracks in heads.items():
        if [row["index"] for row in tracks] != [str(index) for index in range(len(tracks))]:
            fail(path, f"the indexes of {head} are not 0 to {len(tracks) - 1} in order")
    return heads


def table_text(rows):
    columns = list(COLUMNS) + [name for name in (rows[0] if rows else {}) if name not in COLUMNS]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def add_options(parser):
    for organism in ORGANISMS:
        parser.add_argument(f"--{organism}-tracks", type=pathlib.Path, metavar="FILE")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    add_options(parser)
    arguments = parser.parse_args()
    texts = {}
    for organism in ORGANISMS:
        path = getattr(arguments, f"{organism}_tracks")
        if path:
            rows = read(path)
            by_head(path, rows)
            texts[f"tracks_{organism}.tsv"] = table_text(rows)
    if not texts:
        parser.error("give --human-tracks or --mouse-tracks")
    if not arguments.folder.is_dir():
        fail(arguments.folder, "is no folder")
    whole_files.write(arguments.folder, texts, fail)


if __name__ == "__main__":
    main()
