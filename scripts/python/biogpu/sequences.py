"""Alignment and k-mers, by `biogpu align` and `biogpu kmer`."""
import json

import numpy

from .files import read_table, scratch, sequence_file
from .program import option_words, run


def align(queries, targets=None, mode="sw", **options):
    """Aligns every query with every target; with pairs=True the first with the first and so on; without targets every two queries.
    Columns {name: array}: query, target, score, positions from 0 and half-open, cigar, and others by columns=[...]. Sequences of
    lists are named by their index."""
    with scratch() as folder:
        inputs = [sequence_file(queries, folder, "queries.fa")]
        if targets is not None:
            inputs.append(sequence_file(targets, folder, "targets.fa"))
        text = run("align", "-q", *option_words({"mode": mode, "self": targets is None, "format": "tsv", **options}), *inputs)
    return read_table(text)


def count_kmers(sequences, k, canonical=False, min_count=None, **options):
    """Counts k-mers: the distinct k-mers in alphabetical order as an array of texts of k letters (dtype S), and their counts
    (uint64). canonical: a k-mer and its reverse complement count together. min_count: rarer ones are left out."""
    with scratch() as folder:
        out = folder / "out.jf"
        run("kmer", "count", "-q", "-m", k, *option_words({"canonical": canonical, "lower_count": min_count, "out_counter_len": 8,
                                                               **options}), "-o", out, sequence_file(sequences, folder, "in.fa"))
        return read_jellyfish(out)


def read_jellyfish(path):
    """The k-mers and counts of a Jellyfish database, as count_kmers gives them."""
    with open(path, "rb") as file:
        content = file.read()
    n_header = int(content[:9])
    header = json.loads(content[9:9 + n_header].rstrip(b"\0"))
    if header["format"] != "binary/sorted":
        raise ValueError(f"{path} has the format {header['format']}; expected binary/sorted")
    k, n_count = header["key_len"] // 2, header["counter_len"]
    n_key = (2 * k + 7) // 8
    records = numpy.frombuffer(content, numpy.uint8, offset=9 + n_header).reshape(-1, n_key + n_count)
    # The last base is in the lowest bits of the first byte, the others follow upwards.
    codes = records[:, :n_key, None] >> numpy.array([0, 2, 4, 6], numpy.uint8) & 3
    letters = numpy.frombuffer(b"ACGT", numpy.uint8)[codes.reshape(len(records), 4 * n_key)[:, k - 1::-1]]
    kmers = numpy.ascontiguousarray(letters).view(f"S{k}").reshape(-1)
    counts = numpy.zeros((len(records), 8), numpy.uint8)
    counts[:, :n_count] = records[:, n_key:]
    order = numpy.argsort(kmers)
    return kmers[order], counts.view("<u8").reshape(-1)[order]
