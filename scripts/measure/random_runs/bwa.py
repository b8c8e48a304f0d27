"""bwa and `biogpu bwt`: the five index files and the matches of fastmap."""

from measure.random_runs import texts
from measure.random_runs.frame import Known

PROGRAM = "bwa"
PAGE = "docs/commands/bwt.md"
PARTS = ("amb", "ann", "pac", "bwt", "sa")
KNOWN = [
    Known("FASTQ whose quality does not fit", PAGE,
          "`bwa index` stops silently at a FASTQ record whose quality does not fit", ("damaged",), "^status: peer 0 .*biogpu 3"),
    Known("no record", PAGE, "`index` refuses text without any record, and files that are neither FASTA nor FASTQ",
          ("no record",), "^status: peer 0 .*biogpu 3"),
    Known("bwa cannot read its index", PAGE,
          "`bwa fastmap` crashes on an index without bases and stops at holes of blanks",
          ("bwa cannot read it",), r"^status: peer (-11|139|1) .*biogpu 0"),
    Known("empty query with CRLF", PAGE, "an empty query whose lines end in CRLF has length 1 in `bwa fastmap`",
          ("(CRLF queries)", "empty query"), "^fastmap"),
]


def genome_records(draw):
    records = []
    for i in range(draw.of((1, 1, 2, 3, 8))):
        size = draw.of((0, 1, 2, 15, 16, 17, 31, 32, 33, 127, 128, 129, draw.upto(400), draw.upto(3000)))
        text = texts.sequence(draw, size)
        if records and draw.chance(0.3):
            text = texts.soiled(draw, texts.reverse_complement(draw.of(records)[1]), "ACGT", 0.5)
        text = texts.soiled(draw, text, "NnRYKMacgt-.*U", 0.4)
        name = draw.of(("same", f"chr{i}", f"chr{i} some words", f"chr{i}\ttab", f"chr{i}  two blanks ", f"c{i}|{'y' * 300}"))
        records.append((name, text))
    return records


def write_genome(draw, run):
    """The genome's file and its records; now and then text before it, blanks in lines, FASTQ."""
    records = genome_records(draw)
    end, final = texts.line_end(draw), not draw.chance(0.15)
    if end != "\n":
        run.marks.add(draw.note("(CRLF)"))
    if draw.chance(0.12):
        draw.note("(FASTQ genome)")
        data = texts.fastq(draw, [(*record, texts.qualities(draw, len(record[1]))) for record in records], end, final)
    else:
        data = texts.fasta(draw, records, end, final, draw.of((0, 60, 7)))
    kind = draw.upto(39)
    if kind == 0:
        data = draw.of((b"text before\n", b"\n\n", b" ")) + data
        draw.note("(text before the first record)")
    elif kind == 1:
        for old, new in draw.of((((b"AC", b"A C"), (b"GT", b"G\tT")), ((b"AC", b"A1C"), (b"GT\n", b"GT \n")), ((b"\nA", b"\n;A"),),
                                 ((b"G\n", b"G\n\x1a\n"),))):
            data = data.replace(old, new)
        draw.note("(blanks in lines)")
    elif kind == 2:
        data = draw.of((b"", b"\n", b"hello\n", b">\n", b">a\n"))
        if b">" not in data:
            run.marks.add("no record")
        draw.note("(next to nothing)")
    name = "genome.fa"
    if draw.chance(0.15):
        data, name = texts.packed(draw, data), "genome.fa.gz"
    (run.folder / name).write_bytes(data)
    return name, records


def write_queries(draw, run, records):
    text = "".join(text for _, text in records)
    queries = []
    for i in range(draw.of((0, 1, 3, 10, 30))):
        query = texts.sequence(draw, texts.length(draw))
        if text and draw.chance(0.8):
            begin = draw.upto(len(text) - 1)
            query = text[begin:begin + draw.upto(200)]
            query = texts.reverse_complement(query) if draw.chance(0.5) else query
        queries.append((texts.name(draw, i), texts.soiled(draw, query, "NRUacgt", 0.3)))
    if any(not query for _, query in queries):
        run.marks.add("empty query")
    end, final = texts.line_end(draw), not draw.chance(0.15)
    if end != "\n":
        run.marks.add(draw.note("(CRLF queries)"))
    if draw.chance(0.4):
        scored = [(title, query, texts.qualities(draw, len(query))) for title, query in queries]
        data, name = texts.fastq(draw, scored, end, final), "queries.fq"
        draw.note("(FASTQ queries)")
    else:
        data, name = texts.fasta(draw, queries, end, final, draw.of((0, 0, 30))), "queries.fa"
    if draw.chance(0.15):
        data, name = texts.packed(draw, data), f"{name}.gz"
    (run.folder / name).write_bytes(data)
    return name


def play(draw, run, biogpu):
    name, records = write_genome(draw, run)
    how = draw.shuffled(draw.value(0.3, "-a", ("is", "rb2")), draw.value(0.1, "-b", (1000000, 10000000)), glued=True)
    suffix = ".64" if draw.chance(0.12) else ""
    if suffix:
        how.append(draw.note("-6"))
    shim = draw.chance(0.3)
    ours = biogpu.shim("bwa") if shim else biogpu.line("bwt")
    done = run.pair(["bwa", "index", *how, "-p", "theirs", name],
                    [*ours, "index", *([] if shim else ["--format", "bwa"]), *how, "-p", "ours", name])
    if not run.compare_status(*done):
        return
    for part in PARTS:
        run.compare_files(f"theirs{suffix}.{part}", f"ours{suffix}.{part}")
    if run.differences or suffix:
        return
    lengths, *holes = (run.folder / "theirs.amb").read_bytes().split(b"\n")
    if lengths.startswith(b"0 ") or any(hole and len(hole.split()) < 3 for hole in holes):
        run.marks.add("bwa cannot read it")
    for _ in range(draw.upto(2, 1)):
        queries = write_queries(draw, run, records)
        words = draw.shuffled(draw.value(0.7, "-l", (1, 2, 5, 10, 15, 17, 19, 30, 100)),
                              draw.value(0.4, "-w", (0, 1, 2, 5, 100)), draw.flag(0.3, "-p"), glued=True)
        index = draw.of(("theirs", "ours"))
        line = ([*biogpu.shim("bwa"), "fastmap", *words, index, queries] if draw.chance(0.4) else
                [*biogpu.line("bwt", "smem"), "-q", "--device", biogpu.device, *words, "-x", index, queries])
        theirs, ours = run.pair(["bwa", "fastmap", *words, index, queries], line)
        if run.compare_status(theirs, ours):
            run.compare("fastmap", theirs.out, ours.out)
