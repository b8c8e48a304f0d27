#!/usr/bin/env python3
"""`biogpu infer` with a model of heads at 32 and 128 bases, against a separate computation in double precision.

usage: two_resolutions_test.py BIOGPU_TWO_RESOLUTIONS BACKEND

Weights and genome are random. All formats of tracks, embeddings, variants and mutagenesis are read back and compared.
"""
import ast
import csv
import io
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

WINDOW, TAPS, CHANNELS, CROP = 512, 5, 8, 2
GRIDS = {"fine": (32, 64, 12), "coarse": (128, 0, 4)}  # bases of a bin, first base, bins
TRACKS = {"fine": 3, "coarse": 2}
EMBEDDINGS = {"32bp": 6, "128bp": 5}
HEADS = {"fine": "32bp", "coarse": "128bp"}
COLUMNS = [(head, track) for head in HEADS for track in range(TRACKS[head])]
random.seed(7)


def run(*words, fails=0):
    done = subprocess.run([BIOGPU, "infer", *words], capture_output=True, text=True, check=False)
    assert done.returncode == fails, (words, done.returncode, done.stderr)
    return done.stderr if fails else done.stdout


def close(got, right, what):
    assert abs(got - right) <= 2e-5 * max(1, abs(right)), (what, got, right)


def write_model(folder):
    shapes = {"letters.weight": [CHANNELS, 4, TAPS], "letters.bias": [CHANNELS]}
    for name, width in EMBEDDINGS.items():
        shapes |= {f"last.{name}.weight": [width, CHANNELS], f"last.{name}.bias": [width]}
    for head, read in HEADS.items():
        shapes |= {f"heads.{head}.weight": [TRACKS[head], EMBEDDINGS[read]], f"heads.{head}.bias": [TRACKS[head]]}
    weights, header, data = {}, {}, b""
    for name, shape in shapes.items():
        packed = struct.pack(f"<{math.prod(shape)}f", *(random.gauss(0, 0.7) for _ in range(math.prod(shape))))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
        weights[name] = struct.unpack(f"<{math.prod(shape)}f", packed)
    text = json.dumps(header).encode()
    os.mkdir(folder)
    with open(f"{folder}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    with open(f"{folder}/config.json", "w", encoding="ascii") as file:
        json.dump({"model_type": "two_resolutions"}, file)
    return weights


def linear(name, rows, activation):
    bias = WEIGHTS[f"{name}.bias"]
    weight, n = WEIGHTS[f"{name}.weight"], len(rows[0])
    return [[activation(b + sum(weight[o * n + i] * row[i] for i in range(n))) for o, b in enumerate(bias)] for row in rows]


def gelu(x):
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def pool(rows, size):
    return [[max(column) for column in zip(*rows[i:i + size])] for i in range(0, len(rows), size)]


KNOWN = {}


def predict(letters):
    """{head or embedding: rows} of a window."""
    if letters not in KNOWN:
        rows, weight = [], WEIGHTS["letters.weight"]
        codes = ["ACGT".find(letter) for letter in letters]
        for t in range(WINDOW):
            row = list(WEIGHTS["letters.bias"])
            for j in range(TAPS):
                at = t + j - TAPS // 2
                if 0 <= at < WINDOW and codes[at] >= 0:
                    for c in range(CHANNELS):
                        row[c] += weight[(c * 4 + codes[at]) * TAPS + j]
            rows.append(row)
        fine = pool(rows, 32)
        got = {"32bp": linear("last.32bp", fine[CROP:-CROP], gelu), "128bp": linear("last.128bp", pool(fine, 4), gelu)}
        got["fine"] = linear("heads.fine", got["32bp"], lambda x: math.log1p(math.exp(-abs(x))) + max(x, 0))
        got["coarse"] = linear("heads.coarse", got["128bp"], lambda x: x / (1 + math.exp(-x)))
        KNOWN[letters] = got
    return KNOWN[letters]


def complement(letters):
    return letters[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


def cut(letters, begin):
    return "".join(letters[i] if 0 <= i < len(letters) else "N" for i in range(begin, begin + WINDOW))


def mean_of_views(letters, begin, bins, position, shifts, strands):
    """A number for each column: the mean over bins, then over views that have such bins."""
    numbers = []
    for head, track in COLUMNS:
        size, first, n = GRIDS[head]
        views = []
        for shift in shifts:
            origin = begin + shift + first
            chosen = range(n)
            if bins != "all":
                width, middle = int(bins.split(":")[1]), (position - origin) // size
                chosen = [b for b in range(middle - width // 2, middle - width // 2 + width) if 0 <= b < n]
            if not chosen:
                continue
            window = cut(letters, begin + shift)
            for reverse in [False, True][:strands]:
                rows = predict(complement(window) if reverse else window)[head]
                views.append(sum(rows[n - 1 - b if reverse else b][track] for b in chosen) / len(chosen))
        numbers.append(sum(views) / len(views))
    return numbers


def read_npz(path):
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            size = struct.unpack_from("<H", data, 8)[0]
            header = ast.literal_eval(data[10:10 + size].decode())
            values = struct.unpack(f"<{math.prod(header['shape'])}f", data[10 + size:])
            arrays[name.removesuffix(".npy")] = (header["shape"], values)
    return arrays


def read_bigwig(path):
    """Intervals (begin, end, value) of the only contig that has values."""
    with open(path, "rb") as file:
        data = file.read()
    intervals = []

    def read_block(block):
        _, begin, _, step, span, kind, _, n = struct.unpack_from("<5I2BH", block)
        for i in range(n):
            if kind == 1:
                intervals.append(struct.unpack_from("<IIf", block, 24 + 12 * i))
            elif kind == 2:
                at, value = struct.unpack_from("<If", block, 24 + 8 * i)
                intervals.append((at, at + span, value))
            else:
                at = begin + i * step
                intervals.append((at, at + span, *struct.unpack_from("<f", block, 24 + 4 * i)))

    def read_node(at):
        is_leaf, _, n = struct.unpack_from("<2BH", data, at)
        for i in range(n):
            if is_leaf:
                offset, size = struct.unpack_from("<2Q", data, at + 4 + 32 * i + 16)
                read_block(zlib.decompress(data[offset:offset + size]))
            else:
                read_node(struct.unpack_from("<Q", data, at + 4 + 24 * i + 16)[0])

    read_node(struct.unpack_from("<Q", data, 24)[0] + 48)
    return intervals


def check_rows(values, shape, rows, what):
    assert list(shape) == [len(rows), len(rows[0])], (what, shape)
    for got, right in zip(values, (value for row in rows for value in row)):
        close(got, right, what)


def check_tracks():
    for strands in ("forward", "both"):
        run("tracks", *MODEL, *GENOME_WORDS, "--region", "chr1:701-900", "--region", "chr1:101-104", "--strands", strands,
            "-o", f"{strands}.npz", "--json", "tracks.json")
        arrays = read_npz(f"{strands}.npz")
        assert set(arrays) == {f"{key}/{head}" for key in ("chr1:701-900", "chr1:101-104") for head in HEADS}, set(arrays)
        for (begin, end), head in ((region, head) for region in ((700, 900), (100, 104)) for head in HEADS):
            window = cut(GENOME, (begin + end) // 2 - WINDOW // 2)
            rows = predict(window)[head]
            if strands == "both":
                other = predict(complement(window))[head][::-1]
                rows = [[(x + y) / 2 for x, y in zip(*pair)] for pair in zip(rows, other)]
            shape, values = arrays[f"chr1:{begin + 1}-{end}/{head}"]
            check_rows(values, shape, rows, (strands, head))
    with open("tracks.json", encoding="ascii") as file:
        heads = json.load(file)["result"]["model"]["heads"]
    assert heads == {"fine": {"bin_size": 32, "bins": 12}, "coarse": {"bin_size": 128, "bins": 4}}, heads
    run("embed", *MODEL, *GENOME_WORDS, "--region", "chr1:701-900", "-o", "embed.npz")
    arrays = read_npz("embed.npz")
    for name in EMBEDDINGS:
        shape, values = arrays.pop(f"chr1:701-900/{name}")
        check_rows(values, shape, predict(cut(GENOME, 800 - WINDOW // 2))[name], name)
    assert not arrays, arrays.keys()


def check_signals():
    for head, (size, first, n) in GRIDS.items():
        words = ["tracks", *MODEL, *GENOME_WORDS, "--head", head, "--tracks", "1"]
        run(*words, "--region", "chr1:701-900", "--region", "chr1:1501-1502", "-o", f"{head}.bedgraph")
        with open(f"{head}.bedgraph", encoding="ascii") as file:
            lines = [line.split("\t") for line in file if line.startswith("chr1")]
        signals = [[(int(begin), int(end), float(value)) for _, begin, end, value in lines]]
        if HAS_BIGWIG:
            run(*words, "--region", "chr1:701-900", "--region", "chr1:1501-1502", "-o", f"{head}.bw")
            signals.append(read_bigwig(f"{head}.bw"))
        right = []
        for window in (800 - WINDOW // 2, 1501 - WINDOW // 2):
            rows = predict(cut(GENOME, window))[head]
            right += [(window + first + b * size, window + first + (b + 1) * size, rows[b][1]) for b in range(n)]
        for signal in signals:
            assert [interval[:2] for interval in signal] == [interval[:2] for interval in right], (head, signal, right)
            for got, interval in zip(signal, right):
                close(got[2], interval[2], head)


def check_variants():
    variants = [(at, GENOME[at], {"A": "C", "C": "G", "G": "T", "T": "A"}[GENOME[at]]) for at in (600, 601, 655, 900)]
    variants.append((1200, GENOME[1200], GENOME[1200] + "ACGGT"))
    variants.append((1300, GENOME[1300:1330], GENOME[1300]))
    with open("variants.vcf", "w", encoding="ascii") as file:
        file.write(f"##fileformat=VCFv4.2\n##contig=<ID=chr1,length={len(GENOME)}>\n")
        file.write("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        file.writelines(f"chr1\t{at + 1}\tv{at}\t{ref}\t{alt}\t.\t.\t.\n" for at, ref, alt in variants)
    bins, scores = ["all", "centre:1", "centre:3"], ["REF", "ALT", "SAD"]
    words = ["variants", *MODEL, *GENOME_WORDS, "--scores", ",".join(scores), "--bins", ",".join(bins), "--grid", "64",
             "--strands", "both", "--shifts", "-33,0", "variants.vcf"]
    right = {}
    for at, ref, alt in variants:
        begin = at // 64 * 64 + 32 - WINDOW // 2
        changed = GENOME[:at] + alt + GENOME[at + len(ref):]
        for chosen in bins:
            pair = [mean_of_views(letters, begin, chosen, at, (-33, 0), 2) for letters in (GENOME, changed)]
            for (head, track), before, after in zip(COLUMNS, *pair):
                for score, value in zip(scores, (before, after, after - before)):
                    right[f"v{at}", chosen, score, f"{head}/{track}"] = value
    rows = list(csv.DictReader(io.StringIO(run(*words)), delimiter="\t"))
    got = {(row["id"], row["bins"], row["score"], row["track"]): float(row["value"]) for row in rows}
    assert got.keys() == right.keys() and len(rows) == len(right), got.keys() ^ right.keys()
    for key, value in right.items():
        close(got[key], value, key)
    run(*words, "-o", "annotated.vcf")
    with open("annotated.vcf", encoding="ascii") as file:
        records = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    assert len(records) == len(variants)
    for record in records:
        fields = dict(field.split("=") for field in record[7].split(";"))
        for chosen in bins:
            name = "SAD" + ("" if chosen == "all" else "_" + chosen.upper().replace(":", "_"))
            for (head, track), value in zip(COLUMNS, fields[name].split(","), strict=True):
                close(float(value), right[record[2], chosen, "SAD", f"{head}/{track}"], (record[2], chosen))
    # The fine head does not predict the window's ends, where the coarse one does.
    words = ["variants", *MODEL, *GENOME_WORDS, "--bins", "centre", "--shifts", "200", "variants.vcf"]
    assert "the 384 bases" in run(*words, fails=2)
    run(*words, "--head", "coarse")
    assert "--grid 400: the model predicts 384" in run("variants", *MODEL, *GENOME_WORDS, "--grid", "400", "variants.vcf", fails=2)


def check_mutagenesis():
    for bins in ("all", "centre:2"):
        text = run("mutagenesis", *MODEL, *GENOME_WORDS, "--region", "chr1:801-806", "--score", "ALT", "--bins", bins)
        rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
        assert len(rows) == 6 * 3 * len(COLUMNS)
        for row in rows:
            at, (head, track) = int(row["pos"]) - 1, row["track"].split("/")
            changed = GENOME[:at] + row["alt"] + GENOME[at + 1:]
            right = mean_of_views(changed, 803 - WINDOW // 2, bins, 803, [0], 1)
            close(float(row["value"]), right[COLUMNS.index((head, int(track)))], row)


BIOGPU = os.path.realpath(sys.argv[1])
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    WEIGHTS = write_model("model")
    GENOME = "".join(random.choices("ACGT", k=2500))
    with open("genome.fa", "w", encoding="ascii") as genome:
        genome.write(f">chr1\n{GENOME}\n")
    HAS_BIGWIG = os.path.exists(os.path.join(os.path.dirname(BIOGPU), "libbiogpu_bigwig.so"))
    GENOME_WORDS = ["--genome", "genome.fa"]
    for device in ["cpu"] + (["gpu"] if sys.argv[2] != "none" else []):
        MODEL = ["-q", "--device", device, "--model", "model"]
        check_tracks()
        check_signals()
        check_variants()
        check_mutagenesis()
print(f"{len(KNOWN)} windows; bigWig read: {HAS_BIGWIG}")
