"""fastp 0.23.2 and `biogpu qc --profile fastp-0.23`: reads, reports and the log's figures."""

import gzip
import re

from measure.random_runs import fastp_inputs
from measure.random_runs.fastp_options import draw_options
from measure.random_runs.frame import Known

PROGRAM = "fastp"
PAGE = "docs/commands/qc.md"
NOT_SAID = re.compile(rb"^(filter by index, loading .*|[ACGT]+|Outputing unpaired .* --unpaired2 = .*|\[\d\d:\d\d:\d\d\] .*"
                      rb"|You specified --include_unmerged in merging mode\. Ignoring argument --unpaired[12] = .*)\n", re.M)
NO_BASES = re.compile(rb"-?nan%")
KNOWN = [
    Known("percentages of no bases", PAGE, "percentages of no bases in the log | `-nan%` | `0%`",
          canonical=lambda log: NO_BASES.sub(b"0%", NOT_SAID.sub(b"", log))),
    Known("lines of the log", PAGE,
          "names index files and their barcodes, an `--unpaired2` not given, one that `--include_unmerged` ignores as `--unpaired1`, and with `-V` times",
          canonical=lambda log: NOT_SAID.sub(b"", log)),
    Known("one mate file longer", PAGE, "one mate file longer | warning, exit 0 | error, exit 3", ("damaged",),
          "^status: peer 0 .*biogpu 3 .*other mates"),
    Known("damaged input", PAGE, "record with unequal lengths, no `+`, cut short | stops there, exit 0 | error",
          ("damaged",), "^status: peer 0 .*biogpu 3"),
    Known("damage behind the last read", PAGE, "damage behind the last read of `--reads_to_process` | a line in the log | is not read",
          ("damaged", "stopped", "--reads_to_process"), "^log: "),
    Known("gzip of short members", PAGE,
          "gzip of several short members | may cut a line at a member's end and stop there",
          ("(gzip of several members)", "stopped")),
    Known("-D, several threads", PAGE, "`-D` with several threads | keeps a different copy each run",
          ("dedup", "several packs")),
    Known("--stdout, several threads", PAGE, "`--stdout` with several threads | packs in any order | in order",
          ("stdout", "several packs"), "^standard output"),
    Known("adapters of interleaved input", PAGE, "`--detect_adapter_for_pe` with `--interleaved_in` | fails", (),
          "^status: peer 255 .ERROR: Failed to open file"),
    Known("--phred64", PAGE, "`--phred64` on large input | converts some records only | converts all", ("phred64",)),
    Known("-R with a quote", PAGE, "`-R` with a quote | invalid JSON | escaped", ("quote",), "^report"),
    Known("poly-X over a whole read", PAGE, "poly-X over a whole read | reads a byte before the read", ("-x",),
          r"^(report|log|[a-z0-9]+\.fq)"),
    Known("words of no option", PAGE, "a word that belongs to no option | ignored | error, exit 2", ("extra",),
          "^status: peer 0 .*one argument too many"),
    Known("glued value", PAGE, "a value glued to a short option, `-w4` | error, exit 1 | taken", ("glued",), "^status: peer 1 .*biogpu 0"),
    Known("-p, an empty read", PAGE, "`-p`, one read without bases | ends with a signal | works", (), "^status: peer -6 .*substr"),
    Known("-q below 0", PAGE, "`-q` below 0 | counts as 0 | error, exit 2", (), "^status: peer 0 .*qualified_quality_phred is -"),
    Known("empty overlap limit", PAGE, "`--overlap_diff_limit` below 0", ("below 0",)),
]
OWN_LINES = re.compile(rb'^\s*"(command|fastp_version|biogpu)":.*\n', re.M)
LOG_END = re.compile(rb"\nJSON report: .*", re.S)


def report(path):
    """A JSON report without the lines that name program and command, byte by byte otherwise."""
    return OWN_LINES.sub(b"", path.read_bytes()).rstrip() if path.is_file() else b"(no report)"


def contents(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def figures(log):
    """What both programs print of their work, without the lines about the files and the time; remarks in any order."""
    text = LOG_END.sub(b"", b"\n" + log).replace(b"ours/", b"theirs/")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(b"[biogpu ")]
    begin = next((n for n, line in enumerate(lines) if line.startswith(b"Read1 before filtering")), len(lines))
    return b"\n".join([*sorted(lines[:begin]), *lines[begin:]]) + b"\n"


def compare_outputs(run):
    names = {}
    for side in ("theirs", "ours"):
        paths = (run.folder / side).iterdir()
        names[side] = sorted(path.name for path in paths if path.suffix not in (".json", ".html"))
    if names["theirs"] != names["ours"]:
        run.differences.append(f"files: peer {names['theirs']}, biogpu {names['ours']}")
        return
    for name in names["theirs"]:
        try:
            run.compare(name, contents(run.folder / "theirs" / name), contents(run.folder / "ours" / name))
        except (OSError, EOFError) as error:
            run.differences.append(f"{name}: {error}")
    run.compare("report", report(run.folder / "theirs/report.json"), report(run.folder / "ours/report.json"))


def play(draw, run, biogpu, program=PROGRAM, profile=("--profile", "fastp-0.23"), change_options=None,
         bgzf_chance=0):
    """profile: words for biogpu alone; change_options(draw, paired, words): the options for another version of the peer."""
    paired = draw.chance(0.6)
    draw.note("(pairs)" if paired else "(single reads)")
    inputs, stdin = fastp_inputs.write(draw, run, paired, bgzf_chance)
    options = draw_options(draw, run, paired)
    if change_options:
        options = change_options(draw, paired, options)
    for mark, words in (("phred64", ("-6",)), ("-x", ("-x", "-Ax")), ("quote", ("a \"title\"",)), ("glued", ("-w4",)), ("extra", ("extra",))):
        if set(words) & set(options):
            run.marks.add(mark)
    ours = biogpu.shim("fastp") if draw.chance(0.3) else biogpu.line("qc")
    lines = []
    for line, side in (([program], "theirs"), ([*ours, *profile, "--device", biogpu.device], "ours")):
        (run.folder / side).mkdir()
        words = [word.replace("OUT/", f"{side}/") for word in options]
        lines.append([*line, *inputs, *words, "-j", f"{side}/report.json", "-h", f"{side}/report.html"])
    theirs, done = run.pair(*lines, stdin=stdin)
    run.marks |= {"(gzip of several members)", "--reads_to_process"} & set(draw.options)
    if b"different length" in theirs.err or b"Expected '+', got" in theirs.err:
        run.marks.add("stopped")
    if not run.compare_status(theirs, done):
        return
    run.compare("standard output", theirs.out, done.out)
    compare_outputs(run)
    run.compare("log", figures(theirs.err), figures(done.err), KNOWN)
