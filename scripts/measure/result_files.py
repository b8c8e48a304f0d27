"""Results of benchmarks: JSON documents, or with .jsonl one a line, below scripts/bench/results."""

import json
import subprocess

from measure.programs import ROOT

FOLDER = ROOT / "scripts" / "bench" / "results"
WIDTH = 120


def load(name):
    """A result: one JSON document, or with .jsonl a list of them."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return json.loads(text)


def commit():
    """The commit of the sources, with -dirty where they differ from it; changed results and pages do not count."""
    def git(*words):
        return subprocess.run(["git", *words], check=False, text=True, capture_output=True, cwd=ROOT).stdout.strip()

    name = git("describe", "--always", "--exclude=*")
    changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{FOLDER.relative_to(ROOT)}", ":!docs")
    # Not known where the sources came without their history.
    return name + ("-dirty" if changes else "") if name else "unknown"


def compact(value, indent=0):
    """JSON text: as many values to a line as fit, but a list or object that does not fit begins a new one."""
    line = json.dumps(value)
    if not value or not isinstance(value, (dict, list)) or indent + len(line) <= WIDTH:
        return line
    keys = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    lines = []
    room = False  # in the last line
    for key, item in zip(keys, value.values() if isinstance(value, dict) else value):
        text = key + compact(item, indent + 1 + (len(key) if not isinstance(item, (dict, list)) else 0))
        nested = isinstance(item, (dict, list))
        if room and not nested and indent + 4 + len(lines[-1]) + len(text) <= WIDTH:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
        room = not nested
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return begin + (",\n" + " " * (indent + 1)).join(lines) + end


def text_of(name, value):
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row) + "\n" for row in value)
    return compact(value) + "\n"
