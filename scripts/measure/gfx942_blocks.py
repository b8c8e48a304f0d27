"""The blocks of `biogpu lab` as machine code of gfx942: errors, and what their kernels take of the card.

usage: python3 scripts/measure/gfx942_blocks.py BUILD [--check]
  BUILD  folder with the program that scripts/dev/gfx942_run.sh builds, apps/biogpu/biogpu and its module

Runs every block at TOKENS tokens and its own width on the CPU, in fp32 and bf16, below the runtime that
docs/design/amd-without-card.md describes; no card is needed. The program compares each with double precision.
Writes scripts/bench/results/gfx942/blocks.json for the table of docs/design/amd-kernel-resources.md. --check
writes nothing and fails where a block is not equal or its kernels are not those of the result.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import result_files
from measure.text import table

NAME = "gfx942/blocks.json"
TOKENS = 33
PRECISIONS = ("fp32", "bf16")
TAKEN = ("name", "threads", "registers", "shared_bytes", "local_bytes", "occupancy")


def run_block(build, block, precision, seconds):
    """A row: the block's errors and its kernels, or why it did not end well."""
    row = {"block": block, "precision": precision}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "block.json"
        environment = {"TINYGRAD": str(build / "tinygrad"), **os.environ,
                       "BIOGPU_GFX942_TRANSLATOR": str(result_files.ROOT / "third_party/hip_on_gfx942/translate.py")}
        command = [str(build / "apps/biogpu/biogpu"), "lab", "run", "--device", "gpu", "--quick", "--precision", precision,
                   "--shapes", str(TOKENS), "--json", str(path), block]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=seconds)
        except subprocess.TimeoutExpired:
            return {**row, "result": f"not within {seconds} s"}
        if done.returncode != 0 or not path.exists():
            return {**row, "result": (done.stderr.strip().splitlines() or ["no message"])[-1]}
        found = [each for each in json.loads(path.read_text(encoding="utf-8"))["blocks"] if each["block"] == block][0]
    kernels = {}
    for launch in found["kernels"]:
        taken = {key: launch[key] for key in TAKEN}
        kernels.setdefault(json.dumps(taken), {**taken, "launches": 0})["launches"] += 1
    return {**row, "result": "equal", "n": found["n"], "c": found["c"], "error": float(f"{found['error']:.1e}"),
            "one_minus_cosine": float(f"{found['one_minus_cosine']:.1e}"), "kernels": list(kernels.values())}


def gfx942_blocks(result):
    """A line a block, both precisions: what its kernels take at most, and the one of which the fewest waves run at a time."""
    lines = []
    for block in dict.fromkeys(row["block"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["block"] == block]
        failed = [f"{row['precision']}: {row['result']}" for row in rows if row["result"] != "equal"]
        if failed:
            lines.append([f"`{block}`", "; ".join(failed), "", "", "", "", ""])
            continue

        def of_each(choose, key, rows=rows):
            return " / ".join(f"{choose(kernel[key] for kernel in row['kernels']):,}" for row in rows)

        least = [min(row["kernels"], key=lambda kernel: (kernel["occupancy"], -kernel["registers"])) for row in rows]
        names = dict.fromkeys(f"`{kernel['name'].split('<')[0].removeprefix('ops::')}`" for kernel in least)
        lines.append([f"`{block}`", " / ".join(f"{row['error']:.0e}" for row in rows), of_each(sum, "launches"), of_each(max, "registers"),
                      of_each(max, "shared_bytes"), " / ".join(f"{100 * kernel['occupancy']:.0f} %" for kernel in least), ", ".join(names)])
    heading = " / ".join(dict.fromkeys(row["precision"] for row in result["rows"]))
    return table(["block", f"error: {heading}", "kernels", "most registers", "most shared bytes", "least occupancy", "of"], lines, "lrrrrrl")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("build", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    listed = subprocess.run([build / "apps/biogpu/biogpu", "lab", "list"], capture_output=True, text=True, check=True).stdout
    rows = []
    for block in [line.split("\t")[0] for line in listed.splitlines()[1:]]:
        for precision in PRECISIONS:
            rows.append(run_block(build, block, precision, arguments.seconds))
            print(f"{block}\t{precision}\t{rows[-1]['result']}\t{rows[-1].get('error', '')}", flush=True)
    failed = [row for row in rows if row["result"] != "equal"]
    if arguments.check:
        known = {(row["block"], row["precision"]): row.get("kernels") for row in result_files.load(NAME)["rows"]}
        other = [f"{row['block']} in {row['precision']}" for row in rows
                 if row.get("kernels") != known.get((row["block"], row["precision"]))]
        if other:
            sys.exit(f"gfx942_blocks.py: not as in {NAME}: {', '.join(other)}")
    else:
        path = result_files.FOLDER / NAME
        result = {"tokens": TOKENS, "date": datetime.date.today().isoformat(), "commit": result_files.commit(), "rows": rows}
        path.write_text(result_files.text_of(path.name, result), encoding="utf-8")
        print(f"{len(rows)} rows in {path.relative_to(result_files.ROOT)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
