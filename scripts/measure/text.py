"""Numbers, commands and tables as Markdown."""

import pathlib


def table(heads, rows, align=""):
    """Lines of a Markdown table; align has a letter a column, l or r."""
    marks = ["---:" if a == "r" else "---" for a in align.ljust(len(heads), "l")]
    return [f"| {' | '.join(str(cell) for cell in row)} |" for row in (heads, marks, *rows)]


def seconds(value):
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def times(ratio):
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.1f}"


def megabytes_of(figures):
    """Peak memory, whichever way an older or newer result names it."""
    return f"{figures['peak_bytes'] / 1e6:.0f}" if "peak_bytes" in figures else f"{figures['peak_mb']:.0f}"


def shown(command):
    """A command for people: of a full path its last name alone, without the folders of this machine."""
    words = (str(word) for word in command)
    return " ".join(pathlib.PurePath(word).name if word.startswith("/") else word for word in words)
