#!/usr/bin/env python3
"""Checks that the messages in docs/troubleshooting.md are those that the program prints.

usage: scripts/dev/check_messages.py [PAGE]

The first column of a table has messages between backticks. "...", text in single quotes, numbers and words of capitals stand for what changes
from run to run. Every other piece of two words or more has to be in a string of the sources or in an output on the page, which check_docs.py
compares, or is a text of the system (SYSTEM).
Prints PAGE:LINE: the piece; exit status 1 when one is missing.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("apps", "lib", "gpu", "scripts/convert")
SYSTEM = {"No such file or directory", "No space left on device", "File too large", "Bad file descriptor"}
MESSAGE = re.compile(r"`([^`]+)`")
VARIABLE = re.compile(r"\.\.\.|'[^']*'|\b\d[\d.]*\b|\b[A-Z]+\b|[;:,]")
OUTPUT = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
JOINED = re.compile(r'"\s*\n\s*f?"')


def source_text():
    texts = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".hip", ".def", ".py"):
                texts.append(JOINED.sub("", path.read_text(encoding="utf-8")))
    return "\n".join(texts)


def main():
    page = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/troubleshooting.md")
    text = page.read_text(encoding="utf-8")
    source = source_text() + "\n".join(OUTPUT.findall(text))
    n_messages = n_missing = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("| `"):
            continue
        for message in MESSAGE.findall(line.split(" | ")[0]):
            n_messages += 1
            for piece in map(str.strip, VARIABLE.split(message)):
                if len(piece.split()) > 1 and piece not in SYSTEM and piece not in source:
                    n_missing += 1
                    print(f"{page.name}:{number}: '{piece}' is in no source: {message}")
    print(f"check_messages: {n_messages} messages, {n_missing} pieces missing")
    sys.exit(1 if n_missing else 0)


if __name__ == "__main__":
    main()
