"""`biogpu bwt index`, `count`, `locate` and `extract` compared with a plain search of the text in Python."""

import shlex

from measure.random_runs import texts
from measure.random_runs.frame import call

KNOWN = []


def write(draw, run, records):
    """The genome, with what carries no meaning: blanks, comments, wrapped lines, a byte order mark."""
    text = ""
    width = draw.of((0, 7, 60))
    for name, body in records:
        text += f">{name}{draw.of(('', ' words'))}\n"
        for i in range(0, len(body), width or max(1, len(body))):
            line = body[i:i + (width or len(body))]
            if draw.chance(0.2):
                draw.note("(blanks in lines)")
                line = "".join(c + draw.of(("", "", "", " ", "\t")) for c in line)
            text += line + draw.of(("", "", " ")) + "\n"
            if draw.chance(0.1):
                text += draw.note(";") + "ACGT\n"
    data = text.replace("\n", texts.line_end(draw)).encode()
    if draw.chance(0.2):
        data = b"\xef\xbb\xbf" + data
    name = "genome.fa"
    if draw.chance(0.2):
        data, name = texts.packed(draw, data), "genome.fa.gz"
    (run.folder / name).write_bytes(data)
    return name


def find(query, body, most):
    """(begin, mismatches) of each place of the query with at most so many mismatches."""
    found = []
    for begin in range(len(body) - len(query) + 1):
        part = body[begin:begin + len(query)]
        if any(c not in "ACGT" for c in part):
            continue
        n = sum(a != b for a, b in zip(query, part))
        if n <= most:
            found.append((begin, n))
    return found


def search(draw, run, biogpu, records):
    queries = []
    upper = [(name, body.upper()) for name, body in records]
    for i in range(draw.upto(8, 1)):
        body = draw.of(upper)[1]
        query = texts.sequence(draw, draw.upto(25, 1))
        if body and draw.chance(0.85):
            begin = draw.upto(len(body) - 1)
            query = body[begin:begin + draw.upto(25, 1)]
            query = texts.reverse_complement(query) if draw.chance(0.5) else query
            if draw.chance(0.4):
                at = draw.upto(len(query) - 1)
                query = query[:at] + draw.of("ACGTN") + query[at + 1:]
        queries.append((f"q{i}", query))
    (run.folder / "queries.fa").write_text("".join(f">{name}\n{query}\n" for name, query in queries), encoding="ascii")
    most = draw.of((0, 0, 1, 2, 3))
    strand = draw.of(("both", "both", "forward", "reverse"))
    best = draw.chance(0.3)
    located, counted = [], []
    for name, query in queries:
        ways = [("+", query)] if strand != "reverse" else []
        ways += [("-", texts.reverse_complement(query))] if strand != "forward" else []
        hits = [(j, begin, "+-".index(way), n) for way, text in ways for j, (_, body) in enumerate(upper)
                for begin, n in find(text, body, most)]
        least = min((hit[3] for hit in hits), default=0)
        hits = [hit for hit in hits if not best or hit[3] == least]
        located += [f"{name}\t{upper[j][0]}\t{begin}\t{begin + len(query)}\t{'+-'[way]}\t{n}\n" for j, begin, way, n in sorted(hits)]
        n_forward = sum(hit[2] == 0 for hit in hits)
        counted.append(f"{name}\t{n_forward}\t{len(hits) - n_forward}\t{len(hits)}\n")
    words = ["-k", most, "--strand", strand, "--hits", "best" if best else "all", *draw.value(0.3, "--batch", (1, 2)),
             *draw.value(0.4, "-t", (1, 2))]
    for what, expected in (("locate", located), ("count", counted)):
        line = [*biogpu.line("bwt", what), "-q", "--device", biogpu.device, "-x", "index", *map(str, words), "queries.fa"]
        run.commands.append((f"plain search, {most} mismatches", shlex.join(line)))
        ours = call(line, run.folder)
        if ours.status:
            run.differences.append(f"status: biogpu {ours.status} ({ours.last_error()})")
        else:
            run.compare(what, "".join(expected).encode(), ours.out.partition(b"\n")[2])


def extract(draw, run, biogpu, records):
    name, body = draw.of(records)
    if not body:
        return
    first = draw.upto(len(body), 1)
    last = draw.upto(len(body), first)
    line = [*biogpu.line("bwt", "extract"), "-q", "-x", "index", f"{name}:{first}-{last}"]
    run.commands.append(("a part of the text", shlex.join(line)))
    ours = call(line, run.folder)
    expected = "".join(c if c in "ACGT" else "N" for c in body.upper()[first - 1:last])
    run.compare("extract", expected.encode(), b"".join(ours.out.splitlines()[1:]))


def play(draw, run, biogpu):
    records = []
    for i in range(draw.of((1, 2, 3, 5))):
        body = texts.sequence(draw, draw.of((0, 1, 2, 31, 32, 33, 64, draw.upto(300), draw.upto(900))))
        if records and draw.chance(0.3):
            body = texts.reverse_complement(draw.of(records)[1].upper())
        records.append((f"c{i}", texts.soiled(draw, body, "NnRYK-.", 0.5)))
    name = write(draw, run, records)
    line = [*biogpu.line("bwt", "index"), "-q", "--device", biogpu.device, *draw.value(0.4, "--sa-rate", (1, 2, 7, 64)), "-p", "index", name]
    run.commands.append(("the text", shlex.join(line)))
    done = call(line, run.folder)
    if done.status:
        run.differences.append(f"status: biogpu {done.status} ({done.last_error()})")
        return
    search(draw, run, biogpu, records)
    extract(draw, run, biogpu, records)
