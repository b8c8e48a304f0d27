#!/usr/bin/env python3
"""Writes docs/messages.md: every message of an error or warning that the sources have, by the part of the program that prints it.

usage: scripts/dev/list_messages.py [--check]

A message is the text in a call of Error, or of a function named as CALLS says, or a text with "expected" anywhere else. Values become
"...". Its exit code is that of the call, or of the function it calls. A message that docs/troubleshooting.md explains links the section. With
--check the page is compared instead; exit status 1 when it is not current.
"""

import functools
import pathlib
import re
import sys

import check_messages

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/messages.md"
MIN_WORDS = 3  # of a message in docs/troubleshooting.md, beside values
TROUBLESHOOTING = ROOT / "docs/troubleshooting.md"
TEXT = r'"(?:[^"\\]|\\.)*"'
CALLS = re.compile(r"\b(Error|(?:\w+::)*(?:throw_|fail|refuse|require|bad_|wrong_|warn|damaged|malformed|reject)\w*)\s*([({])")
NO_MESSAGES = re.compile(r"(require_own_outputs|require_distinct_files|bad_alloc|add_skip_bad_flag)$")
CODES = {"failed": "1", "usage": "2", "bad_input": "3", "device": "4", "device_memory": "5", "host_memory": "137"}
# Heading, what to do in general, and folders.
PARTS = (
    ("Command line", "Read the message to its end: it says what was expected. `--help` of the command lists its options.",
     ("apps/biogpu/main.cpp", "apps/biogpu/command_line", "apps/biogpu/commands", "apps/biogpu/run", "apps/biogpu/terminal")),
    ("Reading and writing files", "The file is damaged, cut short, of another format, or cannot be written. Look at the named record, "
     "compare the size or checksum with that of the source, and look at the free space of the disk.", ("lib/io", "lib/pipeline")),
    ("align", "See [the page of the command](commands/align.md).", ("apps/biogpu/align", "apps/biogpu/parasail", "lib/align", "gpu/align")),
    ("bwt", "See [the page of the command](commands/bwt.md). An index that does not fit its genome is made again with `biogpu bwt index`.",
     ("apps/biogpu/bwt", "lib/bwt", "gpu/bwt")),
    ("kmer", "See [the page of the command](commands/kmer.md). A damaged database is counted again.",
     ("apps/biogpu/kmer", "lib/kmer", "gpu/kmer")),
    ("qc", "See [the page of the command](commands/qc.md). `--lenient` ends at a damaged record with a warning, as fastp does.",
     ("apps/biogpu/qc", "lib/qc", "gpu/qc")),
    ("infer", "See [the page of the command](commands/infer.md), and [weights](weights.md) for folders of models. `biogpu infer info FOLDER` "
     "shows what a folder holds; `--skip-bad` leaves bad records out.",
     ("apps/biogpu/infer", "lib/models", "lib/tasks", "gpu/models", "lib/tensor", "lib/decode")),
    ("Genomes, tables, molecules, structures and pictures", "The file or record named is malformed, or of another format: "
     "[formats](formats/infer.md) describes what is read.", ("lib/bio", "lib/structure")),
    ("lab and calls from C", "See [the kernel laboratory](commands/lab.md) and [calls from C, NumPy and PyTorch](call_blocks.md).",
     ("apps/biogpu/lab", "lib/lab", "lib/c_api")),
    ("Devices, operations and the machine", "`biogpu devices` says whether a GPU can be used. Messages about shapes of operations are "
     "defects: [report them](../README.md#help).", ("lib/core", "lib/gpu_backend", "lib/ops", "lib/report", "gpu")),
)


def end_of_call(text, begin, opening):
    """Where the bracket that was opened before `begin` is closed."""
    closing = {"(": ")", "{": "}"}[opening]
    depth, i = 1, begin
    while depth and i < len(text):
        if text[i] == '"':
            i += re.match(TEXT, text[i:]).end() - 1 if re.match(TEXT, text[i:]) else 0
        elif text[i] == opening:
            depth += 1
        elif text[i] == closing:
            depth -= 1
        i += 1
    return i


def message_of(code):
    """The texts of a call with "..." for what stands between them."""
    parts = ["".join(text[1:-1] for text in re.findall(TEXT, found[0])) for found in re.finditer(rf"(?:{TEXT}\s*)+", code)]
    text = re.sub(r"\{[^{}]*\}", "...", "...".join(part.replace("{{", "\x01").replace("}}", "\x02") for part in parts))
    text = text.replace("\x01", "{").replace("\x02", "}").replace('\\"', '"').replace("\\n", " ").replace("\\t", " ")
    text = re.sub(r"(?:\.\.\.[,.: ]*){2,}", "... ", text)
    text = re.sub(r"^\.\.\.[:,;] ", "", " ".join(text.split())).rstrip(" ;,:").lstrip(" ;,:")
    return text.rstrip(".") + "..." if text.endswith("...") else text


def is_message(text):
    return len(re.findall(r"[a-z]{2,}", text)) >= 2 and " " in text.strip(" .") and "%" not in text


@functools.cache
def sources():
    """{path: text without comments}."""
    found = {}
    for folder in ("apps/biogpu", "lib", "gpu"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".hip"):
                text = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.M)
                found[str(path.relative_to(ROOT))] = text
    return found


@functools.cache
def codes_in(name, paths, depth):
    """Exit codes of the errors of a helper, by its definitions in the sources."""
    codes = set()
    for text in (sources()[path] for path in paths):
        if name not in text:
            continue
        for found in re.finditer(rf"\b{name}\b(?:\s*=\s*\[[^]]*\]\s*)?\([^;{{}}]*\)[^;{{}}]*\{{", text):
            body = text[found.end():end_of_call(text, found.end(), "{")]
            own = set(re.findall(r"ErrorCode::(\w+)", body))
            if not own and depth > 0:
                for call in CALLS.finditer(body):
                    own |= codes_in(call[1].split("::")[-1], paths, depth - 1)
            codes |= own
    return codes


@functools.cache
def code_of_function(name, path):
    """The exit code of a helper's errors: by its definition in the source, in its folder, or anywhere; empty where they differ."""
    folder = path.rsplit("/", 1)[0]
    for paths in ((path,), tuple(other for other in sources() if other.startswith(folder)), tuple(sources())):
        codes = codes_in(name, paths, 2)
        if codes:
            return CODES[next(iter(codes))] if len(codes) == 1 else ""
    return ""


def messages_of(path, text):
    """(message, exit code or "warning") of a source."""
    end = 0
    for call in CALLS.finditer(text):
        if call.start() < end or NO_MESSAGES.search(call[1]):
            continue
        stop = end_of_call(text, call.end(), call[2])
        code = text[call.end():stop]
        if len(code) > 1500 or '"' not in code or ";\n" in re.sub(TEXT, "", code):
            continue  # a definition, or a call without a text
        end = stop
        name = call[1].split("::")[-1]
        found = re.search(r"ErrorCode::(\w+)", code)
        kind = "warning" if name.startswith("warn") else CODES[found[1]] if found else code_of_function(name, path)
        yield message_of(code), kind
    rest = CALLS.sub(" ", text)
    for found in re.finditer(rf"(?:{TEXT}\s*)+", rest):
        if "expected " in found[0]:
            yield message_of(found[0]), CODES["usage"] if path.startswith("apps/biogpu/command_line") else ""


def explained():
    """[(pieces of a message, heading)] of docs/troubleshooting.md."""
    heading, found = "", []
    for line in TROUBLESHOOTING.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:]
        if line.startswith("| `"):
            for message in check_messages.MESSAGE.findall(line.split(" | ")[0]):
                pieces = [piece.strip() for piece in check_messages.VARIABLE.split(message)]
                found.append(([piece for piece in pieces if len(piece.split()) > 1], heading))
    return sorted(((pieces, heading) for pieces, heading in found if sum(len(piece.split()) for piece in pieces) >= MIN_WORDS),
                  key=lambda item: -sum(map(len, item[0])))


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def page():
    lists = {heading: {} for heading, _, _ in PARTS}
    for path, text in sources().items():
        heading = max(((len(folder), title) for title, _, folders in PARTS for folder in folders if path.startswith(folder)),
                      default=(0, ""))[1]
        if not heading:
            continue
        for message, kind in messages_of(path, text):
            if is_message(message):
                lists[heading][message] = lists[heading].get(message) or kind
    known = explained()
    lines = ["# All messages", "", "<!-- Made by scripts/dev/list_messages.py; do not edit. -->", "",
             "Search this page for words of a message. `...` stands for a value, such as a name, a number or a record. The second column has "
             "the [exit code](commands/exit-codes.md), if all callers give the same, or says that the message is a warning. [Troubleshooting](troubleshooting.md) explains "
             "common messages, and is linked where it does.", ""]
    for heading, advice, _ in PARTS:
        lines += [f"## {heading}", "", advice, "", "| message | exit code | |", "| --- | --- | --- |"]
        for message in sorted(lists[heading], key=lambda text: text.lstrip(". :'-").lower()):
            section = next((title for pieces, title in known if all(piece in message for piece in pieces)), "")
            link = f"[explained](troubleshooting.md#{anchor(section)})" if section else ""
            text = message.replace("`", "'").replace("|", "\\|")
            lines.append(f"| `{text}` | {lists[heading][message]} | {link} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n", sum(map(len, lists.values()))


def main():
    text, n_messages = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            print("docs/messages.md is not current; run scripts/dev/list_messages.py")
            return 1
    else:
        PAGE.write_text(text, encoding="utf-8")
    print(f"list_messages: {n_messages} messages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
