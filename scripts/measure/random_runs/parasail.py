"""parasail_aligner and `biogpu align parasail`: functions, matrices, filters and formats."""

import re

from measure.random_runs import texts
from measure.random_runs.frame import Known

PROGRAM = "parasail_aligner"
PAGE = "docs/commands/align-parasail.md"
MODES = ("nw", "sg", "sg_qb", "sg_qe", "sg_qx", "sg_db", "sg_de", "sg_dx", "sg_qb_de", "sg_qe_db", "sg_qb_db",
         "sg_qe_de", "sw")


def without_leading_gap(data):
    """SAM lines of which a gap at the begin of a local path is taken off."""
    lines = []
    for line in data.decode().splitlines():
        fields = line.split("\t")
        gap = re.match(r"(\d+)([DI])(.*)", fields[5]) if not line.startswith("@") and len(fields) > 12 else None
        if gap:
            size, kind, rest = int(gap[1]), gap[2], gap[3]
            fields[3] = str(int(fields[3]) + size) if kind == "D" else fields[3]
            fields[5] = (f"{size}S" if kind == "I" else "") + rest
            fields[12] = f"NM:i:{int(fields[12].split(':')[2]) - size}"
        lines.append("\t".join(fields))
    return "\n".join(lines)


def without_begins(data):
    return re.sub(rb"(target|query)_begin: \d*", b"", data)


KNOWN = [
    Known("leading gap, SAM", PAGE, "gets a leading gap and position 1 in SAM and SSW", ("local",),
          canonical=without_leading_gap),
    Known("leading gap, SSW", PAGE, "gets a leading gap and position 1 in SAM and SSW", ("local",),
          canonical=without_begins),
    Known("striped, equal gap costs", PAGE, "striped functions score too low where gap open and extend are equal",
          ("striped", "equal gaps")),
    Known("no positive score", PAGE, "striped functions report −32768 where no residue scores above 0", ("striped",),
          r"peer .*-32768"),
    Known("diag functions", PAGE, "and `diag` functions −32762", ("diag",)),
    Known("diag functions", PAGE, "and `diag` functions −32762", ("diag",), "^status: peer 1 .Caught SIG.*biogpu 0"),
    Known("empty sequence", PAGE, "an empty sequence gives an error and a made-up row", ("(empty record)",)),
    Known("empty sequence", PAGE, "an empty sequence gives an error and a made-up row, or a crash", ("(empty record)",),
          "^status: peer 1 .Caught SIG.*biogpu 0"),
    Known("aliases", PAGE, "aliases `XYab` also pair Y with a", ("aliases",)),
    Known("identity of nothing", PAGE, "identity of an empty alignment is `-nan%`", (), "nan%"),
    Known("saturation", PAGE, "8- and 16-bit functions drop a record whose score saturates", ("(8 bits)",)),
    Known("_sat near -128", PAGE, "`_sat` functions begin with 8 bits and take some scores near −128 for right", ("(sat)",),
          r"peer b'[0-9,]*-1[0-9][0-9],"),
    Known("nw_banded", PAGE, "`nw_banded` crashes", ("nw_banded",)),
]


def related(draw, letters, n, most):
    """Records of which every other one is a changed copy of one before it."""
    found = []
    for i in range(n):
        size = draw.upto(most, 1)
        text = texts.sequence(draw, size, letters)
        if found and draw.chance(0.5):
            text = draw.of(found)[1]
            text = "".join(draw.of(letters) if draw.chance(0.1) else c for c in text if not draw.chance(0.05)) or "A"
            text = text[draw.upto(min(5, len(text) - 1)):]
        found.append((f"s{i}{draw.of(('', ' some words', '|x'))}", text))
    return found


def write(draw, run, letters, odd, stem):
    clean = related(draw, letters, draw.of((2, 3, 6, 10)), draw.of((6, 30, 60, 60, 150)))
    records = [(name, texts.soiled(draw, text, odd, 0.2)) for name, text in clean]
    if draw.chance(0.03):
        run.marks.add(draw.note("(empty record)"))
        records.insert(draw.upto(len(records)), ("none", ""))
    end, final = texts.line_end(draw, 0.06), not draw.chance(0.15)
    if end != "\n":
        run.marks.add(draw.note("(CRLF)"))
    if draw.chance(0.2):
        draw.note("(FASTQ)")
        scored = [(title, text, "I" * len(text)) for title, text in records]
        data, name = texts.fastq(draw, scored, end, final), f"{stem}.fq"
    else:
        data, name = texts.fasta(draw, records, end, final, draw.of((0, 0, 10, 60))), f"{stem}.fa"
    if draw.chance(0.1):
        data, name = texts.packed(draw, data), f"{name}.gz"
    (run.folder / name).write_bytes(data)
    return name


def draw_scores(draw, run, dna):
    """Gap costs and matrix."""
    extend = draw.of((0, 1, 1, 2, 3))
    opening = extend if draw.chance(0.1) else extend + draw.upto(12, 1)
    if opening == extend:
        run.marks.add("equal gaps")
    words = [*draw.value(0.8, "-o", (opening,))]
    words += draw.value(1 if words else 0.3, "-e", (extend,) if words else (1, 2))
    if dna and draw.chance(0.7):
        words += [draw.note("-d"), *draw.value(0.9, "-M", (1, 2, 5)), *draw.value(0.9, "-X", (0, 1, 2, 3, 4))]
    elif dna:
        words += draw.value(0.8, "-m", ("nuc44", "dnafull"))
    else:
        words += draw.value(0.6, "-m", ("blosum45", "blosum50", "blosum62", "blosum80", "blosum90", "blosum100",
                                        "pam30", "pam70", "pam120", "pam250", "blosum30"))
    if draw.chance(0.06):
        run.marks.add("aliases")
        words += [draw.note("-A"), draw.of(("TU", "IL", "TUNA"))]
        if words[-1] in ("TU", "IL"):
            run.marks.discard("aliases")
    return words


def draw_function(draw, run):
    """-a and what belongs to its output."""
    mode, how = draw.of(MODES), draw.of(("striped", "striped", "striped", "striped", "scan", "scan", "scan", "diag"))
    kind = draw.of(("", "_stats", "_trace", "_trace", "_stats", "_rowcol", "_table"))
    width = draw.of(("_16", "_16", "_32", "_64", "_sat", "_8"))
    if width == "_8":
        run.marks.add(draw.note("(8 bits)"))
    if width == "_sat":
        run.marks.add("(sat)")
    run.marks.add(how)
    if mode == "sw":
        run.marks.add("local")
    draw.note(f"{mode}")
    draw.note(f"({kind.strip('_') or 'score'})")
    words = ["-a", f"{mode}{kind}_{how}{width}"]
    if kind == "_trace":
        words += draw.value(1, "-O", ("SAM", "SAMH", "EMBOSS", "SSW"))
    elif kind == "_stats" and draw.chance(0.3):
        words += [draw.note(draw.of(("-E", "-G"))), *draw.value(0.6, "-l", (0, 20, 50, 80, 100)), *draw.value(
            0.6, "-s", (0, 20, 40, 100)), *draw.value(0.6, "-i", (0, 10, 30, 100))]
    return words, kind == "_table"


def play(draw, run, biogpu):
    dna = draw.chance(0.5)
    draw.note("(DNA)" if dna else "(protein)")
    letters, odd = (texts.DNA, "NRYU") if dna else (texts.PROTEIN, "XBZJUO*")
    inputs = ["-f", write(draw, run, letters, odd, "database")]
    if draw.chance(0.7):
        inputs += [draw.note("-q"), write(draw, run, letters, odd, "queries")]
    function, tables = draw_function(draw, run)
    words = draw.shuffled(inputs, draw.flag(0.75, "-x") or draw.value(0.7, "-c", (1, 2, 3, 5, 7, 10)), function,
                          draw_scores(draw, run, dna), draw.flag(0.15, "-C"), draw.value(0.1, "-b", (1, 3, 100)),
                          glued=True)
    ours = biogpu.shim("parasail_aligner") if draw.chance(0.3) else biogpu.line("align", "parasail")
    done = run.pair(["parasail_aligner", "-t", "1", "-g", "theirs.out", *words], [*ours, "-g", "ours.out", *words],
                    idle_stdin=True)
    if tables:
        for path in run.folder.glob("parasail_*.txt"):
            path.unlink()
    if run.compare_status(*done):
        run.compare_files("theirs.out", "ours.out", KNOWN)
