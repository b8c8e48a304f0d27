#!/usr/bin/env python3
"""Compares the outputs of two builds of biogpu, for changes that must not change any.

usage: scripts/dev/same_outputs.py [--device cpu|gpu] [--only WORD ...] [--emulator "COMMAND"]
                                    [--inputs FOLDER] [--seconds N] OLD_BIOGPU NEW_BIOGPU

Each runs the same commands in a separate folder: the examples of OLD's help and a list of combinations of options,
among them wrong usage and damaged input; each file below FOLDER
is given to each kind of reader too. Exit codes, standard output, standard error and every file left behind are
compared byte by byte; times, rates and paths of the folders are blanked first, with --emulator also the name of
the instruction set on standard error. Run it with each backend that both
builds have. Exit status 1 where something differs. With --seconds no command begins later than that; those left
out are counted. A command that both programs, or an emulated one, do not end in 5 minutes is listed as not compared.
What a command wrote that one of them did not end in time is removed on both sides.
"""

import argparse
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
import help_examples_test as help_examples  # noqa: E402  (the folder has to be on the path first)

LIMIT_S = 300
TIMED_OUT = 124  # exit status of timeout(1)
BGK_TRAILER = 16  # bytes with a checksum over the date and the folder, among others
# What two runs of one program differ in: dates, times, rates, sizes of memory and numbers of processes.
VOLATILE = (
    (re.compile(rb"\d{4}-\d\d-\d\d[ T,]+(at )?\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?|\d{4}-\d\d-\d\d"), b"DATE"),
    (re.compile(rb"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}"), b"DATE"),
    (re.compile(rb"commit: \w+"), b"COMMIT"),
    (re.compile(rb"\d+(\.\d+)?(e[+-]?\d+)? ?(GCUPS|ms|us|s|min|GB/s|MB/s|MB|MiB|GiB|GB|([KMGT] )?[a-z-]+/s)\b"), b"TIME"),
    (re.compile(rb'("[a-z_]*(seconds|_s|per_second|bytes|time|stages|date|host|pid|mb)[a-z_]*": )[^\n]*'), rb"\1X"),
)


def align_lines():
    pairs = "align --pairs -q reads.fq.gz windows.fa"
    for mode, output in itertools.product(("nw", "sg", "sw", "sg_qb_de"), ("score", "ends", "statistics", "cigar")):
        yield f"{pairs} --mode {mode} --output {output} -o pairs.{mode}.{output}.tsv"
    for suffix in ("sam", "paf", "csv", "bam"):
        yield f"{pairs} --mode sw -o pairs.sw.{suffix}"
    for extra in ("--format blast6", "--format emboss", "--format ssw", "--band 8", "--gap-model blast", "--cigar merged",
                  "--columns query,target,identity,similar,gaps", "--strand both", "--gap-open 3 --gap-extend 3",
                  "--xdrop 20", "--shard 1/3", "--max-memory 1M --batch 7", "--min-score 40", "--top 2"):
        yield f"align -q --mode sw {extra} windows.fa panel.fa"
        yield f"align -q --mode nw {extra} --pairs proteins.fa targets.fa"
    for matrix in ("blosum62", "blosum45", "pam250", "EBLOSUM80"):
        yield f"align -q --mode sw --matrix {matrix} --top 3 queries.fa proteins.fa"
    yield "align -q --mode sw --preset protein --evalue 1e-1 queries.fa proteins.fa"
    yield "align -q --mode sw --self proteins.fa -o self.tsv"
    yield "align parasail -a sw_trace_striped_16 -f proteins.fa -q queries.fa -O EMBOSS -g parasail.txt"
    yield "align parasail -a nw_stats_striped_16 -f proteins.fa -q queries.fa -g parasail_nw.csv"
    yield "align parasail -a sg_trace_scan_16 -f windows.fa -q reads.fa -d -O SAM -g parasail.sam"


def kmer_lines():
    for k in (5, 11, 21, 31, 47, 91):
        yield f"kmer count -q -m {k} -C -o k{k}.jf reads.fq.gz"
        yield f"kmer dump -c k{k}.jf -o k{k}.txt"
        yield f"kmer histo k{k}.jf"
        yield f"kmer stats k{k}.jf"
    for suffix in ("bgk", "kff", "jf"):
        yield f"kmer count -q -m 17 -o plain.{suffix} genome.fa"
        yield f"kmer info plain.{suffix} | grep -v -i 'time\\|date\\|cmdline\\|command'"
        if suffix != "kff":
            yield f"kmer query plain.{suffix} ACGTACGTACGTACGTA GGGCGGCGACCTCGCGG"
        yield f"kmer dump plain.{suffix} -o plain.{suffix}.fa"
    yield "kmer count -q -m 21 -L 2 -U 9 --min-quality 20 -C -o bounds.jf reads.fq.gz"
    yield "kmer merge -o merged.jf k21.jf out.jf && kmer dump -c merged.jf"
    for what in ("union", "intersect", "subtract", "symdiff", "counters_subtract"):
        yield f"kmer set {what} -o {what}.jf k21.jf out.jf"
        yield f"kmer dump -c {what}.jf"
    yield "kmer bc -m 21 -C -s 100k -o reads.bc reads.fq.gz"
    yield "kmer count -q -m 21 -C --bc reads.bc -o after_bc.jf reads.fq.gz"
    yield "kmer dump -c after_bc.jf"
    yield "kmer sketch -o s.json a.fa b.fa proteins.fa genome.fa"
    yield "kmer dist s.json s.json"


def bwt_lines():
    yield "bwt index -q genome.fa -p own"
    yield "bwt index -q --format bwa genome.fa -p bwa_index"
    for index, command in itertools.product(("own",), ("count", "locate")):
        yield f"bwt {command} -q -x {index} reads.fq.gz -o {command}.out"
    yield "bwt locate -q -x own --mismatches 2 guides.fa"
    yield "bwt smem -q -x bwa_index reads.fq.gz -o smem.out"
    yield "bwt stats own"
    yield "bwt extract -x own chr1:100-400 chrM:1-20"
    yield "bwt transform -q reads.fa -o t.bwt"
    yield "bwt inverse -q t.bwt -o t.fa"
    yield "bwt transform -q --bytes book.txt -o book.bwt"
    yield "bwt inverse -q book.bwt -o book.back"


def qc_lines():
    one = "qc --quiet -i reads.fq.gz"
    two = "qc --quiet -i r1.fq.gz -I r2.fq"
    for number, extra in enumerate((
            "", "-a AGATCGGAAGAGC", "-A", "-f 3 -t 5 -b 60", "-5 -3 -W 5 -M 24", "-r", "-g -x", "-q 25 -u 20 -n 2 -e 28",
            "-l 50 --length_limit 90", "-y -Y 40", "-U --umi_loc read1 --umi_len 6 --umi_prefix U", "-D --dup_calc_accuracy 2",
            "-p -P 5", "-6", "--reads_to_process 100", "-s 3", "-z 6", "--batch 64", "--shard 1/2 --part part.json")):
        yield f"{one} {extra} -o one{number}.fq -j one{number}.json -h one{number}.html --failed_out failed{number}.fq"
        yield f"{two} {extra} -o two{number}.fq.gz -O mate{number}.fq -j two{number}.json -h two{number}.html"
    yield f"{two} -c --overlap_len_require 12 -o c1.fq -O c2.fq -j c.json -h c.html"
    yield f"{two} -m --merged_out merged.fq --include_unmerged -j m.json -h m.html"
    yield f"{two} --detect_adapter_for_pe --stdout -j d.json -h d.html"
    yield "qc --quiet --stdin --stdout -j s.json -h s.html <reads.fq"


def infer_lines():
    models = "MODELS"
    for name in ("esm2_head16", "esm2_head24", "esm2_head32", "esm2_head64", "esm2_head128", "protbert_head16",
                 "protbert_head32"):
        folder = f"--model {models}/{name}"
        yield f"infer embed -q {folder} --truncate 100 proteome.fa -o {name}.npz"
        yield f"infer embed -q {folder} --include residues,cls --layers 0,-1 --truncate 100 proteome.fa -o {name}.all.npz"
        yield f"infer logits -q {folder} antibodies.fa -o {name}.logits.npz"
        yield f"infer score -q {folder} antibodies.fa"
        yield f"infer score -q {folder} --variants dms.tsv wt.fa"
        yield f"infer contacts -q {folder} antibodies.fa -o {name}.contacts.npz"
        yield f"infer info {models}/{name}"
    yield "infer design -q --model v_48_020 structures/one.pdb dimer.pdb --seed 5 -o seed.fa"
    for name in ("enformer_tiny", "borzoi_tiny", "flashzoi_tiny"):
        folder = f"--model {models}/{name}"
        yield f"infer tracks -q {folder} {models}/{name}/windows.fa -o {name}.tracks.npz"
        yield f"infer tracks -q {folder} --genome genome.fa --regions peaks.bed --strands both -o {name}.both.h5"
    enformer = f"--model {models}/enformer_tiny"
    yield f"infer variants -q {enformer} --genome genome.fa variants.vcf -o enformer.variants.tsv"
    yield f"infer embed -q {enformer} {models}/enformer_tiny/windows.fa -o enformer.embed.npz"
    yield f"infer mutagenesis -q {enformer} --genome genome.fa --region chr1:5000-5010 -o m.tsv"
    for name in ("o3", "matgl"):
        folder = f"--model {models}/tensornet/{name}"
        atoms = "crystal.extxyz" if name == "matgl" else "ligand.sdf"
        yield f"infer energy -q {folder} --forces {atoms} -o {name}.extxyz"
        yield f"infer energy -q {folder} ligands.sdf"
        yield f"infer relax -q {folder} {atoms} -o {name}.relaxed.extxyz"
        yield f"infer md -q {folder} --steps 20 --seed 3 {atoms} -o {name}.md.extxyz"


def damaged_lines(folder, inputs):
    """Each kind of input to each kind of reader, whole and cut short."""
    cut = []
    for name in ("reads.fq", "reads.fq.gz", "genome.fa", "out.jf", "genomes.json", "variants.vcf", "crystal.extxyz",
                 "ligand.sdf", "backbone.pdb", "complex.cif.gz", "peaks.bed"):
        for side in folder.values():
            whole = (side / name).read_bytes()
            (side / f"cut_{name}").write_bytes(whole[:len(whole) * 2 // 3])
        cut.append(f"cut_{name}")
    if inputs:
        cut += [str(path.resolve()) for path in sorted(inputs.rglob("*")) if path.is_file()]
    models = "MODELS"
    for path in [*cut, "no_such_file", "book.txt"]:
        yield f"align -q --mode sw {path} windows.fa"
        yield f"align -q --mode nw --pairs windows.fa {path}"
        yield f"kmer count -q -m 15 -o bad.jf {path}"
        for command in ("dump", "histo", "stats", "info", "dist"):
            yield f"kmer {command} {path}"
        yield f"qc --quiet -i {path} -o bad.fq -j bad.json -h bad.html"
        yield f"bwt index -q {path} -p bad"
        yield f"bwt count -q -x genome.fa {path}"
        yield f"infer embed -q --model {models}/esm2_head16 {path} -o bad.npz"
        yield f"infer design -q --model v_48_020 {path} -o bad.fa"
        yield f"infer energy -q --model {models}/tensornet/matgl {path}"
    for line in ("align", "align --mode no windows.fa", "align --gap-open x windows.fa a.fa", "kmer", "kmer count -m 0 a.fa",
                 "kmer count -m 21", "kmer histo", "bwt count reads.fa", "qc", "qc -i reads.fq -W 0", "infer embed",
                 "infer tracks --model no -o x.npz", "infer energy --device gpu7 --model x y", "nothing", "--nothing",
                 "gather", "devices --nothing", "align -t x a.fa b.fa", "qc -i r1.fq -I windows.fa -j x.json -h x.html"):
        yield line


def example_lines(biogpu):
    for path in help_examples.commands(biogpu):
        for line in help_examples.examples(help_examples.help_of(biogpu, path)):
            if "samtools" not in line or shutil.which("samtools"):
                for large, small in help_examples.SMALLER.items():
                    line = line.replace(large, small)
                if " bench" not in line and "devices" not in line:
                    yield line


def blank(data, side):
    for either in (side, side.with_name("old")):  # inputs were made in the old program's folder
        data = data.replace(str(either).encode(), b"HERE").replace(b"HERE/.run/", b"HERE/.bin/")
    for pattern, mark in VOLATILE:
        data = pattern.sub(mark, data)
    return data


def without_instruction_set(data):
    """What align tells on standard error, without the vector instructions that this processor has."""
    return re.sub(rb"\bcpu [A-Z][A-Z0-9_]+(?=,)", b"cpu", data)


def run(line, side, device):
    text = line if line.startswith("biogpu") or "biogpu" in line else f"biogpu {line}"
    text = text.replace("&& kmer", "&& biogpu kmer").replace("MODELS", str(ROOT / "tests/data/models"))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BIOGPU_")}
    environment.update(PATH=f"{side}/.bin:{environment['PATH']}", BIOGPU_DEVICE=device, BIOGPU_THREADS="2",
                       XDG_CACHE_HOME=str(side / ".cache"))
    done = subprocess.run(["timeout", str(LIMIT_S), "bash", "-o", "pipefail", "-c", text], cwd=side, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)  # it ends what bash began, too
    return done.returncode, blank(done.stdout, side), blank(done.stderr, side)


def files_of(side):
    return {str(path.relative_to(side)): path for path in sorted(side.rglob("*"))
            if path.is_file() and not {".bin", ".run", ".cache"} & set(path.relative_to(side).parts)}


def states_of(folder):
    """When each file of either side was last written, and its size."""
    return {(side, name): (path.stat().st_mtime_ns, path.stat().st_size)
            for side in folder for name, path in files_of(folder[side]).items()}


def remove_written(folder, before):
    """Removes from both sides what either has written since: what a command left that the time limit ended."""
    after = states_of(folder)
    for name in {key[1] for key in after if after[key] != before.get(key)}:
        for side in folder.values():
            (side / name).unlink(missing_ok=True)


def compare_files(folder):
    """Names of files that are on one side only or differ."""
    old, new = files_of(folder["old"]), files_of(folder["new"])
    for name in sorted(old.keys() ^ new.keys()):
        yield f"{name}: only the {'old' if name in old else 'new'} program leaves it"
    for name in sorted(old.keys() & new.keys()):
        a, b = old[name].read_bytes(), new[name].read_bytes()
        if name.endswith(".bgk"):
            a, b = a[:-BGK_TRAILER], b[:-BGK_TRAILER]
        if a != b and blank(a, folder["old"]) != blank(b, folder["new"]):
            yield f"{name}: differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--only", nargs="+", default=[], help="commands that begin with one of these words")
    parser.add_argument("--emulator", default="", help="runs NEW, which is for another processor")
    parser.add_argument("--inputs", type=pathlib.Path, help="folder of files for every reader")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no command after that")
    arguments = parser.parse_args()
    programs = {"old": arguments.old.resolve(), "new": arguments.new.resolve()}
    with tempfile.TemporaryDirectory() as name:
        folder = {side: pathlib.Path(name) / side for side in programs}
        folder["old"].mkdir()
        help_examples.write_inputs(folder["old"], ROOT, programs["old"])
        shutil.copytree(folder["old"], folder["new"])
        for side, program in programs.items():
            (folder[side] / ".bin").mkdir()
            program_file = folder[side] / ".bin" / "biogpu"
            if side == "new" and arguments.emulator:
                (folder[side] / ".run").mkdir()
                program_file.write_text(f'#!/bin/sh\nexec {arguments.emulator} "{folder[side]}/.run/biogpu" "$@"\n')
                program_file.chmod(0o755)
                program_file = folder[side] / ".run" / "biogpu"
            shutil.copy(program, program_file)  # databases hold the path of the program
            (folder[side] / ".bin" / "less").symlink_to(shutil.which("cat"))
        lines = [*example_lines(programs["old"]), *align_lines(), *kmer_lines(), *bwt_lines(), *qc_lines(), *infer_lines(),
                 *damaged_lines(folder, arguments.inputs)]
        if arguments.only:
            lines = [line for line in lines if line.removeprefix("biogpu ").split()[0] in arguments.only]
        codes, problems, n_late, ended, begin = {}, [], 0, [], time.monotonic()
        for line in lines:
            if time.monotonic() - begin > arguments.seconds:
                n_late += 1
                continue
            before = states_of(folder)
            seen = {side: run(line, folder[side], arguments.device) for side in programs}
            timed_out = {side for side in programs if seen[side][0] == TIMED_OUT}
            if timed_out:
                remove_written(folder, before)
            if len(timed_out) == 2 or (arguments.emulator and "new" in timed_out):
                ended.append(line)
                continue
            codes[seen["old"][0]] = codes.get(seen["old"][0], 0) + 1
            if arguments.emulator:
                seen = {side: (*rest, without_instruction_set(error)) for side, (*rest, error) in seen.items()}
            for what, a, b in zip(("exit code", "standard output", "standard error"), seen["old"], seen["new"]):
                if a != b:
                    problems.append(f"{line}\n  {what}: {a[-300:] if what != 'exit code' else a!r}\n"
                                    f"  now: {b[-300:] if what != 'exit code' else b!r}")
        problems += compare_files(folder)
        n_files = len(files_of(folder["old"]))
    print("\n".join([*problems, *(f"{line}\n  not compared: it takes more than {LIMIT_S} s" for line in ended)]))
    n_left_out = n_late + len(ended)
    n_compared = len(lines) - n_left_out
    print(f"{n_compared} commands, {n_files} files, {len(problems)} differences; exit codes of the old program: "
          + ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
          + (f"; {n_left_out} commands left out" if n_left_out else ""))
    sys.exit(1 if problems or n_compared == 0 else 0)


if __name__ == "__main__":
    main()
