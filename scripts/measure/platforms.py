"""What was done for which platform, as the scripts that did it recorded it, and the table of it.

usage: python3 scripts/measure/platforms.py "SCRIPT [ARGUMENT ...]" <ROWS
  ROWS  lines of PLATFORM, PART, STATE, DETAIL between tabs; STATE is one of STATES below,
        PART one of PARTS or 'all'; before them there may be a line '# DATE COMMIT', of the program
        that was tested, where that is not this checkout

A script's rows replace those that it recorded before of the same platforms, in
scripts/bench/results/platforms/SCRIPT_PLATFORMS.json; scripts/dev/tables.py then writes docs/platforms.md from
all of them. Benchmarks compare results before they time: their own results in scripts/bench/results count as
runs of the card they name.
"""

import datetime
import pathlib
import re
import subprocess
import sys

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import result_files
from measure.text import table

# From the least to the most that can be said; docs/platforms.md defines each. "parsed": no code was made (-fsyntax-only).
STATES = ("parsed", "compiled", "linked and loaded", "machine code emulated", "source emulated", "run")
PLATFORMS = ("x86-64 Debian 12", "x86-64 Debian 13", "x86-64 Ubuntu 24.04", "x86-64 GCC 12", "x86-64 GCC 13", "x86-64 GCC 14",
             "x86-64 Clang", "arm64", "emulated waves of 32", "emulated waves of 64",
             "NVIDIA sm_80", "NVIDIA sm_86", "NVIDIA sm_89", "NVIDIA sm_90", "AMD gfx90a", "AMD gfx942")
PARTS = ("align", "kmer", "bwt", "qc", "infer")
CARDS = {"h100": "NVIDIA sm_90", "h200": "NVIDIA sm_90"}  # by the name of a results folder
RESULTS = result_files.FOLDER


def benchmark_rows():
    """A row for each part and card: the latest folder of results that were taken on the card."""
    latest = {}
    for folder in sorted(RESULTS.iterdir()):
        found = re.fullmatch(r"(\d{4}-\d\d-\d\d)-(h\d+)(-x\d+)?", folder.name)
        if found is None or found[2] not in CARDS:
            continue
        for part in PARTS:
            names = sorted(path.name for path in folder.glob(f"{part}_*.json*") if names_card(path))
            if names:
                latest[part, found[2]] = {
                    "platform": CARDS[found[2]], "part": part, "state": "run", "script": "scripts/bench",
                    "detail": f"{found[2].upper()}: {', '.join(names)}", "date": found[1], "commit": "in its README"}
    return list(latest.values())


def names_card(path):
    """Whether a result is of the card, not of the machine's processor: by what it says of its device. With "auto"
    the program may have chosen the processor; "resident" are the rates of data in the card's memory."""
    text = path.read_text(encoding="utf-8")
    return "gpu" in path.name or re.search(r'"(gpu|resident)"|"device": "\d', text) is not None


def platforms():
    """The most that was done for each part of the program on each platform, and every record behind it."""
    records = [result_files.load(f"platforms/{path.name}") for path in sorted((RESULTS / "platforms").glob("*.json"))]
    rows = [dict(row, **{key: record[key] for key in ("script", "date", "commit")})
            for record in records for row in record["rows"]] + benchmark_rows()
    rows.sort(key=lambda row: (PLATFORMS.index(row["platform"]), STATES.index(row["state"])))

    def most(platform, part):
        states = [row["state"] for row in rows if row["platform"] == platform and row["part"] in (part, "all")]
        return max(states, key=STATES.index) if states else "no record"

    lines = table(["platform", *PARTS], [[name, *(most(name, part) for part in PARTS)] for name in PLATFORMS], "llllll")
    lines += ["", "Every record:", ""]
    lines += table(["platform", "part", "what was done", "to what", "by", "when, at commit"],
                   [[row["platform"], row["part"], row["state"], row["detail"], f"`{row['script']}`",
                     f"{row['date']}, {row['commit']}"] for row in rows], "llllll")
    return lines


def file_name(script, rows):
    """Of the script and all platforms of its rows: what is known of another system or card stays."""
    platforms = " ".join(dict.fromkeys(row["platform"] for row in rows))
    return re.sub(r"\W+", "_", f"{script.removeprefix('scripts/').removeprefix('dev/')} {platforms}") + ".json"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    script = sys.argv[1]
    rows, date, commit = [], datetime.date.today().isoformat(), result_files.commit()
    for line in sys.stdin.read().splitlines():
        if line.startswith("# "):
            tested = re.fullmatch(r"# (\d{4}-\d\d-\d\d) (\S.*)", line)
            if tested is None:
                sys.exit(f"platforms.py: '{line}': expected '# DATE COMMIT'")
            date, commit = tested.groups()
            continue
        platform, part, state, detail = line.split("\t")
        if platform not in PLATFORMS or part not in (*PARTS, "all") or state not in STATES:
            sys.exit(f"platforms.py: '{line}': no such platform, part or state")
        rows.append({"platform": platform, "part": part, "state": state, "detail": detail})
    if not rows:
        sys.exit("platforms.py: no rows")
    record = {"script": script, "date": date, "commit": commit, "rows": rows}
    folder = RESULTS / "platforms"
    folder.mkdir(exist_ok=True)
    path = folder / file_name(script, rows)
    path.write_text(result_files.text_of(path.name, record), encoding="utf-8")
    print(f"{len(rows)} rows in {path}")


if __name__ == "__main__":
    main()
