#!/usr/bin/env python3
"""Times two builds of `biogpu align --pairs` from file to file, equal files first.

Makes --pairs pairs of 150 bp in two FASTA files from --seed and aligns them with both programs, in turns, on the same
threads: scores, and CIGARs. Ratios are those of the medians,
of wall time and of CPU time; JSON (--json) has all of it. --gzip times compressed input too.
"""

import argparse
import filecmp
import gzip
import json
import pathlib
import random
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import inputs, timing  # noqa: E402

LENGTH = 150


def write_pairs(folder, seed, n):
    """Queries, and targets that differ from them in a few bases and in a fifth of the pairs by a deletion."""
    rng = random.Random(seed)
    with open(folder / "q.fa", "wb") as queries, open(folder / "t.fa", "wb") as targets:
        for i in range(n):
            query = inputs.random_bases(rng, LENGTH)
            target = bytearray(query)
            for _ in range(5):
                target[rng.randrange(LENGTH)] = b"ACGT"[rng.getrandbits(2)]
            if rng.randrange(5) == 0:
                del target[rng.randrange(LENGTH)]
            queries.write(b">q%d\n%s\n" % (i, query))
            targets.write(b">t%d\n%s\n" % (i, target))


def measure(args, folder, files, output):
    """One row: both programs on the files."""
    programs = {"before": args.before, "biogpu": args.biogpu}
    for name, program in programs.items():
        if not program.is_file():
            sys.exit(f"align_pairs.py: no program {program} ({name})")

    def call(name):
        command = [programs[name].resolve(), "align", "--quiet", "--mode", "sw", "--pairs", "--output", output, "-t",
                   args.threads, "--device", args.device, *files, "-o", f"{name}.tsv"]
        return lambda: timing.run(command, folder)

    def check():
        if not filecmp.cmp(folder / "before.tsv", folder / "biogpu.tsv", shallow=False):
            sys.exit(f"align_pairs.py: the programs wrote different files ({output}, {files[0]})")

    runs = timing.take_turns({name: call(name) for name in programs}, args.repeats, check)
    medians = {name: timing.medians(of) for name, of in runs.items()}
    row = {"input": files[0], "output": output, "pairs": args.pairs, "threads": args.threads, "device": args.device}
    for name in programs:
        row.update({f"{name}_{key}": value for key, value in medians[name].items()})
    for key in ("wall_s", "cpu_s"):
        row[f"ratio_{key}"] = medians["before"][key] / medians["biogpu"][key]
    print(json.dumps(row), flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--biogpu", required=True, type=pathlib.Path)
    parser.add_argument("--before", required=True, type=pathlib.Path, help="the build to compare with")
    parser.add_argument("--pairs", type=int, default=4000000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--outputs", default="score,cigar")
    parser.add_argument("--gzip", action="store_true", help="compressed input too")
    parser.add_argument("--repeats", type=int, default=5, help="turns that count; medians do")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    args = parser.parse_args()

    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_pairs(folder, args.seed, args.pairs)
        inputs_used = [("q.fa", "t.fa")]
        if args.gzip:
            for plain in inputs_used[0]:
                with open(folder / plain, "rb") as text, gzip.open(folder / f"{plain}.gz", "wb", 1) as packed:
                    shutil.copyfileobj(text, packed)
            inputs_used.append(("q.fa.gz", "t.fa.gz"))
        for files in inputs_used:
            for output in args.outputs.split(","):
                rows.append(measure(args, folder, files, output))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
