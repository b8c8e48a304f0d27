"""Tables of Markdown pages that are written by a script, between two markers.

    <!-- table begin: KIND WORD ... -->
    <!-- table end -->

KIND is a function of measure.tables; a WORD that ends in .json or .jsonl is a file below scripts/bench/results,
one that ends in / a folder there, all of whose .json files it stands for.
"""

import re

from measure import result_files, tables

BLOCK = re.compile(r"(<!-- table begin: (?P<what>[^>]*?) -->\n)(?P<body>.*?)(<!-- table end -->)", re.DOTALL)


def render(what):
    """The lines of one block; raises KeyError, OSError or ValueError where the marker names what is not there."""
    kind, *words = what.split()
    if kind not in tables.KINDS:
        raise KeyError(f"no kind of table '{kind}'")
    arguments = []
    for word in words:
        if word.endswith("/"):
            found = sorted((result_files.FOLDER / word).glob("*.json"))
            if not found:
                raise ValueError(f"no results in {word}")
            arguments += [result_files.load(str(path.relative_to(result_files.FOLDER))) for path in found]
        else:
            arguments.append(result_files.load(word) if word.endswith((".json", ".jsonl")) else word)
    return "\n".join(["", *tables.KINDS[kind](*arguments), "", ""])


def fill(text):
    """The page with every block made again."""
    return BLOCK.sub(lambda m: m[1] + render(m["what"]) + m[4], text)
