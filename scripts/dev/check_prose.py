#!/usr/bin/env python3
"""Checks that sentences of the pages for users are short.

usage: scripts/dev/check_prose.py [PAGE ...]      default: PAGES

A sentence has at most MAX_WORDS words. It ends at a full stop, a question mark, an exclamation mark, a colon or a semicolon. Code
between backticks counts as one word; blocks, tables, headings and comments do not count. Prints PAGE: number of words: the sentence, and
a summary; exit status 1 when a sentence is longer.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/install.md", "docs/quickstart.md", "docs/weights.md", "docs/faq.md", "docs/performance.md",
         "docs/differences.md", "docs/troubleshooting.md", "docs/pipelines.md", "docs/python.md", "docs/glossary.md", "docs/guide/*.md",
         *(f"docs/commands/{name}.md" for name in ("align", "align-parasail", "bwt", "cite", "completion", "devices", "exit-codes",
                                                   "gather", "help", "infer", "kmer", "lab", "man", "options", "qc", "qc-merge")),
         "docs/formats/*.md",
         "docs/call_blocks.md", "docs/models/*.md")
MAX_WORDS = 25
NOT_PROSE = (re.compile(r"^```.*?^```$", re.M | re.S), re.compile(r"<!--.*?-->", re.S), re.compile(r"^[|#].*$", re.M),
             re.compile(r"^!\[.*$", re.M))
ITEM = re.compile(r"\n(?=\s*(?:[-*]|\d+\.) )")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
END = re.compile(r"(?<=[.!?:;])[*)]*\s+")
WORD = re.compile(r"[\w'%.,-]*\w[\w'%.,-]*")


def sentences(text):
    for pattern in NOT_PROSE:
        text = pattern.sub("\n", text)
    for paragraph in re.split(r"\n\s*\n", text):
        for item in ITEM.split(paragraph):
            yield from filter(None, map(str.strip, END.split(" ".join(CODE.sub("code", LINK.sub(r"\1", item)).split()))))


def main():
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or \
        [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
    n_sentences = n_words = n_long = 0
    for page in pages:
        for sentence in sentences(page.read_text(encoding="utf-8")):
            n = len(WORD.findall(sentence))
            n_sentences += 1
            n_words += n
            if n > MAX_WORDS:
                n_long += 1
                print(f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}: {n} words: {sentence}")
    print(f"check_prose: {len(pages)} pages, {n_sentences} sentences, {n_words / max(n_sentences, 1):.1f} words a sentence, "
          f"{n_long} of more than {MAX_WORDS}")
    sys.exit(1 if n_long else 0)


if __name__ == "__main__":
    main()
