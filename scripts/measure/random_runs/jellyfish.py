"""Jellyfish and `biogpu kmer`: count with random options, then commands that read the databases of either side."""

import json

from measure.random_runs import jellyfish_inputs, texts
from measure.random_runs.frame import Known

PROGRAM = "jellyfish"
PAGE = "docs/formats/jellyfish.md"
KNOWN = [
    Known("the table grew", PAGE, "No hash table is filled, so `-s` decides the order and nothing else",
          ("resized",), r"^(records|header|other order)"),
    Known("carriage returns under -Q", PAGE, "Carriage returns at line ends never count, also with `-Q`",
          ("(CRLF)", "-Q"), "^(records|header|status)"),
    Known("--out-counter-len 8", PAGE, "`--out-counter-len 8` holds counts; Jellyfish 2.3.0 writes zeros",
          ("counter 8",)),
    Known("canonical after merge", PAGE, "keeps `canonical`, which Jellyfish's merge loses", ("merge",),
          "^header: canonical"),
    Known("merge of other sizes", PAGE, "`merge` takes files of any size and matrix", ("merge", "resized"), "status"),
    Known("other letters in a query", PAGE, "A k-mer with letters other than ACGT is an `Invalid mer` for `query`",
          ("odd query",), "^(query|ours.txt)"),
    Known("generators", PAGE, "With `-g` Jellyfish 2.3.0 at times counts lines of qualities", ("-g",), "^(records|header)"),
    Known("-L above -U", PAGE, "`-L` above `-U` is refused; Jellyfish writes a database of nothing", (),
          "^status: peer 0 .*biogpu 2 .*no k-mer has such a count"),
    Known("FASTQ without a last newline", PAGE, "FASTQ whose last line has no newline counts whole", ("FASTQ cut",),
          "^(records|header: (size|matrix1|reprobes|max_reprobe)|other order)"),
]
LONG = {"-m": "--mer-len", "-s": "--size", "-t": "--threads", "-F": "--Files", "-C": "--canonical",
        "-Q": "--min-qual-char", "-c": "--counter-len", "-L": "--lower-count", "-U": "--upper-count", "-p": "--reprobes"}
HEADER_KEYS = ("canonical", "counter_len", "format", "key_len", "matrix1", "max_reprobe", "reprobes", "size")


def parts(path):
    """Header and body of a .jf file, (None, bytes) of anything else."""
    data = path.read_bytes() if path.is_file() else b"(no such file)"
    if not data[:9].isdigit():
        return None, data
    n = 9 + int(data[:9])
    return json.loads(data[9:n].rstrip(b"\0").decode()), data[n:]


def compare_databases(run, theirs, ours):
    """Records byte by byte and what the header says of them."""
    (their_header, their_body), (our_header, our_body) = (parts(run.folder / name) for name in (theirs, ours))
    if their_header is None or our_header is None:
        run.differences.append(f"no database: peer {their_header is not None}, biogpu {our_header is not None}")
        return
    grown_to_all = their_header["matrix1"]["identity"] and not our_header["matrix1"]["identity"]
    if their_header["size"] != our_header["size"] or grown_to_all:
        run.marks.add("resized")
        their_body, our_body = (sorted_records(*part) for part in ((their_header, their_body), (our_header, our_body)))
        run.explained.append("the table grew")
    for key in HEADER_KEYS:
        if "resized" in run.marks and key in ("size", "matrix1", "max_reprobe", "reprobes"):
            continue
        if their_header.get(key) != our_header.get(key):
            run.differences.append(f"header: {key}: peer {their_header.get(key)}, biogpu {our_header.get(key)}")
    run.n_compared += 1
    if their_body != our_body:
        run.differences.append(f"records: peer {len(their_body)} bytes, biogpu {len(our_body)}")


def sorted_records(header, body):
    if header["format"].startswith("text"):
        return b"".join(sorted(body.splitlines(True)))
    size = (header["key_len"] + 7) // 8 + header["counter_len"]
    return b"".join(sorted(body[i:i + size] for i in range(0, len(body), size)))


def draw_count(draw, run, k):
    """Options of count that both sides get."""
    most = 4 ** min(k, 12)
    size = draw.value(1, "-s", ("10k", "100k", "100000", "1M", "1000", str(most), str(most - 1), "3M"))
    quality = draw.value(0.12, "-Q", "!#+5?I~")
    if not quality and draw.chance(0.1):
        start = draw.of((33, 64))
        quality = ["--quality-start", str(start), *draw.value(1, "--min-quality", (0, 1, 10, 20, 40, 62))]
    if quality:
        run.marks.add("-Q")
    counter = draw.value(0.15, "--out-counter-len", (1, 2, 3, 4, 8))
    if counter and counter[1] == "8":
        run.marks.add("counter 8")
    text = draw.flag(0.08, "--text")
    if text:
        run.marks.add("text")
    canonical = draw.flag(0.5, "-C")
    if canonical:
        run.marks.add("canonical")
    length = ["-m", str(k)]
    if draw.chance(0.04):
        draw.note("(octal, hexadecimal)")
        length[1] = draw.of((f"0{k:o}", f"0x{k:x}"))
    least = draw.value(0.15, "-L", (0, 1, 2, 3, 10))
    if least and draw.chance(0.15):
        draw.note("(option given twice)")
        least = [*least, "-L", draw.of("012")]
    return draw.shuffled(
        length, size, quality, counter, text, canonical, draw.value(0.1, "-c", (1, 3, 7, 16)),
        least, draw.value(0.12, "-U", (1, 2, 5, 100)), draw.value(0.1, "-p", (20, 62, 126)),
        draw.value(0.3, "-t", (1, 2, 3)), draw.value(0.05, "-F", (1, 2)), draw.flag(0.03, "--disk"),
        longs=LONG, glued=True)


def play_count(draw, run, biogpu, k, genome):
    """Counts on both sides; True where both worked."""
    options = draw_count(draw, run, k)
    names = [jellyfish_inputs.write(draw, run, genome, f"in{i}") for i in range(draw.of((1, 1, 2, 3)))]
    extra, kind = [], draw.upto(11)
    if kind == 0:
        wanted = jellyfish_inputs.write(draw, run, genome, "wanted")[0]
        extra = [draw.note("--if"), wanted]
    elif kind == 1:
        extra = [draw.note("--bf-size"), "1M"]
    elif kind == 2:
        common = ["-m", k, "-s", "10k", *(["-C"] * ("canonical" in run.marks)), "-o"]
        made = run.pair(["jellyfish", "bc", *common, "theirs.bc", *(theirs for theirs, _ in names)],
                        [*biogpu.line("kmer", "bc"), *common, "ours.bc", *(ours for _, ours in names)])
        if not run.compare_status(*made):
            return None
        extra = [draw.note("--bc"), draw.of(("theirs.bc", "ours.bc"))]
    ours = biogpu.shim("jellyfish") if draw.chance(0.3) else [*biogpu.line("kmer")]
    generator = draw.chance(0.05)
    inputs = [[theirs for theirs, _ in names], [ours for _, ours in names]]
    if generator:
        run.marks.add(draw.note("-g"))
        (run.folder / "commands").write_text("".join(f"cat {name}\n" for name in inputs[0]), encoding="ascii")
        inputs = [["-g", "commands"], ["-g", "commands"]]
    done = run.pair(["jellyfish", "count", *options, *extra, "-o", "theirs.jf", *inputs[0]],
                    [*ours, "count", *options, *extra, "--device", biogpu.device, "-o", "ours.jf", *inputs[1]])
    if not run.compare_status(*done):
        return None
    compare_databases(run, "theirs.jf", "ours.jf")
    return options


def same_output(draw, run, biogpu, command, words, what=None, **options):
    """One reading command of both programs; standard output or -o."""
    line = biogpu.shim("jellyfish") if draw.chance(0.3) else biogpu.line("kmer")
    to_file = command != "info" and draw.chance(0.3)
    output = [["-o", "theirs.txt"], ["-o", "ours.txt"]] if to_file else [[], []]
    theirs, ours = run.pair(["jellyfish", command, *output[0], *words], [*line, command, *output[1], *words],
                            **options)
    if run.compare_status(theirs, ours):
        if to_file:
            run.compare_files("theirs.txt", "ours.txt")
        else:
            run.compare(what or command, theirs.out, ours.out)


def play_query(draw, run, biogpu, database, k, genome):
    words = jellyfish_inputs.words(draw, genome, k)
    if any(set(word.upper()) - set("ACGT") for word in words):
        run.marks.add("odd query")
    how = draw.upto(2)
    if how == 0:
        same_output(draw, run, biogpu, "query", [database, *words], "query")
    elif how == 1:
        draw.note("query -i")
        same_output(draw, run, biogpu, "query", ["-i", database], "query",
                    stdin=("\n".join(words) + "\n").encode())
    else:
        records = jellyfish_inputs.pieces(draw, genome, 4)
        (run.folder / "query.fa").write_bytes(texts.fasta(draw, records, width=draw.of((0, 30))))
        draw.note("query -s")
        loading = draw.of(([], [], ["-l"], ["-L"]))
        same_output(draw, run, biogpu, "query", ["-s", "query.fa", *loading, database], "query")


def play_merge(draw, run, biogpu, k, genome, options):
    """A second database with the same options, then both merges."""
    name = jellyfish_inputs.write(draw, run, genome, "second")
    first = run.pair(["jellyfish", "count", *options, "-o", "theirs2.jf", name[0]],
                     [*biogpu.line("kmer"), "count", "-q", *options, "-o", "ours2.jf", name[1]])
    if not run.compare_status(*first):
        return
    compare_databases(run, "theirs2.jf", "ours2.jf")
    run.marks.add("merge")
    how = draw.shuffled(draw.of(([], [], ["-m"], ["-M"], ["-j"])), draw.value(0.2, "-L", (0, 1, 2, 4)),
                        draw.value(0.2, "-U", (1, 3, 50)))
    for option in how:
        if option in ("-m", "-M", "-j"):
            draw.note(f"merge {option}")
    inputs = draw.of((("theirs.jf", "theirs2.jf"), ("ours.jf", "ours2.jf"), ("theirs.jf", "ours2.jf", "theirs.jf")))
    done = run.pair(["jellyfish", "merge", *how, "-o", "theirs3.jf", *inputs],
                    [*biogpu.line("kmer", "merge"), *how, "-o", "ours3.jf", *inputs])
    if run.compare_status(*done):
        if "-j" in how:
            run.compare_files("theirs3.jf", "ours3.jf")
        else:
            compare_databases(run, "theirs3.jf", "ours3.jf")


def play(draw, run, biogpu):
    k = draw.of((1, 2, 3, 4, 5, 7, 8, 11, 12, 15, 16, 17, 20, 21, 21, 25, 31, 31, 32, 33, 40, 55, 63, 64, 65, 100))
    draw.note("(k even)" if k % 2 == 0 else "(k odd)")
    genome = texts.sequence(draw, draw.of((1, 30, 200, 1000, 3000)))
    options = play_count(draw, run, biogpu, k, genome)
    if options is None:
        return
    database = draw.of(("theirs.jf", "ours.jf"))
    for _ in range(draw.upto(3, 1)):
        command = draw.note(draw.of(("dump", "histo", "stats", "query", "merge", "info")))
        limits = [*draw.value(0.3, f"{command} -L", (0, 1, 2, 5)), *draw.value(0.3, f"{command} -U", (1, 2, 7, 1000))]
        limits = [word.split()[-1] for word in limits]
        if command == "dump":
            words = draw.shuffled(limits, draw.flag(0.5, "-c"), draw.flag(0.2, "dump -t") and ["-t"])
            same_output(draw, run, biogpu, "dump", [*words, database])
        elif command == "stats":
            same_output(draw, run, biogpu, "stats", [*limits, database])
        elif command == "histo":
            words = draw.shuffled(draw.value(0.4, "-l", (0, 1, 2, 5, 100)), 
                                  draw.value(0.5, "-h", (0, 1, 3, 20, 10000)), draw.value(0.3, "-i", (1, 2, 3, 10)),
                                  draw.flag(0.2, "-f"))
            same_output(draw, run, biogpu, "histo", [*words, database])
        elif command == "info":
            same_output(draw, run, biogpu, "info", [*draw.of(([], ["-s"], ["-c"])), database])
        elif command == "query":
            play_query(draw, run, biogpu, database, k, genome)
        elif "text" not in run.marks:
            play_merge(draw, run, biogpu, k, genome, options)
