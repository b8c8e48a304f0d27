"""Models of proteins and DNA, by `biogpu infer`."""
import os

import numpy

from .files import collect, is_file, read_rows, read_table, scratch, sequence_file
from .program import option_words, run


def info(model):
    """What `biogpu infer info` tells of a model's folder: {name: text}."""
    return dict(line.split("\t", 1) for line in run("infer", "info", model).splitlines() if "\t" in line)


def tokens(model):
    """The tokens of a protein language model, in the order of the columns of its logits."""
    return info(model)["vocabulary"].split(" ")


def embed(sequences, model, include="mean", layer=-1, **options):
    """Embeddings by a protein language model: of "mean" and "cls" an array [sequences, width], of "residues" an array
    [residues, width] for each sequence. layer: 0 is the embedding, i the state after block i, -1 the last."""
    if include not in ("mean", "cls", "residues"):
        raise ValueError(f"include is '{include}'; expected mean, cls or residues")
    return _arrays("embed", sequences, model, options, include=include, layers=layer, one_row=include != "residues")


def logits(sequences, model, **options):
    """Logits of a protein language model: an array [residues, tokens] for each sequence."""
    return _arrays("logits", sequences, model, options)


def _arrays(command, sequences, model, options, one_row=False, **fixed):
    with scratch() as folder:
        out = folder / "out.npy"
        run("infer", command, "-q", "--model", model, *option_words({**fixed, **options}),
            sequence_file(sequences, folder, "in.fa"), "-o", out)
        rows, index = read_rows(out)
    if one_row:
        values = rows
    else:
        values = [rows[first:first + count] for _, first, count in index]
    return collect(sequences, [key for key, _, _ in index], values)


def score(sequences, model, variants=None, **options):
    """Scores by a protein language model, as columns {name: array}.

    Without variants name, residues, log_likelihood, perplexity of each sequence. variants: a list such as ["K2A", "K2A:T3S"], a
    table's path, or "all-single"; then name, mutant, score, where above 0 the model prefers the mutant."""
    with scratch() as folder:
        if variants is not None and not is_file(variants):
            table = folder / "variants.tsv"
            table.write_text("\n".join(["mutant", *variants]) + "\n", encoding="utf-8")
            variants = table
        chosen = {"all_single": True} if variants == "all-single" else {"variants": variants}
        text = run("infer", "score", "-q", "--model", model, *option_words({**chosen, **options}),
                   sequence_file(sequences, folder, "in.fa"))
    return read_table(text, floats={"score"})


def tracks(windows, model, head=None, **options):
    """Predicted tracks of windows of DNA, of the model's length: an array [bins, tracks] for each window. head: needed where the
    model has several. tracks=[0, 5] computes those alone."""
    with scratch() as folder:
        keys, values = _tracks(model, folder, {"head": head, **options}, sequence_file(windows, folder, "in.fa"))
    return collect(windows, keys, values)


def region_tracks(genome, regions, model, head=None, **options):
    """The same of the windows around regions of a genome (indexed FASTA), by the key of each region. regions: texts such as
    "chr1:1001-1400", or a path to BED; a genome that has no index gets one."""
    with scratch() as folder:
        if is_file(regions):
            places = ["--regions", regions]
        else:
            places = [word for region in regions for word in ("--region", region)]
        keys, values = _tracks(model, folder, {"head": head, **options}, "--genome", genome, *places)
    return dict(zip(keys, values))


def _tracks(model, folder, options, *words):
    heads = options["head"]
    if heads is not None and "," in str(heads):
        raise ValueError(f"head is '{heads}'; expected one head a call")
    if heads is None:
        names = [name for name in info(model) if name.startswith("tracks_")]
        if len(names) > 1:
            raise ValueError(f"{os.fspath(model)} has the heads {', '.join(name[7:] for name in names)}; name one as head")
    out = folder / "out.npz"
    run("infer", "tracks", "-q", "--model", model, *option_words(options), *words, "-o", out)
    with numpy.load(out) as arrays:
        return arrays.files, [arrays[key] for key in arrays.files]
