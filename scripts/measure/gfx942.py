"""Runs tests whose kernels execute on the CPU as gfx942's machine code, and tells what came of each.

usage: python3 scripts/measure/gfx942.py [--record FILE] [--seconds N] BUILD [FAMILY ...]
  BUILD    the folder that scripts/dev/gfx942_run.sh builds
  FAMILY   lines of tests/gfx942/cases.tsv to run; default: all but "sample"
  --seconds N    what a case may take, default 300
  --record FILE  writes the result, for the table of docs/design/amd-without-card.md; what FILE says of other
                 families stays

One line a case: equal, DIFFERS, or SKIPPED as cannot (the emulator does not know an instruction, or lacks what the
kernel wants) or unfinished. A kernel that reads or writes outside of memory differs. Exit status 1 where a case
differs, or where the sample ran and none of its cases is equal.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "scripts"))

from measure import result_files  # noqa: E402
from measure.text import table  # noqa: E402

PARTS = ("align", "kmer", "bwt", "qc", "infer")  # families that docs/platforms.md has a column for
CASES = ROOT / "tests" / "gfx942" / "cases.tsv"


def read_cases():
    """(family, program, arguments) of each line."""
    lines = [line for line in CASES.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [tuple(line.split("\t")) for line in lines]


def read_launches(path):
    """Launches, kernels, instructions of waves and the first failure that the runtime reported."""
    kernels, n_launches, n_instructions, failure = set(), 0, 0, ""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        state, kernel, _, _, instructions, why = line.split("\t")
        n_launches += 1
        n_instructions += int(instructions)
        if state == "ran":
            kernels.add(kernel)
        elif not failure:
            failure = f"{kernel}: {why}"
    return {"launches": n_launches, "kernels": sorted(kernels), "instructions": n_instructions, "failure": failure}


def command_of(build, program, arguments):
    if program.endswith(".sh"):
        return ["bash", str(ROOT / program), str(build / "apps/biogpu/biogpu"), str(ROOT), "rocm", arguments]
    return [str(build / program), *([arguments] if arguments else [])]


def outcome(status, text, failure):
    """equal, DIFFERS or cannot, and why."""
    fault = re.search(r"gfx942: (a fault .*)$", text, re.MULTILINE)
    if fault:
        return "DIFFERS", fault[1]
    refused = re.search(r"gfx942: (.*)$", text, re.MULTILINE)
    if failure or refused:
        return "cannot", failure or refused[1]
    passed = re.search(r"All tests passed \((\d+) assertion|^(\d+) of \2 checks passed|^equal\t", text, re.MULTILINE)
    if status == 0 and passed:
        return "equal", f"{passed[1] or passed[2]} checks" if passed[1] or passed[2] else ""
    if status == 77 or "No test cases matched" in text:
        return "DIFFERS", "no test ran"
    told = [line for line in text.splitlines() if "FAILED" in line or "error" in line or "DIFFERS" in line]
    return "DIFFERS", (told or text.splitlines()[-1:] or ["no output"])[0].strip()[:200]


def run_case(build, case, seconds):
    family, program, arguments = case
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "launches.tsv"
        environment = dict(os.environ, BIOGPU_GFX942_REPORT=str(report), BIOGPU_REQUIRE_GPU="1",
                           BIOGPU_TEST_CONTEXTS="gpu", BIOGPU_TEST_DATA=str(ROOT / "tests/data"),
                           BIOGPU_GFX942_TRANSLATOR=str(ROOT / "third_party/hip_on_gfx942/translate.py"))
        begin = time.monotonic()
        process = subprocess.Popen(command_of(build, program, arguments), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", env=environment,
                                   start_new_session=True)
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            text = None
        launches = read_launches(report)
    result, why = ("unfinished", f"not within {seconds} s") if text is None else outcome(
        process.returncode, text, launches["failure"])
    name = arguments if program.endswith(".sh") or arguments else program
    row = {"family": family, "case": name, "result": result, "why": why, "kernels": launches["kernels"],
           "instructions": launches["instructions"]}
    told = result if result in ("equal", "DIFFERS") else f"SKIPPED, {result}"
    print(f"{told}\t{family}\t{name}\t{len(row['kernels'])} kernels, {launches['launches']} launches, "
          f"{row['instructions']} instructions, {time.monotonic() - begin:.0f} s\t{why}", flush=True)
    if result == "DIFFERS":
        print("\n".join(text.splitlines()[-30:]), file=sys.stderr)
    return row


def write(path, rows):
    """Replaces the rows of the same cases, in the order of the list."""
    commit = result_files.commit()
    has_part = any(row["family"] in PARTS for row in rows)
    for row in rows:
        row.update(date=datetime.date.today().isoformat(), commit=commit)
    known = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    by_case = {(row["family"], row["case"]): row for row in [*known, *rows]}
    order = {(family, arguments or program): n for n, (family, program, arguments) in enumerate(read_cases())}
    rows = sorted((row for key, row in by_case.items() if key in order),
                  key=lambda row: order[row["family"], row["case"]])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(result_files.text_of(path.name, {"rows": rows}), encoding="utf-8")
    if has_part:  # a family without a column of its own leaves date and commit of the others
        record_platform(rows)


def platform_lines(rows):
    """What is equal of each part of the program, and what is not."""
    lines = []
    for part in PARTS:
        of_part = [row for row in rows if row["family"] == part]
        equal = [row for row in of_part if row["result"] == "equal"]
        if not equal:
            continue
        kernels = {kernel for row in equal for kernel in row["kernels"]}
        n_listed = sum(family == part for family, *_ in read_cases())
        detail = f"{len(equal)} of {n_listed} tests equal, {len(kernels)} kernels"
        if len(of_part) < n_listed:
            detail += f"; not run: {n_listed - len(of_part)}"
        for result, told in (("DIFFERS", "differs"), ("cannot", "cannot"), ("unfinished", "unfinished")):
            names = [row["case"].rstrip("*") for row in of_part if row["result"] == result]
            detail += f"; {told}: {', '.join(names)}" if names else ""
        lines.append(f"AMD gfx942\t{part}\tmachine code emulated\t{detail}\n")
    return lines


def record_platform(rows):
    """For docs/platforms.md."""
    lines = platform_lines(rows)
    if lines:
        subprocess.run([sys.executable, str(ROOT / "scripts/measure/platforms.py"), "scripts/dev/gfx942_run.sh --record"],
                       input="".join(lines), check=True, text=True)


def gfx942_cases(result):
    """What ran as machine code: a line a family of its equal cases, and one for each other case."""
    lines = []
    for family in dict.fromkeys(row["family"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["family"] == family]
        equal = [row for row in rows if row["result"] == "equal"]
        kernels = {kernel for row in equal for kernel in row["kernels"]}
        when = ", ".join(sorted({f"{row['date']}, {row['commit']}" for row in equal}))
        lines.append([family, f"{len(equal)} of {len(rows)} cases", "equal", str(len(kernels)), f"{sum(row['instructions'] for row in equal):,}", when])
        lines += [[family, row["case"].rstrip("*"), f"{row['result']}: {row['why']}", str(len(row["kernels"])), f"{row['instructions']:,}",
                   f"{row['date']}, {row['commit']}"] for row in rows if row not in equal]
    return table(["family", "tests", "result", "kernels", "instructions of waves", "when, at commit"], lines, "lllrrl")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("families", nargs="*")
    arguments = parser.parse_args()
    cases = read_cases()
    wanted = arguments.families or sorted({family for family, *_ in cases} - {"sample"})
    unknown = set(wanted) - {family for family, *_ in cases}
    if unknown:
        sys.exit(f"gfx942.py: no family {', '.join(sorted(unknown))} in {CASES.relative_to(ROOT)}")
    rows = []
    for case in cases:
        if case[0] in wanted:
            rows.append(run_case(arguments.build.resolve(), case, arguments.seconds))
            if arguments.record:  # with every case: the next may take long
                write(arguments.record, rows)
    sample = [row["result"] for row in rows if row["family"] == "sample"]
    if sample and "equal" not in sample:
        sys.exit("gfx942.py: no case of the sample is equal")
    sys.exit(any(row["result"] == "DIFFERS" for row in rows))


if __name__ == "__main__":
    main()
