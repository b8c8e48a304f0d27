#!/usr/bin/env python3
"""Writes data/ from the public files it is taken from; data/SOURCES.tsv names them.

usage: scripts/dev/make_data.py FOLDER      FOLDER holds genomes/, reads/ and proteins/

Small on purpose: the quick start and the tests read it. Running it again gives the same bytes.
"""

import collections
import gzip
import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure.inputs import read_fasta  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
N_READS = 200
N_QUERIES = 5
N_PROTEINS = 40
FLANK_BP = 20  # of genome on both sides of a read's place
SEED_BP = 16
SEED_AA = 4

SOURCES = {
    "lambda.fa": ("BenLangmead/bowtie2 example/reference/lambda_virus.fa",
                  "sequence record NC_001416.1, public domain", "Enterobacteria phage lambda, the whole genome"),
    "lambda_reads.fq.gz": ("BenLangmead/bowtie2 example/reads/",
                           "Artistic or GPL-3.0 (a data file; no code)",
                           f"the first {N_READS} reads whose place in the genome is clear"),
    "lambda_windows.fa": ("cut from lambda.fa by scripts/dev/make_data.py", "public domain",
                          "for each read the genome around its place, in the read's direction"),
    "proteins.fa": ("E. coli K-12 proteome, UniProt", "CC BY 4.0",
                    f"the proteins most like each query and others, {N_PROTEINS} in all"),
    "protein_queries.fa": ("soedinglab/MMseqs2 examples/QUERY.fasta, from UniProt", "CC BY 4.0",
                           f"{N_QUERIES} proteins of other species with relatives in E. coli"),
}


def write_fasta(path, records, width=70):
    with path.open("w") as out:
        for header, sequence in records:
            out.write(f">{header}\n")
            for begin in range(0, len(sequence), width):
                out.write(sequence[begin:begin + width] + "\n")


def reverse_complement(sequence):
    return sequence.translate(str.maketrans("ACGTacgt", "TGCAtgca"))[::-1]


def place(read, seeds):
    """Where the read starts by a vote of exact seeds, or None without a clear winner."""
    votes = collections.Counter()
    for offset in range(len(read) - SEED_BP + 1):
        position = seeds.get(read[offset:offset + SEED_BP])
        if position is not None:
            votes[position - offset] += 1
    best = votes.most_common(1)
    return best[0][0] if best and best[0][1] >= 8 else None


def lambda_files(folder):
    (header, genome), = read_fasta(folder / "genomes/lambda_virus.fa")
    write_fasta(DATA / "lambda.fa", [(header, genome)])
    genome = genome.upper()
    seeds = {}
    for position in range(len(genome) - SEED_BP + 1):
        seed = genome[position:position + SEED_BP]
        seeds[seed] = None if seed in seeds else position  # repeats do not vote
    reads, windows = [], []
    lines = gzip.open(folder / "reads/lambda_1.fq.gz", "rt").read().splitlines()
    for first in range(0, len(lines), 4):
        name, read = lines[first][1:], lines[first + 1]
        for strand, oriented in (("+", read), ("-", reverse_complement(read))):
            begin = place(oriented, seeds)
            if begin is None:
                continue
            left, right = max(0, begin - FLANK_BP), min(len(genome), begin + len(read) + FLANK_BP)
            window = genome[left:right]
            windows.append((f"{name}_place lambda:{left + 1}-{right}({strand})",
                            window if strand == "+" else reverse_complement(window)))
            reads.append("\n".join(lines[first:first + 4]) + "\n")
            break
        if len(reads) == N_READS:
            break
    with open(DATA / "lambda_reads.fq.gz", "wb") as raw:  # no name and no time: the same bytes each run
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=9) as out:
            out.write("".join(reads).encode())
    write_fasta(DATA / "lambda_windows.fa", windows)


def words(sequence):
    return {sequence[i:i + SEED_AA] for i in range(len(sequence) - SEED_AA + 1)}


def protein_files(folder):
    targets = read_fasta(folder / "proteins/ecoli_proteome.fasta")
    target_words = [words(sequence) for _, sequence in targets]
    found = []
    for header, sequence in read_fasta(folder / "proteins/mmseqs2_query.fasta"):
        if not 120 <= len(sequence) <= 500:
            continue
        query_words = words(sequence)
        shared = [(len(query_words & other), i) for i, other in enumerate(target_words)]
        found.append((max(shared)[0] / len(query_words), header, sequence, sorted(shared)[::-1]))
    found.sort(key=lambda item: -item[0])
    queries = found[:N_QUERIES]
    chosen = {shared[rank][1] for *_, shared in queries for rank in range(3)}
    for i in range(0, len(targets), 97):  # unrelated ones from all over the proteome
        if len(chosen) < N_PROTEINS and len(targets[i][1]) <= 600:
            chosen.add(i)
    write_fasta(DATA / "protein_queries.fa",
                [(header.split(" Split=")[0], sequence) for _, header, sequence, _ in queries])
    write_fasta(DATA / "proteins.fa", [targets[i] for i in sorted(chosen)])


def sources_file():
    rows = ["file\torigin\tlicence\twhat\tsha256"]
    for name, (origin, licence, what) in SOURCES.items():
        digest = hashlib.sha256((DATA / name).read_bytes()).hexdigest()
        rows.append("\t".join((f"data/{name}", origin, licence, what, digest)))
    (DATA / "SOURCES.tsv").write_text("\n".join(rows) + "\n")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/dev/make_data.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    DATA.mkdir(exist_ok=True)
    lambda_files(folder)
    protein_files(folder)
    sources_file()


if __name__ == "__main__":
    main()
