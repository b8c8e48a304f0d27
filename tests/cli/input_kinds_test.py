#!/usr/bin/env python3
"""Every input of every command as a file, a named pipe, a process substitution and standard input.

usage: input_kinds_test.py BIOGPU SOURCE

An input that is read once gives the same output from all of them. One that is read twice, or at any place, is refused
at once when it is a pipe, even one without a writer. Nothing waits for a writer that has gone.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

BIOGPU, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MODELS = SOURCE / "tests/data/models"
SECONDS = 60  # no run takes long; a machine may be busy
REFUSED = re.compile(r"is a pipe; expected a file|is no regular file; expected a file|can be read only once; expected a file"
                     r"|passes once; give a file|standard input")
faults, n_checks = [], 0


def check(what, good, detail=""):
    global n_checks
    n_checks += 1
    if not good:
        faults.append(what)
        print(f"FAILED: {what}: {detail}")


def run(words, stdin=subprocess.DEVNULL, fds=(), seconds=SECONDS):
    try:
        done = subprocess.run([BIOGPU, *map(str, words)], stdin=stdin, capture_output=True, pass_fds=fds, timeout=seconds, check=False)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return 124, b"", "it waits"


def make(*words):
    code, _, error = run(words)
    assert code == 0, (words, error)


def write_inputs():
    rng = random.Random(20)
    letters = lambda n: "".join(rng.choices("ACGT", k=n))  # noqa: E731
    pathlib.Path("a.fa").write_text("".join(f">s{i}\n{letters(150)}\n" for i in range(30)))
    pathlib.Path("q.fa").write_text("".join(f">q{i}\n{letters(60)}\n" for i in range(30)))
    for name, seed in (("r.fq", 1), ("m.fq", 2)):
        rng.seed(seed)
        pathlib.Path(name).write_text("".join(f"@r{i}\n{letters(80)}\n+\n{'I' * 80}\n" for i in range(300)))
    pathlib.Path("r.sam").write_text("@HD\tVN:1.6\n" + "".join(
        f"r{i}\t4\t*\t0\t0\t*\t*\t0\t0\t{letters(40)}\t{'I' * 40}\n" for i in range(20)))
    pathlib.Path("adapters.fa").write_text(">x\nACGTTGCATT\n")
    pathlib.Path("barcodes").write_text("ACGTACGT\n")
    pathlib.Path("matrix").write_text("   A  C  G  T\nA  3 -2 -2 -2\nC -2  3 -2 -2\nG -2 -2  3 -2\nT -2 -2 -2  3\n")
    pathlib.Path("commands").write_text("cat r.fq\ncat a.fa\n")
    pathlib.Path("text").write_text("mississippi\n")
    subprocess.run(["gzip", "-k", "-n", "r.fq"], check=True)
    make("kmer", "count", "-q", "-m", "9", "--no-provenance", "-o", "d.jf", "a.fa")
    make("kmer", "count", "-q", "-m", "9", "--no-provenance", "-o", "d.bgk", "q.fa")
    make("kmer", "count", "-q", "-m", "9", "--no-provenance", "-o", "d.kff", "r.fq")
    make("kmer", "bc", "-m", "9", "-s", "9k", "--no-provenance", "-o", "d.bc", "r.fq")
    make("kmer", "sketch", "-k", "9", "-o", "d.json", "a.fa")
    make("bwt", "index", "-q", "-p", "g", "a.fa")
    make("bwt", "index", "-q", "--format", "bwa", "-p", "g", "a.fa")
    make("bwt", "transform", "-q", "--bytes", "text", "-o", "text.bwt")
    make("align", "-q", "--mode", "sw", "q.fa", "a.fa", "-o", "rows.tsv")
    make("qc", "--quiet", "-i", "r.fq", "-o", "o.fq", "-j", "o.json", "-h", "o.html", "--part", "o.part")
    for name in ("genome.fa", "variants.vcf", "windows.fa"):
        shutil.copy(MODELS / "enformer_tiny" / name, name)
    lines = pathlib.Path("variants.vcf").read_text().splitlines()
    head = [line for line in lines if line.startswith("##")] + ['##FORMAT=<ID=GT,Number=1,Type=String,Description="g">']
    rows = [line + ("\tFORMAT\tone" if line.startswith("#") else "\tGT\t0|1") for line in lines if not line.startswith("##")]
    pathlib.Path("samples.vcf").write_text("\n".join(head + rows) + "\n")
    pathlib.Path("regions.bed").write_text("chr1\t1000\t1100\tp\n")
    pathlib.Path("genes.bed").write_text("chr1\t896\t1152\tg\n")
    subprocess.run([sys.executable, SOURCE / "tests/support/random_proteinmpnn.py", "model"], check=True)
    subprocess.run([sys.executable, SOURCE / "tests/support/potential_frames.py", "write", MODELS / "tensornet/o3", "frames.xyz"],
                   check=True)
    for name in ("edited.pdb", "fixed_positions.jsonl", "omit_AA.jsonl", "chain_id.jsonl", "bias_AA.jsonl"):
        shutil.copy(MODELS / "proteinmpnn" / name, name)
    subprocess.run([sys.executable, SOURCE / "tests/support/write_npz.py", MODELS / "pairformer_tiny/expected.safetensors", "trunk.npz",
                    "z=full/z", "s=full/s"], check=True)
    shutil.copy(MODELS / "molscribe_tiny/picture0.png", "picture0.png")
    for name in ("protein.pdb", "ligands.sdf"):
        shutil.copy(MODELS / "dualbind" / name, name)
    pathlib.Path("mutations.tsv").write_text("sequence\tvariant\n")


def inputs():
    """(what, file, words with @ for it, whether it is read once, whether - is standard input)."""
    once, twice, dash = True, False, True
    align = ["align", "-q", "--mode", "sw"]
    yield "align QUERY", "q.fa", [*align, "@", "a.fa"], once, dash
    yield "align TARGET", "a.fa", [*align, "q.fa", "@"], once, dash
    yield "align --pairs QUERY", "q.fa", [*align, "--pairs", "@", "a.fa"], once, dash
    yield "align --pairs TARGET", "a.fa", [*align, "--pairs", "q.fa", "@"], once, dash
    yield "align --self", "q.fa", [*align, "--self", "@"], once, dash
    yield "align --matrix", "matrix", [*align, "--matrix", "@", "q.fa", "a.fa"], once, False
    yield "align --shard", "q.fa", [*align, "--pairs", "--shard", "1/2", "@", "a.fa"], twice, dash
    yield "align parasail -f", "a.fa", ["align", "parasail", "-x", "-d", "-f", "@", "-q", "q.fa", "-g", "OUT"], once, False
    yield "align parasail -q", "q.fa", ["align", "parasail", "-x", "-d", "-f", "a.fa", "-q", "@", "-g", "OUT"], once, False
    yield "bwt index", "a.fa", ["bwt", "index", "-q", "-p", "OUT", "@"], once, dash
    yield "bwt index --format bwa", "a.fa", ["bwt", "index", "-q", "--format", "bwa", "-p", "OUT", "@"], once, dash
    yield "bwt transform", "q.fa", ["bwt", "transform", "-q", "-o", "OUT", "@"], once, dash
    yield "bwt inverse", "text.bwt", ["bwt", "inverse", "-q", "-o", "OUT", "@"], once, dash
    for command in ("count", "locate", "smem"):
        yield f"bwt {command}", "q.fa", ["bwt", command, "-q", "-x", "g", "@"], once, dash
    for name in ("r.fq", "r.fq.gz", "q.fa", "r.sam"):
        yield f"kmer count {name}", name, ["kmer", "count", "-q", "-m", "9", "--text", "--no-provenance", "-o", "OUT", "@"], once, dash
    yield "kmer count --sam", "r.sam", ["kmer", "count", "-q", "-m", "9", "--text", "--no-provenance", "-o", "OUT", "--sam", "@"], once, False
    count = ["kmer", "count", "-q", "-m", "9", "--text", "--no-provenance", "-o", "OUT", "r.fq"]
    yield "kmer count --if", "q.fa", [*count, "--if", "@"], once, False
    yield "kmer count --bc", "d.bc", [*count, "--bc", "@"], once, False
    yield "kmer count -g", "commands", ["kmer", "count", "-q", "-m", "9", "--text", "--no-provenance", "-o", "OUT", "-g", "@"], once, False
    yield "kmer count --shard", "r.fq", ["kmer", "count", "-q", "-m", "9", "--shard", "1/2", "-o", "OUT", "@"], twice, dash
    yield "kmer bc", "r.fq", ["kmer", "bc", "-m", "9", "-s", "9k", "--no-provenance", "-o", "OUT", "@"], once, dash
    yield "kmer sketch", "r.fq", ["kmer", "sketch", "-k", "9", "@"], once, dash
    for name in ("a.fa", "d.json", "r.fq"):
        yield f"kmer dist reference {name}", name, ["kmer", "dist", "-k", "9", "@", "q.fa"], once, dash
        yield f"kmer dist query {name}", name, ["kmer", "dist", "-k", "9", "q.fa", "@"], once, dash
    for name in ("d.jf", "d.bgk", "d.kff"):
        for command in (["histo"], ["stats"], ["dump", "-c"], ["info", "-j"]):
            yield f"kmer {command[0]} {name}", name, ["kmer", *command, "@"], once, dash
        yield f"kmer merge {name}", name, ["kmer", "merge", "-o", "OUT.kff", "@", "d.jf"], once, dash
        yield f"kmer set union {name}", name, ["kmer", "set", "union", "-o", "OUT.kff", "d.jf", "@"], once, dash
    yield "kmer query DB", "d.jf", ["kmer", "query", "@", "ACGTTGCAT"], twice, False
    yield "kmer query -s", "a.fa", ["kmer", "query", "d.jf", "-s", "@"], once, dash
    qc = ["qc", "--quiet", "-A", "-j", "/dev/null", "-h", "/dev/null"]
    for name in ("r.fq", "r.fq.gz"):
        yield f"qc -i {name}", name, [*qc, "-i", "@", "-o", "OUT"], once, dash
    yield "qc -I", "m.fq", [*qc, "-i", "r.fq", "-I", "@", "-o", "OUT", "-O", "OUT2"], once, False
    yield "qc --interleaved_in", "r.fq", [*qc, "--interleaved_in", "-i", "@", "-o", "OUT", "-O", "OUT2"], once, dash
    yield "qc --adapter_fasta", "adapters.fa", ["qc", "--quiet", "-j", "/dev/null", "-h", "/dev/null", "-i", "r.fq", "--adapter_fasta", "@", "-o", "OUT"], once, False
    yield "qc --filter_by_index1", "barcodes", [*qc, "-i", "r.fq", "--filter_by_index1", "@", "-o", "OUT"], once, False
    yield "qc --shard", "r.fq", [*qc, "--shard", "1/2", "-i", "@", "-o", "OUT"], twice, dash
    yield "qc --split", "r.fq", [*qc, "--split", "2", "-i", "@", "-o", "OUT"], twice, dash
    yield "qc-merge", "o.part", ["qc-merge", "-j", "OUT", "-h", "/dev/null", "@"], twice, False
    yield "gather", "rows.tsv", ["gather", "--format", "tsv", "-o", "OUT", "@"], once, dash
    esm = ["--model", MODELS / "esm2_head16", "--device", "cpu", "-q"]
    proteins = pathlib.Path("proteins.fa")
    proteins.write_text(">a\nMKTAYIAKQR\n>b\nMAEGEITTFT\n")
    for command in ("embed", "logits", "score"):
        yield f"infer {command}", "proteins.fa", ["infer", command, *esm, "@", "-o", "OUT.tsv"], once, dash
    for command in ("fill-mask", "contacts"):
        yield f"infer {command}", "proteins.fa", ["infer", command, *esm, "@", "-o", "OUT.tsv"], once, dash
    yield "infer embed --shard", "proteins.fa", ["infer", "embed", *esm, "--shard", "1/2", "@", "-o", "OUT.tsv"], twice, dash
    design = ["infer", "design", "--model", "model", "--device", "cpu", "-q", "-n", "1", "--seed", "3", "-o", "OUT.fa"]
    for option in ("--fixed-positions-jsonl", "--omit-AA-jsonl", "--chain-id-jsonl", "--bias-AA-jsonl"):
        name = option[2:].replace("-jsonl", "").replace("-", "_") + ".jsonl"
        yield f"infer design {option}", name, [*design, "edited.pdb", option, "@"], once, False
    o3 = ["--model", MODELS / "tensornet/o3", "--device", "cpu", "-q"]
    yield "infer energy", "frames.xyz", ["infer", "energy", *o3, "@", "-o", "OUT.tsv"], once, dash
    yield "infer relax", "frames.xyz", ["infer", "relax", *o3, "--steps", "2", "@", "-o", "OUT.extxyz"], once, dash
    dna = ["--model", MODELS / "enformer_tiny", "--device", "cpu", "-q", "--head", "human", "--tracks", "0"]
    yield "infer tracks --genome", "genome.fa", ["infer", "tracks", *dna, "--genome", "@", "--regions", "regions.bed", "-o", "OUT.npy"], twice, dash
    yield "infer tracks --regions", "regions.bed", ["infer", "tracks", *dna, "--genome", "genome.fa", "--regions", "@", "-o", "OUT.npy"], once, dash
    yield "infer tracks FASTA", "windows.fa", ["infer", "tracks", *dna, "@", "-o", "OUT.npy"], once, dash
    variants = ["infer", "variants", *dna, "--skip-bad"]
    yield "infer variants", "variants.vcf", [*variants, "--genome", "genome.fa", "@", "-o", "OUT.tsv"], once, dash
    yield "infer variants to VCF", "variants.vcf", [*variants, "--genome", "genome.fa", "@", "-o", "OUT.vcf"], once, dash
    yield "infer variants --genome", "genome.fa", [*variants, "--genome", "@", "variants.vcf", "-o", "OUT.tsv"], twice, dash
    yield "infer variants --genes", "genes.bed", [*variants, "--genome", "genome.fa", "--genes", "@", "variants.vcf", "-o", "OUT.tsv"], once, False
    yield "infer variants --samples", "samples.vcf", [*variants, "--genome", "genome.fa", "--samples", "one", "@", "-o", "OUT.tsv"], twice, dash
    trunk = ["infer", "trunk", "--model", MODELS / "pairformer_tiny", "--device", "cpu", "-q"]
    yield "infer trunk", "trunk.npz", [*trunk, "@", "-o", "OUT.npz"], twice, dash
    picture = ["infer", "recognize", "--model", MODELS / "molscribe_tiny", "--device", "cpu", "-q", "--chemistry", "plain"]
    if run([*picture, MODELS / "molscribe_tiny/picture0.png"])[0] == 0:  # else this build reads BMP alone
        yield "infer recognize", "picture0.png", [*picture, "@"], once, dash
    affinity = ["infer", "affinity", "--model", MODELS / "dualbind", "--device", "cpu", "-q"]
    if run([*affinity, "--protein", "protein.pdb", "ligands.sdf"])[0] == 0:  # else this build has no RDKit
        yield "infer affinity LIGANDS", "ligands.sdf", [*affinity, "--protein", "protein.pdb", "@"], once, dash
        yield "infer affinity --protein", "protein.pdb", [*affinity, "--protein", "@", "ligands.sdf", "-o", "OUT.tsv"], once, False
    yield "infer mutagenesis --genome", "genome.fa", ["infer", "mutagenesis", *dna, "--genome", "@", "--region", "chr1:1041-1050", "-o", "OUT.tsv"], twice, dash


def play(words, name, path, stdin=subprocess.DEVNULL, fds=()):
    """Exit code, output without the input's name, the error."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="."))
    words = [path if word == "@" else str(word).replace("OUT", f"{folder}/out") for word in words]
    code, out, error = run(words, stdin, fds)
    if path == "-":
        out = out.replace(b"-\t", b"INPUT\t").replace(b'"-"', b'"INPUT"')
    for file in sorted(folder.iterdir()):
        data = file.read_bytes()
        if data[:9].isdigit():  # Jellyfish's header, of so many bytes, holds the command line
            data = data[9 + int(data[:9]):]
        out += b"\n" + file.name.encode() + b"\n" + data
    shutil.rmtree(folder)
    for shown in (str(path), name, "standard input"):
        out = out.replace(shown.encode(), b"INPUT") if shown != "-" else out
    return code, out.replace(f"{folder}".encode(), b"FOLDER"), error


def try_input(what, name, words, once, dash):
    code, expected, error = play(words, name, name)
    check(f"{what}: a file", code == 0, error)
    if code != 0:
        return

    def judge(kind, outcome):
        code, out, error = outcome
        if once:
            check(f"{what}: {kind}", code == 0 and out == expected, f"exit {code} {error[-300:]}{'; another output' if code == 0 else ''}")
        else:
            check(f"{what}: {kind} is refused", code == 2 and REFUSED.search(error) and len(error.splitlines()) <= 2, f"exit {code} {error[-300:]}")

    pipe = f"pipe_{name}"  # with the suffix, which tells the format of molecules
    for _ in range(2 if once else 1):
        if os.path.exists(pipe):
            os.unlink(pipe)
        os.mkfifo(pipe)
        with subprocess.Popen(["sh", "-c", f"exec cat {name} >{pipe}"]) as writer:
            judge("a named pipe", play(words, name, pipe))
            writer.kill()
    if not once:
        judge("a named pipe without a writer", play(words, name, pipe))
    for kind in (["a process substitution"] if not name.endswith((".xyz", ".sdf", ".pdb")) else []) + (["standard input"] if dash else []):
        read, write = os.pipe()
        with subprocess.Popen(["cat", name], stdout=write) as writer:
            os.close(write)
            if kind == "standard input":
                judge(kind, play(words, name, "-", stdin=read))
            else:
                judge(kind, play(words, name, f"/dev/fd/{read}", fds=(read,)))
            os.close(read)
            writer.kill()


def main():
    os.environ["XDG_CACHE_HOME"] = os.getcwd()
    os.environ.pop("BIOGPU_DEVICE", None)
    write_inputs()
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    for one in inputs():
        if only in one[0]:
            try_input(*one)
    print(f"{n_checks - len(faults)} of {n_checks} checks passed")
    return 1 if faults or n_checks == 0 else 0


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    sys.exit(main())
