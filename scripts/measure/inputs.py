"""Makes sequences from a seed: the same bytes for the same arguments, on any machine."""

import hashlib
import pathlib
import random

COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")
STRETCH = 5000
ADAPTERS = (b"AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", b"AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT")
RESIDUES = "LAGVSERTIDPKQNFYMHWC"
QUADS = [bytes(b"ACGT"[byte >> shift & 3] for shift in (6, 4, 2, 0)) for byte in range(256)]
# Of these residues in proteins, in percent.
RESIDUE_WEIGHTS = (9.9, 8.3, 7.1, 6.9, 6.6, 6.7, 5.5, 5.3, 5.9, 5.5, 4.7, 5.8, 3.9, 4.1, 3.9, 2.9, 2.4, 2.3, 1.1, 1.4)


def random_bases(rng, n):
    """n random bases: each byte of a random number gives four."""
    return b"".join(map(QUADS.__getitem__, rng.randbytes((n + 3) // 4)))[:n]


def make_genome(rng, n, repeats):
    """Random, but that share of its stretches are copies of earlier ones."""
    genome = bytearray(random_bases(rng, n))
    for begin in range(STRETCH, n - STRETCH, STRETCH):
        if rng.random() < repeats:
            origin = rng.randrange(0, begin - STRETCH + 1)
            genome[begin:begin + STRETCH] = genome[origin:origin + STRETCH]
    return bytes(genome)


def spoil(rng, read, rate, letter):
    """Sets bases at geometric distances to what letter() gives."""
    if rate <= 0:
        return
    at = int(rng.expovariate(rate))
    while at < len(read):
        read[at] = letter(read[at])
        at += 1 + int(rng.expovariate(rate))


def copy_reads(source, target, n):
    """The first n reads of a FASTQ file."""
    with open(source, "rb") as reads, open(target, "wb") as out:
        out.writelines(line for _, line in zip(range(4 * n), reads))


def write_reads(rng, genome, out, reads, length=150, errors=0.001, unknown=0.0025):
    """FASTQ reads from both strands, with that rate of substitutions and of N."""
    other = {base: [b for b in b"ACGT" if b != base] for base in b"ACGT"}
    quality = b"\n+\n" + b"I" * length + b"\n"
    rows = []
    for number in range(reads):
        begin = rng.randrange(len(genome) - length + 1)
        read = genome[begin:begin + length]
        if rng.getrandbits(1):
            read = read.translate(COMPLEMENT)[::-1]
        read = bytearray(read)
        spoil(rng, read, errors, lambda base: other[base][rng.randrange(3)])
        spoil(rng, read, unknown, lambda base: ord("N"))
        rows.append(b"@r%d\n%s%s" % (number, read, quality))
        if len(rows) == 65536:
            out.write(b"".join(rows))
            rows.clear()
    out.write(b"".join(rows))


def read_fasta(path):
    """[(header, sequence)] of a FASTA file."""
    records = []
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        if line.startswith(">"):
            records.append([line[1:].strip(), []])
        elif line.strip():
            records[-1][1].append(line.strip())
    return [(header, "".join(parts)) for header, parts in records]


def write_fasta(path, records):
    """records are pairs of a name and bytes or text."""
    with open(path, "wb") as out:
        for name, text in records:
            out.write(b">%s\n%s\n" % (name.encode(), text if isinstance(text, bytes) else text.encode()))


def write_queries(path, rng, genome, n, length=100):
    """Pieces of a genome: one in four of them changed in one letter, every other one from the other strand."""
    def queries():
        for i in range(n):
            at = rng.randrange(len(genome) - length)
            query = bytearray(genome[at:at + length])
            if i % 4 == 3:
                k = rng.randrange(length)
                query[k] = b"ACGT"[b"ACGT".index(query[k]) - 1]
            query = bytes(query)
            yield f"q{i}", query.translate(COMPLEMENT)[::-1] if i % 2 else query

    write_fasta(path, queries())


def write_changed_reads(path, rng, n, length, rate):
    """n FASTA reads, copies of pieces of one small random genome with about `rate` of their bases changed."""
    genome = random_bases(rng, 20 * length)

    def reads():
        for i in range(n):
            begin = rng.randrange(len(genome) - length)
            read = bytearray(genome[begin:begin + length])
            spoil(rng, read, rate, lambda _: b"ACGT"[rng.randrange(4)])
            yield f"r{i}", bytes(read)

    write_fasta(path, reads())


def quality_strings(rng, length, n=512):
    """Strings of quality symbols that fall towards the end, some of them steeply."""
    strings = []
    for _ in range(n):
        top, fall = rng.choice(((38, 0), (38, 0), (37, 8), (34, 18), (28, 24)))
        strings.append(bytes(33 + max(2, min(41, top - fall * i // length + rng.choice((0, 0, 0, 1, -2, -9))))
                             for i in range(length)))
    return strings


def write_pairs(paths, rng, n, length=150):
    """n pairs of FASTQ reads: inserts from half a read to three, adapters behind short ones, errors, N, poly-G."""
    genome = make_genome(rng, 200_000, 0.1)
    strings = quality_strings(rng, length)
    random_tail = random_bases(rng, 4 * length)
    outs = [open(path, "wb") for path in paths]
    for number in range(n):
        insert = rng.randrange(length // 2, 3 * length)
        at = rng.randrange(len(genome) - insert)
        fragment = genome[at:at + insert]
        mates = (fragment, fragment.translate(COMPLEMENT)[::-1])
        dark = rng.random() < 0.03
        for mate, out in enumerate(outs):
            tail = b"G" * length if dark else random_tail[number % length:]
            read = bytearray((mates[mate] + ADAPTERS[mate] + tail)[:length])
            spoil(rng, read, 0.002, lambda _: b"ACGT"[rng.randrange(4)])
            spoil(rng, read, 0.0003, lambda _: ord("N"))
            out.write(b"@SIM:%d:%d %d:N:0:ACGTACGT\n%s\n+\n%s\n"
                      % (number // 1000, number, mate + 1, read, rng.choice(strings)))
    for out in outs:
        out.close()


def protein(rng, n):
    return "".join(rng.choices(RESIDUES, RESIDUE_WEIGHTS, k=n))


def proteome_lengths(rng, n):
    """Lengths of a proteome: log-normal, median 290, cut to 30 and 1022."""
    return [min(1022, max(30, int(rng.lognormvariate(5.67, 0.75)))) for _ in range(n)]


def describe(path):
    """What a result says of an input."""
    text = pathlib.Path(path).read_bytes()
    return {"name": pathlib.Path(path).name, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}


def generator(seed):
    return random.Random(seed)
