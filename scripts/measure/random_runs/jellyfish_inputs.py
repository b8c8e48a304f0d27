"""Files of sequences for Jellyfish and `biogpu kmer`: pieces of one small genome, so that k-mers come again."""

from measure.random_runs import texts


def pieces(draw, genome, n):
    """(name, sequence) of reads: pieces of either strand, odd letters, shorter than any k, or empty."""
    records = []
    for i in range(n):
        if draw.chance(0.7) and genome:
            begin = draw.upto(len(genome) - 1)
            text = genome[begin:begin + draw.upto(150)]
            text = texts.reverse_complement(text) if draw.chance(0.5) else text
        else:
            text = texts.sequence(draw, texts.length(draw))
        records.append((texts.name(draw, i), texts.soiled(draw, text, "NnRYUu-.*")))
    return records


def write(draw, run, genome, stem):
    """One file; returns its names for the peer and for biogpu, which reads gzip."""
    records = pieces(draw, genome, draw.of((0, 1, 2, 5, 20, 20, 60)))
    end, final = texts.line_end(draw), not draw.chance(0.15)
    if end != "\n":
        run.marks.add(draw.note("(CRLF)"))
    if any(not text for _, text in records):
        draw.note("(empty record)")
    if draw.chance(0.5):
        data = texts.fasta(draw, records, end, final, draw.of((0, 0, 1, 7, 60)))
        name = f"{stem}.fa"
        draw.note("(FASTA)")
    else:
        data = texts.fastq(draw, [(title, text, texts.qualities(draw, len(text))) for title, text in records], end,
                           final)
        name = f"{stem}.fq"
        if records and not final:
            run.marks.add("FASTQ cut")
        draw.note("(FASTQ)")
    (run.folder / name).write_bytes(data)
    if draw.chance(0.15):
        (run.folder / f"{name}.gz").write_bytes(texts.packed(draw, data))
        return name, f"{name}.gz"
    return name, name


def words(draw, genome, k):
    """k-mers to look up: of the genome, random, in lower case, too long, too short, with other letters."""
    found = []
    for _ in range(draw.upto(6, 1)):
        begin = draw.upto(max(0, len(genome) - k))
        word = genome[begin:begin + k] if draw.chance(0.6) else texts.sequence(draw, k)
        kind = draw.upto(11)
        if kind == 0:
            word = word.lower()
        elif kind == 1:
            word = word[:-1] or "A"
        elif kind == 2:
            word += draw.of("ACGT")
        elif kind == 3:
            word = "N" + word[1:]
        found.append(word or "A")
    return found
