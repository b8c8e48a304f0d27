"""Biopython and `biogpu align`: scores of pairs, best targets, strands, and what a FASTA file holds.

Biopython is a library, so that its side runs in this process: the command shown for it is what was asked of it.
"""

import io
import itertools
import shlex

from measure.random_runs import texts
from measure.random_runs.frame import Known, call

PACKAGE = "Bio"
PAGE = "docs/commands/align.md"
# Free ends of each mode: begin and end of the query, begin and end of the target.
MODES = {"nw": (), "sg": ("qb", "qe", "db", "de"), "sg_qb": ("qb",), "sg_qe": ("qe",), "sg_qx": ("qb", "qe"), "sg_db": ("db",),
         "sg_de": ("de",), "sg_dx": ("db", "de"), "sg_qb_de": ("qb", "de"), "sg_qe_db": ("qe", "db"), "sg_qb_db": ("qb", "db"),
         "sg_qe_de": ("qe", "de"), "sg_qx_db": ("qb", "qe", "db"), "sg_qx_de": ("qb", "qe", "de"),
         "sg_qb_dx": ("qb", "db", "de"), "sg_qe_dx": ("qe", "db", "de"), "sw": ()}
FREE_GAP = {"qb": "left_insertion_score", "qe": "right_insertion_score", "db": "left_deletion_score", "de": "right_deletion_score"}
KNOWN = [
    Known("a whole sequence unaligned", PAGE, "A free end may stay unaligned at no cost, but not a whole sequence",
          ("nothing aligned",), "^scores"),
]


def make_aligner(mode, scores, opening, extend):
    from Bio.Align import PairwiseAligner, substitution_matrices  # pylint: disable=import-outside-toplevel
    aligner = PairwiseAligner()
    aligner.mode = "local" if mode == "sw" else "global"
    if isinstance(scores, str):
        aligner.substitution_matrix = substitution_matrices.load(scores.upper())
    else:
        aligner.match_score, aligner.mismatch_score = scores
    aligner.open_gap_score, aligner.extend_gap_score = -opening, -extend
    for end in MODES[mode]:
        setattr(aligner, FREE_GAP[end], 0)
    return aligner


def score(aligner, query, target, run):
    found = aligner.score(target, query)
    if aligner.mode == "global":  # Biopython's best path may pair no residues at all
        best = aligner.align(target, query)[0]
        if best.coordinates is not None and not best.aligned.size:
            run.marks.add("nothing aligned")
    return int(found)


def write(run, name, records, end="\n", width=0):
    text = "".join(f">{title}{end}" + "".join(body[i:i + (width or len(body))] + end for i in range(0, len(body), width or len(body)))
                   for title, body in records)
    (run.folder / name).write_text(text, encoding="ascii", newline="")


def related(draw, letters, n, most, ancestors):
    records = []
    for i in range(n):
        body = draw.of(ancestors) if ancestors and draw.chance(0.7) else texts.sequence(draw, draw.upto(most, 1), letters)
        begin = draw.upto(len(body) // 2)
        body = "".join(draw.of(letters) if draw.chance(0.08) else c for c in body[begin:] if not draw.chance(0.05)) or letters[0]
        ancestors.append(body)
        records.append((f"s{i}", body))
    return records


def draw_scores(draw, dna):
    """What Biopython wants, and biogpu's options."""
    extend = draw.upto(4)
    opening = extend + draw.upto(12)
    words = ["--gap-open", opening, "--gap-extend", extend]
    draw.note("--gap-open")
    if dna:
        match, mismatch = draw.of((1, 2, 5)), -draw.of((0, 1, 3, 4))
        return (match, mismatch), opening, extend, [*words, "--match", match, "--mismatch", mismatch]
    matrix = draw.of(("blosum45", "blosum50", "blosum62", "blosum90", "pam30", "pam70", "pam250"))
    return matrix, opening, extend, [*words, "--matrix", matrix]


def compare_scores(draw, run, biogpu):
    dna = draw.chance(0.6)
    letters = texts.DNA if dna else texts.PROTEIN
    ancestors = []
    queries = related(draw, letters, draw.upto(4, 1), draw.of((8, 40, 90)), ancestors)
    targets = related(draw, letters, draw.upto(5, 1), draw.of((8, 40, 90)), ancestors)
    if dna and draw.chance(0.6):
        targets = [(name, texts.reverse_complement(body) if draw.chance(0.5) else body) for name, body in targets]
    mode = draw.note(draw.of(list(MODES)))
    scores, opening, extend, words = draw_scores(draw, dna)
    strand = draw.of(("", "", "forward", "reverse", "both")) if dna else ""
    if strand:
        words += [draw.note("--strand"), strand]
    top = draw.upto(3, 1) if draw.chance(0.3) else 0
    if top:
        words += [draw.note("--top"), top]
    words += draw.value(0.3, "--batch", (1, 2, 3)) + draw.value(0.4, "-t", (1, 2))
    columns = "query_index,target_index,score,strand"
    if draw.chance(0.3):
        words += [draw.note("--output"), "score"]
    width = draw.of((0, 0, 7))
    write(run, "queries.fa", queries, texts.line_end(draw), width)
    write(run, "targets.fa", targets, texts.line_end(draw), width)
    strands = {"forward": "+", "reverse": "-"}.get(strand, "+-" if dna else "+")
    aligner = make_aligner(mode, scores, opening, extend)
    rows = []
    for (i, (_, query)), (j, (_, target)) in itertools.product(enumerate(queries), enumerate(targets)):
        both = [(score(aligner, query if way == "+" else texts.reverse_complement(query), target, run), way) for way in strands]
        best, way = max(both, key=lambda one: (one[0], one[1] == "+"))
        rows.append((i, j, best, way))
    if top:
        kept = []
        for i in range(len(queries)):
            mine = sorted((row for row in rows if row[0] == i and (mode != "sw" or row[2] > 0)), key=lambda row: (-row[2], row[1]))
            kept += mine[:top]
        rows = kept
    alphabet = [] if not dna else ["--alphabet", "dna"]
    line = [*biogpu.line("align"), "-q", "--device", biogpu.device, "--mode", mode, *alphabet, *words, "--columns", columns,
            "queries.fa", "targets.fa"]
    run.commands.append((f"Bio.Align.PairwiseAligner {mode} {scores} {opening} {extend} queries.fa targets.fa", shlex.join(map(str, line))))
    ours = call(line, run.folder)
    if ours.status:
        run.differences.append(f"status: biogpu {ours.status} ({ours.last_error()})")
        return
    theirs = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    run.compare("scores", theirs.encode(), ours.out.partition(b"\n")[2])


def compare_files(draw, run, biogpu):
    """A FASTA file with blanks, comments and empty lines, as Biopython's fasta-pearson reads it."""
    from Bio import SeqIO  # pylint: disable=import-outside-toplevel
    end = texts.line_end(draw, 0.3)
    text = "".join(draw.of(("", "", "", ";comment >a\n", "\n", ";\n")) for _ in range(3))
    for i in range(draw.upto(6, 1)):
        text += f">r{i}{draw.of(('', ' words ; more', '  x'))}\n"
        for _ in range(draw.upto(4)):
            kind = draw.upto(7)
            if kind == 0:
                text += draw.note(";") + draw.of(("", " a comment", "ACGT", ">r9")) + "\n"
            elif kind == 1:
                text += draw.of(("", "  ", " \t ")) + "\n"
            else:
                body = texts.sequence(draw, draw.upto(30, 1), texts.PROTEIN + "acgtnXBZ")
                if draw.chance(0.5):
                    draw.note("(blanks in lines)")
                    body = "".join(c + draw.of(("", "", " ", "   ")) for c in body) + draw.of(("", "\t", " \t"))
                text += body + "\n"
    text = text[:-1] if draw.chance(0.3) else text
    data = text.replace("\n", end).encode()
    if draw.chance(0.3):
        data = b"\xef\xbb\xbf" + data
        draw.note("(byte order mark)")
    name = "reads.fa"
    (run.folder / name).write_bytes(data)
    if draw.chance(0.3):
        name = "reads.fa.gz"
        (run.folder / name).write_bytes(texts.packed(draw, data))
    records = list(SeqIO.parse(io.StringIO(data.decode("utf-8-sig").replace("\r\n", "\n")), "fasta-pearson"))
    theirs = "".join(f"{record.id}\t{record.seq if record.seq else '*'}\n" for record in records)
    line = [*biogpu.line("align"), "-q", "--device", biogpu.device, "--mode", "nw", "--alphabet", "protein", "--pairs", "-t",
            str(draw.upto(2, 1)), "--format", "sam", name, name]
    run.commands.append((f"Bio.SeqIO.parse {name} fasta-pearson", shlex.join(line)))
    ours = call(line, run.folder)
    if ours.status:
        run.differences.append(f"status: biogpu {ours.status} ({ours.last_error()})")
        return
    fields = [row.split(b"\t") for row in ours.out.splitlines() if not row.startswith(b"@")]
    run.compare("records", theirs.encode(), b"".join(row[0] + b"\t" + row[9] + b"\n" for row in fields))


def play(draw, run, biogpu):
    if draw.chance(0.3):
        draw.note("(FASTA)")
        compare_files(draw, run, biogpu)
    else:
        compare_scores(draw, run, biogpu)
