#!/usr/bin/env python3
"""`biogpu infer variants`, `mutagenesis` and `tracks` with every pair of options, against a computation of its own.

usage: infer_option_pairs_test.py BIOGPU SOURCE

The computation makes the letters of every window itself, has `infer tracks` predict them on the forward strand, and
adds up bins, strands and shifts by their coordinates in the genome.
"""
import bisect
import csv
import io
import itertools
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

WINDOW, BIN, BINS, FIRST = 1024, 16, 16, 384
TRACKS = {"human": 7, "mouse": 5}
CENTRE = WINDOW // 2
random.seed(20)


def run(*words):
    done = subprocess.run([BIOGPU, "infer", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
        width = entry["shape"][-1]
        arrays[name] = [values[i:i + width] for i in range(0, len(values), width)]
    return arrays


def complement(letters):
    return letters[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


class Predictions:
    """Tracks of windows, each predicted once: {head: [bins][tracks]}."""

    def __init__(self):
        self.known = {}

    def add(self, letters, n_value):
        new = sorted({text for text in letters if (text, n_value) not in self.known})
        if not new:
            return
        with open("new.fa", "w", encoding="ascii") as file:
            file.writelines(f">{i}\n{text}\n" for i, text in enumerate(new))
        run("tracks", "-q", "--device", "cpu", "--model", MODEL, "--n-value", n_value, "new.fa", "-o", "new.safetensors")
        arrays = read_safetensors("new.safetensors")
        for i, text in enumerate(new):
            self.known[text, n_value] = {head: arrays[f"{i}/{head}"] for head in TRACKS}


PREDICTIONS = Predictions()


class Sequence:
    """A chromosome, or a haplotype of it, with unknown letters around it."""

    def __init__(self, letters):
        self.letters = letters

    def cut(self, begin, n):
        end = begin + n
        inside = self.letters[max(begin, 0):max(end, 0)]
        return ("N" * max(-begin, 0) + inside).ljust(n, "N")[:n] if begin < len(self.letters) else "N" * n


def apply(letters, edits, anchor):
    """The letters with edits (position, ref, alt), and where the letter `anchor` is then."""
    moved = anchor
    for at, ref, alt in sorted(edits, reverse=True):
        assert letters[at:at + len(ref)] == ref
        letters = letters[:at] + alt + letters[at + len(ref):]
        if at < anchor:
            moved += len(alt) - len(ref)
    return Sequence(letters), moved


class Target:
    """Bins that hold given bases of a chromosome, or `width` around one base; all where width is 0."""

    def __init__(self, name, first=0, last=0, width=0):
        self.name, self.first, self.last, self.width = name, first, last, width

    def bins(self, window_begin):
        if self.name == "all":
            return list(range(BINS))
        begins = [window_begin + FIRST + BIN * b for b in range(BINS)]
        if self.width == 0:
            return [b for b in range(BINS) if begins[b] <= self.last and begins[b] + BIN > self.first]
        begins = [window_begin + FIRST + BIN * b for b in range(-99, 99)]
        centre = bisect.bisect_right(begins, self.first) - 1 - 99
        return [b for b in range(centre - self.width // 2, centre - self.width // 2 + self.width) if 0 <= b < BINS]


def predict(sequence, offset, begin, targets, flags, columns):
    """Of each target, a number for each column (head, track). offset: of the sequence against the chromosome."""
    views = [(s, both) for s in flags["shifts"] for both in ([False, True] if flags["strands"] == "both" else [False])]
    texts = {}
    for shift, reverse in views:
        letters = sequence.cut(begin + shift + offset, WINDOW)
        texts[shift, reverse] = complement(letters) if reverse else letters
    PREDICTIONS.add(texts.values(), flags["n-value"])
    numbers = []
    for target in targets:
        sums, n = [0.0] * len(columns), 0
        for shift, reverse in views:
            bins = target.bins(begin + shift)
            if not bins:
                continue
            n += 1
            tracks = PREDICTIONS.known[texts[shift, reverse], flags["n-value"]]
            for c, (head, track) in enumerate(columns):
                total = sum(tracks[head][BINS - 1 - b if reverse else b][track] for b in bins)
                sums[c] += total / len(bins) if flags["reduce"] == "mean" else total
        numbers.append([total / n for total in sums] if n else None)
    return numbers


SCORES = {"REF": lambda r, a: r, "ALT": lambda r, a: a, "SAD": lambda r, a: a - r,
          "SAR": lambda r, a: math.log2(1 + a) - math.log2(1 + r)}


def parse_bins(text, position):
    if text == "all":
        return Target("all")
    width = int(text.split(":")[1]) if ":" in text else 1
    return Target(f"centre:{width}", position, position, width)


def columns_of(flags):
    heads = list(TRACKS) if flags["head"] == "" else [flags["head"]]
    chosen = [int(t) for t in flags["tracks"].split(",")] if flags["tracks"] else None
    columns = [(head, track) for head in heads for track in (chosen or range(TRACKS[head]))]
    names = [f"{head}/{track}" if len(heads) > 1 else str(track) for head, track in columns]
    return columns, names


def expected_variants(flags):
    """{(id, alt, haplotype, bins, score, track): value}"""
    columns, names = columns_of(flags)
    numbers = {}
    for chrom, at, name, ref, alts, genotypes in VARIANTS:
        grid = flags["grid"]
        begin = at // grid * grid + grid // 2 - CENTRE
        targets = [parse_bins(bins, at) for bins in flags["bins"].split(",")]
        if flags["genes"]:
            for gene, of, first, last in GENES:
                target = Target(f"gene:{gene}", first, last)
                if of == chrom and any(target.bins(begin + s) for s in flags["shifts"]):
                    targets.append(target)
        for number, alt in enumerate(alts, 1):
            carried = [("", [], [])]
            if flags["samples"]:
                carried = []
                for s, h in itertools.product(range(2), range(2)):
                    edits = [(a, r, allele[g[s][h] - 1]) for c, a, _, r, allele, g in VARIANTS if c == chrom and g[s][h]]
                    if genotypes[s][h] == number:
                        others = [edit for edit in edits if edit[0] != at]
                        carried.append((f"{'AB'[s]}/{h + 1}", others, edits))
            for haplotype, others, edits in carried:
                values = []
                for of_allele in (others, edits or [(at, ref, alt)]):
                    sequence, moved = apply(GENOME[chrom], of_allele, at)
                    values.append(predict(sequence, moved - at, begin, targets, flags, columns))
                for target, r, a in zip(targets, *values):
                    for score in flags["scores"].split(","):
                        for c, track in enumerate(names):
                            numbers[name, alt, haplotype, target.name, score, track] = SCORES[score](r[c], a[c])
    return numbers


def words_of(flags, names):
    words = []
    for name in names:
        value = flags[name]
        if value in ("", False):
            continue
        if name == "shifts":
            value = ",".join(map(str, value))
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return words


def compare(got, right, what):
    assert got.keys() == right.keys(), (what, list(got.keys() ^ right.keys())[:5])
    for key, value in right.items():
        bound = 3e-5 * max(1, abs(value))
        assert abs(got[key] - value) <= bound, (what, key, got[key], value)
    return len(right)


def variants(flags, what):
    names = ["head", "tracks", "scores", "bins", "strands", "shifts", "reduce", "n-value", "grid", "no-reuse",
             "kept-memory", "batch", "genes", "samples", "wide"]
    output = "out.vcf" if flags["vcf"] else "out.tsv"
    run("variants", "-q", "--device", "cpu", "--model", MODEL, "--genome", "genome.fa", *words_of(flags, names), "v.vcf",
        "-o", output)
    _, tracks = columns_of(flags)
    got, right = {}, expected_variants(flags)
    if flags["vcf"]:
        for line in open(output, encoding="ascii"):
            fields = line.rstrip("\n").split("\t")
            if line.startswith("#"):
                continue
            for entry in fields[7].split(";"):
                name, numbers = entry.split("=")
                score, _, width = name.partition("_CENTRE_")
                numbers = iter(numbers.split(","))
                for alt, track in itertools.product(fields[4].split(","), tracks):
                    got[fields[2], alt, "", f"centre:{width}" if width else "all", score, track] = float(next(numbers))
    else:
        for row in csv.DictReader(open(output, encoding="ascii"), delimiter="\t"):
            for track in (tracks if flags["wide"] else [row["track"]]):
                key = (row["id"], row["alt"], row.get("haplotype", ""), row["bins"], row["score"], track)
                assert key not in got
                got[key] = float(row[track] if flags["wide"] else row["value"])
    return compare(got, right, what)


def mutagenesis(flags, what):
    names = ["head", "tracks", "score", "bins", "strands", "shifts", "reduce", "n-value", "no-reuse", "kept-memory", "batch"]
    chrom, first, last = "chr1", 1500, 1503
    stdout = run("mutagenesis", "-q", "--device", "cpu", "--model", MODEL, "--genome", "genome.fa", "--region",
                 f"{chrom}:{first}-{last}", *words_of(flags, names))
    columns, tracks = columns_of(flags)
    middle = first - 1 + (last - first + 1) // 2
    targets, right, got = [parse_bins(flags["bins"], middle)], {}, {}
    for at in range(first - 1, last):
        for alt in "ACGT".replace(GENOME[chrom][at], ""):
            values = [predict(apply(GENOME[chrom], edits, at)[0], 0, middle - CENTRE, targets, flags, columns)[0]
                      for edits in ([], [(at, GENOME[chrom][at], alt)])]
            for c, track in enumerate(tracks):
                right[at + 1, alt, targets[0].name, track] = SCORES[flags["score"]](values[0][c], values[1][c])
    for row in csv.DictReader(io.StringIO(stdout), delimiter="\t"):
        got[int(row["pos"]), row["alt"], row["bins"], row["track"]] = float(row["value"])
    return compare(got, right, what)


def tracks_of_windows(flags, what):
    names = ["head", "tracks", "strands", "n-value", "batch"]
    windows = {key: GENOME[chrom].cut((first + last) // 2 - CENTRE, WINDOW) for key, chrom, first, last in
               ((k, c, f, l) for k, c, f, l in REGIONS)}
    words = ["--genome", "genome.fa", "--regions", "regions.bed"] if flags["genome"] else ["windows.fa"]
    if flags["fit"]:
        words, windows = ["--fit", "centre", "short.fa"], SHORT
    elif not flags["genome"]:
        with open("windows.fa", "w", encoding="ascii") as file:
            file.writelines(f">{key}\n{text}\n" for key, text in windows.items())
    output = f"out.{flags['format']}"
    run("tracks", "-q", "--device", "cpu", "--model", MODEL, *words_of(flags, names), *words, "-o", output)
    columns, _ = columns_of(flags)
    heads = sorted({head for head, _ in columns})
    right, got = {}, {}
    for key, text in windows.items():
        PREDICTIONS.add([text, complement(text)], flags["n-value"])
        forward, reverse = (PREDICTIONS.known[t, flags["n-value"]] for t in (text, complement(text)))
        for head in heads:
            name = f"{key}/{head}" if len(heads) > 1 else key
            for b in range(BINS):
                for c, track in enumerate(t for h, t in columns if h == head):
                    value = forward[head][b][track]
                    if flags["strands"] == "both":
                        value = (value + reverse[head][BINS - 1 - b][track]) / 2
                    right[name, b, c] = value
    if flags["format"] == "tsv":
        seen = {}
        for row in csv.reader(open(output, encoding="ascii"), delimiter="\t"):
            b = seen[row[0]] = seen.get(row[0], -1) + 1
            got.update({(row[0], b, c): float(x) for c, x in enumerate(row[2:])})
    else:
        for name, rows in read_safetensors(output).items():
            got.update({(name, b, c): x for b, row in enumerate(rows) for c, x in enumerate(row)})
    return compare(got, right, what)


def all_pairs(command, plain, values, forbidden):
    n_runs = n_numbers = 0
    pairs = itertools.combinations([(name, value) for name, of in values.items() for value in of], 2)
    for (a, x), (b, y) in pairs:
        if a == b or (a, b) in forbidden or (b, a) in forbidden:
            continue
        n_numbers += command({**plain, a: x, b: y}, f"{command.__name__} {a} {x} {b} {y}")
        n_runs += 1
    print(f"{command.__name__}: {n_runs} pairs, {n_numbers} numbers")
    assert n_runs > 20


BIOGPU, MODEL = os.path.abspath(sys.argv[1]), os.path.join(os.path.abspath(sys.argv[2]), "tests/data/models/enformer_tiny")
FOLDER = tempfile.TemporaryDirectory()
os.chdir(FOLDER.name)
GENOME = {name: "".join(random.choices("ACGT", k=n)) for name, n in (("chr1", 3000), ("chr2", 1500))}
GENOME["chr2"] = GENOME["chr2"][:700] + "N" * 40 + GENOME["chr2"][740:]
with open("genome.fa", "w", encoding="ascii") as out:
    for contig, sequence_text in GENOME.items():
        out.write(f">{contig}\n")
        out.writelines(sequence_text[i:i + 70] + "\n" for i in range(0, len(sequence_text), 70))
VARIANTS = []  # chrom, position from 0, id, ref, alts, alleles of both haplotypes of samples A and B
for contig, place, size, alt_sizes, gt in (
        ("chr1", 11, 1, (1,), ((1, 0), (0, 0))), ("chr1", 1400, 1, (1, 4), ((1, 2), (2, 0))),
        ("chr1", 1423, 5, (1,), ((1, 1), (0, 1))), ("chr1", 1437, 2, (2,), ((0, 1), (1, 1))),
        ("chr2", 746, 1, (1,), ((0, 1), (0, 0)))):
    reference = GENOME[contig][place:place + size]
    alternates = []
    for length in alt_sizes:
        tail = "".join(random.choices("ACGT", k=length - 1))
        first_letter = reference[0] if length != size else "ACGT".replace(reference[0], "")[length % 3]
        alternates.append(first_letter + tail)
    VARIANTS.append((contig, place, f"v{len(VARIANTS)}", reference, alternates, gt))
with open("v.vcf", "w", encoding="ascii") as out:
    out.write('##fileformat=VCFv4.2\n##contig=<ID=chr1>\n##contig=<ID=chr2>\n##FORMAT=<ID=GT,Number=1,Type=String,'
              'Description="g">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tA\tB\n')
    for contig, place, label, reference, alternates, gt in VARIANTS:
        samples = "\t".join("|".join(map(str, alleles)) for alleles in gt)
        out.write(f"{contig}\t{place + 1}\t{label}\t{reference}\t{','.join(alternates)}\t.\t.\t.\tGT\t{samples}\n")
# One at an end of what windows predict, one that shifts alone bring in.
GENES = [("inner", "chr1", 1390, 1420), ("edge", "chr1", 1528, 1560), ("shifted", "chr1", 1600, 1610), ("other", "chr2", 740, 760)]
with open("genes.bed", "w", encoding="ascii") as out:
    out.writelines(f"{of}\t{first}\t{last + 1}\t{gene}\n" for gene, of, first, last in GENES)

common = {"head": ["mouse", ""], "tracks": ["3,1"], "strands": ["both"], "shifts": [[64], [-37, 0, 90]], "reduce": ["sum"],
          "n-value": ["0.25"], "no-reuse": [True], "kept-memory": ["0"], "batch": [1]}
base = {"head": "human", "tracks": "", "strands": "forward", "shifts": [0], "reduce": "mean", "n-value": "0",
        "no-reuse": False, "kept-memory": "", "batch": ""}
all_pairs(variants, {**base, "scores": "REF,ALT", "bins": "all,centre", "grid": 1, "genes": "", "samples": "", "wide": False, "vcf": False},
          {**common, "scores": ["SAD", "SAR,REF"], "bins": ["centre:2", "centre:3,centre:40"], "grid": [48], "genes": ["genes.bed"],
           "samples": ["A,B"], "wide": [True], "vcf": [True]},
          {("head", "tracks"), ("vcf", "wide"), ("vcf", "genes"), ("vcf", "samples")})
all_pairs(mutagenesis, {**base, "score": "REF", "bins": "centre"},
          {**common, "score": ["SAD", "ALT"], "bins": ["all", "centre:2", "centre:5"]}, {("head", "tracks")})

REGIONS = [("one", "chr1", 1400, 1411), ("two", "chr2", 10, 11), ("three", "chr2", 720, 800)]
with open("regions.bed", "w", encoding="ascii") as out:
    out.writelines(f"{of}\t{first}\t{last}\t{key}\n" for key, of, first, last in REGIONS)
SHORT = {"odd": "N" * 211 + GENOME["chr1"][5:607] + "N" * 211}
with open("short.fa", "w", encoding="ascii") as out:
    out.write(f">odd\n{GENOME['chr1'][5:607]}\n")
GENOME = {name: Sequence(text) for name, text in GENOME.items()}
del common["shifts"], common["reduce"], common["no-reuse"], common["kept-memory"]
all_pairs(tracks_of_windows, {**base, "genome": False, "fit": False, "format": "safetensors"},
          {**common, "genome": [True], "fit": [True], "format": ["tsv"]}, {("head", "tracks"), ("genome", "fit")})
