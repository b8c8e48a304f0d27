"""Runs of every command on inputs of given sizes, for scripts that measure all of them alike."""

import itertools
import pathlib
import random

from measure import inputs

BLOCK_MB = 10


def pair_files(folder, rng, megabytes, length):
    """Two FASTA files of so many MB each whose records pair up: copies with one base in 20 changed.

    Beyond BLOCK_MB the same records come again, since making them takes longer than aligning them.
    """
    first, second = f"a{megabytes:g}_{length}.fa", f"b{megabytes:g}_{length}.fa"
    n_pairs = max(1, int(megabytes * 1e6 / (length + 12)))
    n_drawn = min(n_pairs, max(1, int(BLOCK_MB * 1e6 / (length + 12))))
    queries, targets = [], []
    for number in range(n_drawn):
        bases = inputs.random_bases(rng, length)
        copy = bytearray(bases)
        inputs.spoil(rng, copy, 0.05, lambda base: b"ACGT"[rng.randrange(4)])
        queries.append(b">a%d\n%s\n" % (number, bases))
        targets.append(b">b%d\n%s\n" % (number, bytes(copy)))
    for name, records in ((first, queries), (second, targets)):
        with open(folder / name, "wb") as out:
            for begin in range(0, n_pairs, n_drawn):
                out.write(b"".join(records[:n_pairs - begin]))
    return first, second


def align_runs(folder, rng, options):
    for megabytes, length in itertools.product(options.sizes, options.lengths):
        first, second = pair_files(folder, rng, megabytes, length)
        for output in options.outputs:
            yield (f"align sw --pairs, {output}, {length} bp, 2 x {megabytes:g} MB",
                   ["align", "--mode", "sw", "--pairs", "--output", output, first, second, "-o", "{out}.tsv"])


def read_files(folder, rng, megabytes):
    """A genome and FASTQ reads of it of so many MB, in two files of mates."""
    genome_name, names = f"g{megabytes:g}.fa", (f"r{megabytes:g}_1.fq", f"r{megabytes:g}_2.fq")
    genome = inputs.make_genome(rng, max(20000, int(megabytes * 2e5)), 0)
    (folder / genome_name).write_bytes(b">g\n" + genome + b"\n")
    for name in names:
        with open(folder / name, "wb") as out:
            inputs.write_reads(rng, genome, out, max(1, int(megabytes * 1e6 / 315)))
    return genome_name, names


def reads_runs(folder, rng, options):
    for megabytes in options.sizes:
        genome, (first, second) = read_files(folder, rng, megabytes)
        if "kmer" in options.commands:
            yield (f"kmer count, k 21, {megabytes:g} MB of FASTQ",
                   ["kmer", "count", "-m", "21", "-C", "-s", "10M", "--no-provenance", "-o", "{out}.jf", first])
        if "bwt" in options.commands:
            yield (f"bwt index, {megabytes:g} MB",
                   ["bwt", "index", "-p", "{out}", f"text{megabytes:g}.fa"])
            yield (f"bwt index --format bwa, {megabytes:g} MB",
                   ["bwt", "index", "--format", "bwa", "-p", "{out}", f"text{megabytes:g}.fa"])
            yield (f"bwt count, {megabytes:g} MB of FASTQ", ["bwt", "count", "-x", genome, first, "-o", "{out}.tsv"])
        if "qc" in options.commands:
            for suffix in ("fq", "fq.gz"):
                yield (f"qc, 2 x {megabytes:g} MB, {suffix}",
                       ["qc", "-i", first, "-I", second, "-o", f"{{out}}_1.{suffix}", "-O", f"{{out}}_2.{suffix}",
                        "-j", "{out}.json", "-h", "{out}.html"])


def write_texts(folder, rng, sizes):
    for megabytes in sizes:
        text = inputs.random_bases(rng, int(megabytes * 1e6))
        (folder / f"text{megabytes:g}.fa").write_bytes(b">t\n" + text + b"\n")


def runs(folder, options):
    """(name, words) of each run; {out} in a word is for the caller to replace. Makes the inputs in the folder.

    options: seed, and lists sizes (MB), lengths, outputs, commands (align, kmer, bwt, qc).
    """
    folder = pathlib.Path(folder)
    rng = random.Random(options.seed)
    if "align" in options.commands:
        yield from align_runs(folder, rng, options)
    if "bwt" in options.commands:
        write_texts(folder, rng, options.sizes)
    if set(options.commands) & {"kmer", "bwt", "qc"}:
        yield from reads_runs(folder, rng, options)


def add_options(parser):
    def numbers(kind):
        return lambda text: [kind(word) for word in text.split(",")]

    parser.add_argument("--biogpu", type=lambda path: str(pathlib.Path(path).resolve()), required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sizes", type=numbers(float), default=[10, 100], help="of each input file, in MB")
    parser.add_argument("--lengths", type=numbers(int), default=[150, 2000], help="of the sequences of align")
    parser.add_argument("--outputs", type=numbers(str), default=["score", "cigar"], help="of align")
    parser.add_argument("--commands", type=numbers(str), default=["align", "kmer", "bwt", "qc"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, help="for inputs and outputs; left there [a temporary one]")
    parser.add_argument("--json", type=pathlib.Path)


def index_for(words, biogpu, run, folder):
    """Makes the index that a search needs, once."""
    if words[:2] == ["bwt", "count"]:
        genome = words[words.index("-x") + 1]
        if not (pathlib.Path(folder) / f"{genome}.bgfm").exists():
            run([biogpu, "bwt", "index", "-q", "--device", "cpu", genome], folder)


def command(biogpu, words, out, threads, device, verbose=False):
    """The command line of a run, its outputs named after `out`."""
    own = [word.replace("{out}", out) for word in words]
    is_qc = own[0] == "qc"
    detail = ("-V" if is_qc else "-v") if verbose else ("--quiet" if is_qc else "-q")
    return [biogpu, *own, "-w" if is_qc else "-t", str(threads), "--device", device, detail]
