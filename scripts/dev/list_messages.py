#!/usr/bin/env python3
"""Writes docs/messages.md: every message of an error or warning that the sources have, by the part of the program that prints it.

usage: scripts/dev/list_messages.py [--check]

A message is the text in a call of Error, or of a function named as CALLS says, or a text with "expected" anywhere else. Values become
"...". Its exit code is that of the call, of the function it calls, or of the errors of the function that it stands in. A function is looked for
in the source, then in what the source includes, then in its folder. A message that docs/troubleshooting.md explains links the section. With
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
# Texts that are made in one place and put into an error in another: what readers of files say is of bad input.
CODES_OF_CALLERS = (("apps/biogpu", "2"), ("lib/qc/options", "2"), ("lib/io/output/suffix", "2"), ("lib/io/arrays", "3"), ("lib/io/images", "3"),
                    ("lib/io/records", "3"), ("lib/bio", "3"), ("lib/structure", "3"), ("lib/kmer/database", "3"), ("lib/models", "3"),
                    ("lib/c_api", "2"), ("lib/ops", "1"), ("lib/pipeline/resume_log", "3"),
                    ("apps/biogpu/infer/molecules/trajectory_input", "3"))
NOT_OF_THE_PROGRAM = re.compile(r"_emulated\.")  # they end a test
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
    return len(re.findall(r"[a-z]{2,}", text)) >= 2 and " " in text.strip(" .") and "%" not in text and "by chance" not in text


@functools.cache
def sources():
    """{path: text without comments}."""
    found = {}
    for folder in ("apps/biogpu", "lib", "gpu"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".hip") and not NOT_OF_THE_PROGRAM.search(path.name):
                text = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.M)
                found[str(path.relative_to(ROOT))] = text
    return found


@functools.cache
def code_without_texts(path):
    """A source with blanks in place of what stands in its texts, so that their brackets do not count."""
    return re.sub(TEXT, lambda found: '"' + " " * (len(found[0]) - 2) + '"', sources()[path])


def n_parts(code):
    """Arguments of a call, or parameters of a function: what stands between commas that no bracket surrounds."""
    while (bare := re.sub(r"[({\[<][^(){}\[\]<>]*[)}\]>]", " ", code)) != code:
        code = bare
    return code.count(",") + 1


def codes_of_definitions(name, path, depth, before=None, n_arguments=0):
    """Exit codes of the errors of a helper, by its definitions in a source; by those with as many parameters as a call, and the last one before
    a place, where these are given."""
    text = code_without_texts(path)
    found = list(re.finditer(rf"\b{name}\b(?:\s*=\s*\[[^]]*\]\s*)?\([^;{{}}]*\)[^;{{}}]*\{{", text))
    parameters = [n_parts(match[0][match[0].index("(", match[0].find("]") + 1) + 1:match[0].rindex(")")]) for match in found]
    if n_arguments in parameters:
        found = [match for match, n in zip(found, parameters) if n == n_arguments]
    if before is not None:
        found = [match for match in found if match.start() < before][-1:] or found
    codes = set()
    for match in found:
        body = text[match.end():end_of_call(text, match.end(), "{")]
        own = set(re.findall(r"ErrorCode::(\w+)", body))
        if not own and depth > 0:
            for call in CALLS.finditer(body):
                other = call[1].split("::")[-1]
                own |= codes_of_definitions(other, path, 0) or codes_in(other, with_included((path,)), depth - 1)
        codes |= own
    return codes


@functools.cache
def codes_in(name, paths, depth):
    return set().union(*(codes_of_definitions(name, path, depth) for path in paths if name in sources()[path]))


@functools.cache
def with_included(paths):
    """The sources, what they include, and the .cpp of each included header."""
    found = set(paths)
    for path in paths:
        for header in re.findall(r'^#include "([^"]+)"', sources()[path], re.M):
            found |= {header, header.removesuffix(".hpp") + ".cpp"} & sources().keys()
    return tuple(sorted(found))


@functools.cache
def nearest_first(path):
    """Sets of sources in which a function of a source may be defined."""
    folder = path.rsplit("/", 1)[0] + "/"
    stem = path.rsplit(".", 1)[0]
    pair = tuple(sorted({stem + suffix for suffix in (".hpp", ".cpp")} & sources().keys())) or (path,)
    included = with_included(pair)
    return (pair, tuple(other for other in included if other.startswith(folder)), included,
            tuple(other for other in sources() if other.startswith(folder)), with_included(included), tuple(sources()))


def one_code(codes):
    return CODES[codes.pop()] if len(codes) == 1 else ""


@functools.cache
def code_of_function(name, path, before, n_arguments=0):
    """The exit code of a helper's errors, by its nearest definition; empty where they differ."""
    codes = codes_of_definitions(name, path, 2, before, n_arguments)
    for paths in () if codes else nearest_first(path):
        codes = codes or codes_in(name, paths, 2)
    return one_code(set(codes))


def code_around(text, position, path):
    """The exit code of a text that is no argument of an error: of the errors of its function, else of its source, else of the functions that
    the source calls; empty where they differ."""
    begin = max((found.end() for found in re.finditer(r"^(?!#|namespace)\S[^;\n]*\{\n", text[:position], re.M)), default=0)
    for first, part in ((begin, text[begin:end_of_call(text, begin, "{")]), (0, text)):
        own = set(re.findall(r"ErrorCode::(\w+)", part))
        if len(own) == 1:
            return one_code(own)
        called = set() if own else {code_of_function(call[1].split("::")[-1], path, first + call.start()) for call in CALLS.finditer(part)} - {""}
        if len(called) == 1:
            return called.pop()
    return code_of_callers(path)


def code_of_callers(path):
    """Of a text that goes into an error elsewhere."""
    return max(((len(folder), code) for folder, code in CODES_OF_CALLERS if path.startswith(folder)), default=(0, ""))[1]


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
        kind = "warning" if name.startswith("warn") else CODES[found[1]] if found else (
            code_of_function(name, path, call.start(), n_parts(re.sub(TEXT, "x", code[:-1]))) or code_of_callers(path))
        yield message_of(code), kind
    rest = CALLS.sub(" ", text)
    for found in re.finditer(rf"(?:{TEXT}\s*)+", rest):
        if "expected " in found[0]:
            in_command_line = path.startswith("apps/biogpu/command_line")
            yield message_of(found[0]), CODES["usage"] if in_command_line else code_around(rest, found.start(), path)


def explained():
    """[(pieces of a message, heading)] of docs/troubleshooting.md."""
    heading, found = "", []
    for line in TROUBLESHOOTING.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:]
        if line.startswith("| `"):
            for message in check_messages.MESSAGE.findall(line.split(" | ")[0]):
                pieces = [piece.strip() for piece in check_messages.VARIABLE.split(message)]
                found.append(([piece for piece in pieces if re.search(r"\w", piece)], heading))
    def n_words(pieces):
        return sum(len(piece.split()) for piece in pieces if " " in piece)

    return sorted(((pieces, heading) for pieces, heading in found if n_words(pieces) >= MIN_WORDS),
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
             "the [exit code](commands/exit-codes.md), or says that the message is a warning. [Troubleshooting](troubleshooting.md) explains "
             "common messages, and is linked where it does.", ""]
    for heading, advice, _ in PARTS:
        lines += [f"## {heading}", "", advice, "", "| message | exit code | |", "| --- | --- | --- |"]
        for message in sorted(lists[heading], key=lambda text: text.lstrip(". :'-").lower()):
            section = next((title for pieces, title in known if all(piece in message for piece in pieces)), "")
            link = f"[explained](troubleshooting.md#{anchor(section)})" if section else ""
            text = message.replace("`", "'").replace("|", "\\|")
            lines.append(f"| `{text}` | {lists[heading][message]} | {link} |")
        lines.append("")
    without_code = [message for messages in lists.values() for message, kind in messages.items() if not kind]
    return "\n".join(lines).rstrip() + "\n", sum(map(len, lists.values())), without_code


def main():
    text, n_messages, without_code = page()
    if without_code:
        print("list_messages: no exit code is found; name the folder in CODES_OF_CALLERS:", *without_code, sep="\n  ")
        return 1
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
