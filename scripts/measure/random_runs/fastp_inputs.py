"""FASTQ for fastp and `biogpu qc`: pairs that overlap, adapters, tails of one base, awkward records."""

from measure.random_runs import texts

ADAPTER1 = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA"
ADAPTER2 = "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT"


def names(draw, style, n):
    """The names of both mates."""
    if style == "illumina":
        index = "".join(draw.rng.choices("ACGTN", k=draw.of((0, 2, 6, 8))))
        both = f"M01:5:000-A:1:{n % 7}:{n}:{n * 3}"
        return [f"{both} {mate}:N:0:{index}+GGCCTTAA" for mate in (1, 2)]
    if style == "slash":
        return [f"read{n}/{mate}" for mate in (1, 2)]
    if style == "mgi":
        return [f"V300{n}L2C001R002{n:07d}/{mate}" for mate in (1, 2)]
    if style == "two-colour":
        machine = draw.of(("NB501", "NS500", "A00", "NDX55", "VH00", "LH00"))
        return [f"{machine}:8:{n} {mate}:N:0:ACGT" for mate in (1, 2)]
    if style == "awkward":
        title = draw.of((texts.name(draw, n), f"r{n}", "", " ", "x", f"r{n}:", f"r{n} 1:N:0:", f"r{n} +", "a:b+c"))
        return [title, draw.of((title, f"other{n}"))]
    return [f"r{n}", f"r{n}"]


def tail(draw, size):
    kind = draw.upto(5)
    if kind == 0:
        return "G" * size
    if kind == 1:
        return draw.of("ACT") * size
    return "".join(draw.rng.choices("ACGT", k=size))


def mate(draw, fragment, adapter, size):
    """The first bases of a fragment, then adapter, then whatever follows; with errors."""
    text = (fragment + adapter + tail(draw, size))[:size]
    if text and draw.chance(0.4):
        letters = list(text)
        for _ in range(draw.upto(max(1, size // 20), 1)):
            letters[draw.upto(size - 1)] = draw.of("ACGTN")
        text = "".join(letters)
    if draw.chance(0.1) and size > 12:
        run = draw.upto(min(40, size), 5)
        text = text[:size - run] + draw.of("GGAC") * run
    return texts.soiled(draw, text, "NnR.", 0.08)


def pairs(draw, n, style, poor):
    """n pairs of (name, sequence, qualities)."""
    fixed = draw.of((0, 36, 76, 100, 151))
    genome = texts.sequence(draw, 600)
    adapters = draw.of(((ADAPTER1, ADAPTER2), (ADAPTER1, ADAPTER1), ("", ""), ("CTGTCTCTTATACACATCT",) * 2))
    found, fragment = [], ""
    for i in range(n):
        if not (fragment and draw.chance(0.1)):  # else a duplicate
            insert = draw.of((draw.upto(60), draw.upto(150, 30), draw.upto(300, 60)))
            begin = draw.upto(len(genome) - insert)
            fragment = genome[begin:begin + insert]
            fragment = texts.reverse_complement(fragment) if draw.chance(0.5) else fragment
        titles = names(draw, style, i)
        records = []
        for title, text, adapter in zip(titles, (fragment, texts.reverse_complement(fragment)), adapters):
            size = fixed if fixed and draw.chance(0.9) else texts.length(draw)
            bases = mate(draw, text, adapter, size)
            scores = texts.qualities(draw, len(bases)) if poor else "".join(
                chr(33 + draw.upto(41, 28)) for _ in bases)
            records.append((title, bases, scores))
        found.append(records)
    return found


def broken(draw, data):
    """Damage as files have it: cut short, a line lost, a line too short, blank lines, no text at all."""
    kind = draw.of(("cut", "line lost", "short line", "blank line", "no FASTQ", "blank end"))
    lines = data.split(b"\n")
    if kind == "cut":
        return kind, data[:draw.upto(len(data))]
    if kind == "blank end":
        return kind, data + draw.of((b"\n", b"\n\n\n", b"\r\n"))
    if kind == "no FASTQ":
        return kind, draw.of((b">a\nACGT\n", b"hello\n", b"\n", b"@\n", b"@a\nACGT\n+\n"))
    at = draw.upto(len(lines) - 1)
    if kind == "line lost":
        del lines[at]
    elif kind == "short line":
        lines[at] = lines[at][:-1]
    else:
        lines.insert(at, b"")
    return kind, b"\n".join(lines)


def write(draw, run, paired, bgzf_chance=0):
    """The input files; returns (words for the peer, words for biogpu, standard input of both)."""
    style = draw.of(("plain", "plain", "illumina", "illumina", "slash", "mgi", "two-colour", "awkward"))
    draw.note(f"(names: {style})")
    size = draw.of((0, 1, 2, 5, 20, 20, 60, 60, 60, draw.of((60, 300, 1001, 2500))))
    if size > 1000:  # fastp's reads go to its threads by the thousand
        run.marks.add("several packs")
    records = pairs(draw, size, style, draw.chance(0.7))
    mates = [[pair[m] for pair in records] for m in ((0, 1) if paired else (0,))]
    interleaved = paired and draw.chance(0.1)
    if interleaved:
        draw.note("--interleaved_in")
        mates = [[record for pair in records for record in pair]]
    from_stdin = (interleaved or not paired) and draw.chance(0.1)
    damage = draw.chance(0.04)
    words, stdin, n = [], None, 0
    for flag, mate_records in zip(("-i", "-I"), mates):
        end, final = texts.line_end(draw), not draw.chance(0.15)
        if end != "\n":
            run.marks.add(draw.note("(CRLF)"))
        if not final:
            draw.note("(no final newline)")
        if mate_records and not mate_records[-1][1] and not final:
            run.marks.add("(ends in an empty record)")
        data = texts.fastq(draw, mate_records, end, final)
        if damage:
            kind, data = broken(draw, data)
            run.marks |= {"damaged", draw.note(f"(damaged: {kind})")}
        if from_stdin:
            draw.note("--stdin")
            return [*words, "--stdin", *(["--interleaved_in"] * interleaved)], data
        n += 1
        name = f"r{n}.fq"
        if draw.chance(0.25):
            data, name = texts.packed(draw, data), f"{name}.gz"
        elif bgzf_chance and draw.chance(bgzf_chance):
            data, name = texts.joined_bgzf(draw, data), f"{name}.gz"
        (run.folder / name).write_bytes(data)
        words += [flag, name]
    return [*words, *(["--interleaved_in"] * interleaved)], stdin
