#!/usr/bin/env python3
"""Compares `biogpu qc` with fastp: the reads they write, byte by byte, and their JSON reports.

usage: scripts/compare/fastp_options.py BIOGPU [--fastp PROGRAM] [--data FOLDER] [--json FILE] [--only WORD]
                                        [--pairs N] [--device WHAT]

Simulates pairs and single reads with adapters, N, poly-G tails and low qualities (fixed seed), adds
the FASTQ files of --data where given, and runs both programs over a grid of option sets. Prints one
line a case; exit status 1 when any differs. fastp's `command` and version are left out of the
comparison, gzip output is compared after decompression.
"""

import argparse
import filecmp
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import peers  # noqa: E402

ADAPTER1 = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA"
ADAPTER2 = "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT"
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")

# Options of each case; OUT stands for the case's folder, FASTA and INDEX for files made below.
PAIRED = [
    "",
    "-w 1",
    "-w 2",
    "-w 16",
    "-A",
    "-Q",
    "-L",
    "-Q -L -A",
    "-5",
    "-3",
    "-r",
    "-5 -3",
    "-5 -r -W 6 -M 25",
    "-3 -M 28 -W 10",
    "-f 3 -t 2",
    "-f 3 -F 5 -t 1 -T 4",
    "-f 5 -5 -t 5 -3",
    "-b 60",
    "-b 80 -B 50",
    "-g",
    "-x",
    "-g -x --poly_g_min_len 6 --poly_x_min_len 8",
    "-G -c",
    "-c",
    "-c -5 -3 -g -x",
    "-q 20 -u 20",
    "-q 5 -u 80 -n 20 -l 50",
    "-e 30",
    "-n 0",
    "-l 80 --length_limit 120",
    "-y",
    "-y -Y 60",
    f"-a {ADAPTER1} --adapter_sequence_r2 {ADAPTER2}",
    "-a ACGTACGTAC",
    "--detect_adapter_for_pe",
    "--adapter_fasta FASTA",
    "--overlap_len_require 20 --overlap_diff_limit 2 --overlap_diff_percent_limit 10 -c",
    "--failed_out OUT/failed.fq",
    "--failed_out OUT/failed.fq -5 -3 -l 60",
    "--unpaired1 OUT/u1.fq --unpaired2 OUT/u2.fq --failed_out OUT/failed.fq -q 25",
    "--unpaired1 OUT/u1.fq -q 25",
    "--unpaired2 OUT/u2.fq -q 25",
    "--overlapped_out OUT/overlapped.fq",
    "-m --merged_out OUT/merged.fq",
    "-m --merged_out OUT/merged.fq --include_unmerged",
    "-m --merged_out OUT/merged.fq -3 -x --failed_out OUT/failed.fq",
    "-U --umi_loc per_read --umi_len 8 --umi_skip 2 --umi_prefix UMI",
    "-U --umi_loc read1 --umi_len 6",
    "-U --umi_loc read2 --umi_len 6 -D -w 1",
    "-U --umi_loc index1",
    "-U --umi_loc per_index",
    "-D -w 1",
    "-D -w 1 --dup_calc_accuracy 1",
    "--dont_eval_duplication",
    "-p -w 2",
    "-p -P 1 -w 1 -m --merged_out OUT/merged.fq",
    "--reads_to_process 2345",
    "--fix_mgi_id",
    "--filter_by_index1 INDEX --filter_by_index_threshold 1",
    "-s 3 -w 2",
    "-S 4000 -w 2 -d 3",
    "-z 1 GZ",
    "GZ",
    "GZIN GZ",
    "-5 -3 -r -x -g -c --unpaired1 OUT/u1.fq --failed_out OUT/failed.fq -w 2",
]
SINGLE = [
    "",
    "-w 1",
    "-A",
    f"-a {ADAPTER1}",
    f"-a {ADAPTER1} -x -y --failed_out OUT/failed.fq",
    "--adapter_fasta FASTA",
    f"-a {ADAPTER1} --adapter_fasta FASTA -g",
    "-5 -3 -W 4 -M 20 --failed_out OUT/failed.fq",
    "-r -f 3 -t 2 -A",
    "-q 25 -u 30 -e 28 -n 1 -l 40 --length_limit 140 -y",
    "-b 70 -g -x",
    "-U --umi_loc read1 --umi_len 8 --umi_skip 3",
    "-D -w 1",
    "-p -P 3 -w 3",
    "-s 4",
    "-S 8000 -w 1",
    "GZ",
    "STDOUT",
]


def reverse_complement(sequence):
    return sequence.translate(COMPLEMENT)[::-1]


def qualities(rng, length, shape):
    base = {0: 38, 1: 36, 2: 30, 3: 22}[shape]
    symbols = []
    for i in range(length):
        fall = shape * i * 12 // max(1, length)
        quality = base - fall + rng.choice((0, 0, 0, 0, 1, 2, -3, -12 if rng.random() < 0.2 else 0))
        symbols.append(chr(33 + max(2, min(41, quality))))
    return symbols


def mutate(rng, sequence, quality, error_rate):
    letters = list(sequence)
    for i in range(len(letters)):
        if rng.random() < error_rate * (1 + (quality[i] < "/") * 10):
            letters[i] = rng.choice("ACGT")
        if rng.random() < 0.0005:
            letters[i] = "N"
    if rng.random() < 0.01:
        start = rng.randrange(max(1, len(letters)))
        for i in range(start, min(len(letters), start + rng.randrange(12))):
            letters[i] = "N"
    return "".join(letters)


def simulate(folder, n_pairs, length, seed):
    """Writes r1.fq and r2.fq: pairs of one genome with inserts of 0 to 2.5 reads."""
    rng = random.Random(seed)
    genome = "".join(rng.choice("ACGT") for _ in range(20000)) + "A" * 60 + "ACGT" * 50
    genome += "".join(rng.choice("AG") for _ in range(2000))
    files = [open(folder / f"r{m}.fq", "w", encoding="ascii") for m in (1, 2)]
    previous = None
    for n in range(n_pairs):
        insert = rng.choice((rng.randrange(0, 60), rng.randrange(30, length),
                             rng.randrange(length, int(2.5 * length)), rng.randrange(100, 350)))
        at = rng.randrange(len(genome) - insert - 1)
        fragment = genome[at:at + insert]
        if rng.random() < 0.5:
            fragment = reverse_complement(fragment)
        if previous is not None and rng.random() < 0.08:
            fragment = previous
        previous = fragment
        shape = rng.choice((0, 0, 0, 1, 1, 2, 3))
        lane = rng.choice("ACGT") * 2 + "ACGTAC"
        for mate, (text, adapter) in enumerate(((fragment, ADAPTER1),
                                                (reverse_complement(fragment), ADAPTER2))):
            tail = "".join(rng.choice("ACGT") for _ in range(length))
            if rng.random() < 0.1:
                tail = "G" * length
            size = length if rng.random() < 0.95 else rng.randrange(0, length + 1)
            sequence = (text + adapter + tail)[:size]
            quality = qualities(rng, size, shape)
            sequence = mutate(rng, sequence, quality, 0.003)
            if rng.random() < 0.002:
                sequence = sequence.lower()
            name = f"@SIM:{n // 1000}:{n} {mate + 1}:N:0:{lane}+GGCCTTAA"
            if rng.random() < 0.01:
                name = f"@SIM{n}/{mate + 1}"
            files[mate].write(f"{name}\n{sequence}\n+\n{''.join(quality)}\n")
    for file in files:
        file.close()


def normal(report):
    report.pop("command", None)
    report.pop("biogpu", None)
    report["summary"].pop("fastp_version", None)
    return report


def difference(a, b, path=""):
    """The path of the first value that differs, or None."""
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return f"{path}: keys {sorted(set(a) ^ set(b))[:5]} or their order"
        for key in a:
            found = difference(a[key], b[key], f"{path}.{key}")
            if found:
                return found
        return None
    return None if a == b else f"{path}: {str(a)[:60]} and {str(b)[:60]}"


def same_bytes(a, b):
    if filecmp.cmp(a, b, shallow=False):
        return True
    if not a.name.endswith(".gz"):
        return False
    with gzip.open(a) as left, gzip.open(b) as right:
        return left.read() == right.read()


class Comparison:
    def __init__(self, arguments, work):
        self.arguments = arguments
        self.work = work
        self.fasta = work / "adapters.fa"
        self.fasta.write_text(f">b\n{ADAPTER2}\n>a\n{ADAPTER1}\n>c short\nACG\n>d\nTTTTTTTTTTTTTTTT\n",
                              encoding="ascii")
        self.index = work / "index.txt"
        self.index.write_text("AAACGTAC\nCCACGTAC\n", encoding="ascii")
        self.rows = []
        self.profile = peers.qc_profile(peers.fastp_version(arguments.fastp))

    def command(self, program, options, inputs, out):
        words = options.split()
        suffix = ".fq.gz" if "GZ" in words else ".fq"
        if "GZIN" in words:
            inputs = [pathlib.Path(f"{name}.gz") for name in inputs]
        to_stdout = "STDOUT" in words
        line = list(program)
        for flag, name in zip(("-i", "-I"), inputs):
            line += [flag, str(name)]
        if to_stdout:
            line.append("--stdout")
        else:
            for flag, name in zip(("-o", "-O"), ("out1", "out2")[:len(inputs)]):
                line += [flag, f"{out}/{name}{suffix}"]
        line += ["-j", f"{out}/report.json", "-h", f"{out}/report.html"]
        for word in words:
            if word in ("GZ", "GZIN", "STDOUT"):
                continue
            word = word.replace("OUT/", f"{out}/").replace("FASTA", str(self.fasta))
            line.append(str(self.index) if word == "INDEX" else word)
        return line

    def run(self, program, options, inputs, out):
        out.mkdir(parents=True)
        line = self.command(program, options, inputs, out)
        with open(out / "stdout.txt", "wb") as stdout:
            done = subprocess.run(line, stdout=stdout, stderr=subprocess.PIPE, check=False)
        (out / "stderr.txt").write_bytes(done.stderr)
        return done.returncode

    def compare(self, name, options, inputs):
        case = self.work / f"case{len(self.rows)}"
        ours = [self.arguments.biogpu, "qc", *self.profile, "--device", self.arguments.device]
        theirs = [self.arguments.fastp]
        codes = (self.run(ours, options, inputs, case / "biogpu"),
                 self.run(theirs, options, inputs, case / "fastp"))
        problem = None
        if codes != (0, 0):
            error = (case / "biogpu" / "stderr.txt").read_text(errors="replace").strip()
            problem = f"exit codes {codes}: {error.splitlines()[-1:] }"
        else:
            problem = self.differing(case)
        self.rows.append({"input": name, "options": options, "equal": problem is None,
                          "difference": problem})
        print(f"{'equal ' if problem is None else 'DIFFER'} {name:10} {options or '(default)'}"
              + (f"\n       {problem}" if problem else ""), flush=True)
        if problem is None:
            subprocess.run(["rm", "-rf", str(case)], check=True)

    def differing(self, case):
        skip = {"report.json", "report.html", "stderr.txt"}
        names = {side: sorted(p.name for p in (case / side).iterdir() if p.name not in skip)
                 for side in ("biogpu", "fastp")}
        if names["biogpu"] != names["fastp"]:
            return f"files {names}"
        for name in names["fastp"]:
            if not same_bytes(case / "biogpu" / name, case / "fastp" / name):
                return f"{name} differs"
        reports = []
        for side in ("biogpu", "fastp"):
            text = (case / side / "report.json").read_text(encoding="utf-8")
            reports.append(normal(json.loads(text)))
        return difference(reports[0], reports[1])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("biogpu")
    parser.add_argument("--fastp", default="fastp")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--pairs", type=int, default=12000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.biogpu = str(pathlib.Path(arguments.biogpu).resolve())
    with tempfile.TemporaryDirectory() as folder:
        work = arguments.keep or pathlib.Path(folder)
        work.mkdir(exist_ok=True)
        simulate(work, arguments.pairs, 150, 1)
        inputs = {"simulated": [work / "r1.fq", work / "r2.fq"]}
        if arguments.data:
            for first, second in (("qc/fastp_R1.fq", "qc/fastp_R2.fq"),
                                  ("reads/lambda_1.fq.gz", "reads/lambda_2.fq.gz")):
                paths = [arguments.data / first, arguments.data / second]
                if all(path.exists() for path in paths):
                    inputs[pathlib.Path(first).stem.split("_")[0]] = paths
        for path in inputs["simulated"]:
            with gzip.open(f"{path}.gz", "wb", 4) as packed:
                packed.write(path.read_bytes())
        comparison = Comparison(arguments, work)
        for name, paths in inputs.items():
            for options in PAIRED:
                if arguments.only in f"{name} pe {options}" and not (
                        name != "simulated" and "GZIN" in options):
                    comparison.compare(f"{name} pe", options, paths)
            for options in SINGLE:
                if arguments.only in f"{name} se {options}":
                    comparison.compare(f"{name} se", options, paths[:1])
    rows = comparison.rows
    n_equal = sum(row["equal"] for row in rows)
    print(f"{n_equal} of {len(rows)} option sets give equal reads and JSON")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    sys.exit(0 if n_equal == len(rows) else 1)


if __name__ == "__main__":
    main()
