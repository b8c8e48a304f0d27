#!/usr/bin/env python3
"""Runs the examples that `biogpu COMMAND --help` prints, of every command, on small inputs.

usage: tests/cli/help_examples_test.py BIOGPU SOURCE_FOLDER

The inputs have the names that the examples give them and are made from data/ and tests/data. An example that names
an input that nobody makes fails, so that a new one has to come with its input.
"""

import gzip
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 120
# What is too large for a test, or not on every machine, and what runs instead of it.
SMALLER = {"-s 100G": "-s 100k", "--layers 30,-1": "--layers 1,-1", "--batches 16x512": "--batches 2x32",
           "lab run --json": "lab run --quick --json",
           "--only tensor --atoms 1024,4096": "--only tensor --atoms 64 --quick",
           "bench --device gpu": "bench --batches 2x32 --model esm2_t6_8M_UR50D --device cpu"}


def commands(biogpu, path=()):
    """Every command and subcommand, as words; the program itself first."""
    yield path
    if path == ("align",):
        yield "align", "parasail"  # has a parser of its own and is in no list
    text = help_of(biogpu, path).split("Examples:")[0]
    for group in re.findall(r"^[A-Z][A-Za-z -]*:\n((?:  [a-z][a-z-]*(?: .*)?\n(?:   .*\n)*)+)", text, re.MULTILINE):
        for name in re.findall(r"^  ([a-z][a-z-]*)(?:  +|$)", group, re.MULTILINE):
            yield from commands(biogpu, (*path, name))


def help_of(biogpu, path):
    flag = "-h" if "parasail" in path else "--help"  # parasail_aligner knows no long options
    done = subprocess.run([biogpu, *path, flag], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def examples(text):
    """The lines behind "Examples:", continued ones joined."""
    found = []
    inside = False
    for line in text.splitlines():
        if line.startswith("Examples:"):
            inside = True
        elif inside and line.startswith("  "):
            if found and found[-1].endswith("\\"):
                found[-1] = found[-1][:-1] + line.strip()
            else:
                found.append(line.strip())
        elif inside and line.strip():
            inside = False
    return found


def backbone(n, chains="AB"):
    """Atoms of ideal helices: (chain, number, name, x, y, z)."""
    atoms = []
    for c, chain in enumerate(chains):
        for i in range(n):
            for name, radius, turn, rise in (("N", 1.55, -28, -0.9), ("CA", 2.3, 0, 0), ("C", 1.6, 27, 1.1),
                                             ("O", 2.0, 25, 2.3)):
                angle = math.radians(100 * i + turn)
                atoms.append((chain, i + 1, name, radius * math.cos(angle) + 12 * c, radius * math.sin(angle),
                              1.5 * i + rise))
    return atoms


def write_structures(folder):
    atoms = backbone(60)
    pdb = "".join(f"ATOM  {i + 1:5d}  {name:<3s} ALA {chain}{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
                  f"           {name[0]}\n" for i, (chain, number, name, x, y, z) in enumerate(atoms)) + "END\n"
    for name in ("backbone.pdb", "dimer.pdb", "structures/one.pdb", "structures/two.pdb"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(pdb, encoding="ascii")
    columns = ("group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id", "label_asym_id",
               "label_entity_id", "label_seq_id", "pdbx_PDB_ins_code", "Cartn_x", "Cartn_y", "Cartn_z", "occupancy",
               "B_iso_or_equiv", "auth_seq_id", "auth_asym_id", "pdbx_PDB_model_num")
    cif = "data_complex\nloop_\n" + "".join(f"_atom_site.{column}\n" for column in columns)
    cif += "".join(f"ATOM {i + 1} {name[0]} {name} . ALA {chain} 1 {number} ? {x:.3f} {y:.3f} {z:.3f} 1.00 0.00 "
                   f"{number} {chain} 1\n" for i, (chain, number, name, x, y, z) in enumerate(atoms))
    (folder / "complex.cif.gz").write_bytes(gzip.compress(cif.encode(), mtime=0))


def write_enformer(folder, source):
    """A model of DNA with names of its tracks, a window for it, and regions of genome.fa."""
    shutil.copytree(source / "tests/data/models/enformer_tiny", folder / "enformer")
    shutil.copy(source / "tests/data/models/enformer_tiny/windows.fa", folder / "loci.fa")
    shutil.copytree(source / "tests/data/models/alphagenome_tiny", folder / "alphagenome")
    lines = [f"{i}\tTRACK{i}\t{'DNASE' if i < 3 else 'CAGE'}:tissue {i}\n" for i in range(7)]
    (folder / "enformer" / "targets_human.txt").write_text("index\tidentifier\tdescription\n" + "".join(lines))
    (folder / "peaks.bed").write_text("chr1\t1000\t1200\tpeak1\nchr1\t5000\t5400\tpeak2\n")


def write_potentials(folder, source):
    """Models of molecules and of crystals with inputs of a few atoms."""
    models = source / "tests/data/models/tensornet"
    shutil.copytree(models / "o3", folder / "aceff")
    shutil.copytree(models / "matgl", folder / "matpes-pbe")
    crystal = '2\nLattice="3.2 0 0 0.3 3.4 0 0 0.2 3.1"\nSi 0 0 0\nO 1.5 1.6 1.4\n'
    (folder / "crystals.extxyz").write_text(crystal, encoding="ascii")
    (folder / "crystal.extxyz").write_text(crystal, encoding="ascii")
    molecule = ("water\n  test              3D\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n"
                "    0.0000    0.0000    0.1000 O   0  0\n    0.9600    0.0000    0.0000 H   0  0\n  1  2  1  0\n"
                "M  END\n")
    (folder / "ligand.sdf").write_text(molecule + "$$$$\n", encoding="ascii")
    (folder / "ligands.sdf").write_text(2 * (molecule + "$$$$\n"), encoding="ascii")


def write_complexes(folder, source):
    """Models of affinities with a protein and its ligands."""
    dualbind = source / "tests/data/models/dualbind"
    for name in ("dualbind", "fold0", "fold1", "fold2"):
        shutil.copytree(dualbind, folder / name)
    shutil.copy(dualbind / "protein.pdb", folder / "receptor.pdb")
    (folder / "docked.sdf.gz").write_bytes(gzip.compress((dualbind / "ligands.sdf").read_bytes(), mtime=0))
    (folder / "complexes.tsv").write_text("receptor.pdb\tdocked.sdf.gz\n", encoding="ascii")


def write_trunk(folder, source):
    """A Pairformer and the arrays of one input."""
    tiny = source / "tests/data/models/pairformer_tiny"
    shutil.copytree(tiny, folder / "protenix-mini")
    subprocess.run([sys.executable, source / "tests/support/write_npz.py", tiny / "expected.safetensors", folder / "in.npz",
                    "z=full/z", "s=full/s"], check=True)


def write_pictures(folder, source):
    """A model of pictures, and drawings."""
    model = source / "tests/data/models/molscribe_tiny"
    shutil.copytree(model, folder / "molscribe")
    shutil.copy(model / "picture1.png", folder / "drawing.png")
    (folder / "crops").mkdir()
    for i in range(3):
        shutil.copy(model / f"picture{i}.png", folder / "crops")


def write_variants(folder, chromosome):
    """Substitutions of chr1 of genome.fa, and a gene."""
    ids = 'gene_id "G1"; transcript_id "T1";'
    (folder / "genes.gtf").write_text("".join(f"chr1\tx\t{feature}\t900\t1300\t.\t+\t.\t{ids}\n"
                                              for feature in ("gene", "transcript", "exon")))
    lines = [f"chr1\t{at + 1}\t.\t{chromosome[at]}\t{'ACGT'[('ACGT'.index(chromosome[at]) + 1) % 4]}\t.\t.\t.\n"
             for at in (1000, 5000)]
    (folder / "variants.vcf").write_text("##fileformat=VCFv4.2\n##contig=<ID=chr1>\n"
                                         "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "".join(lines))


def write_inputs(folder, source, biogpu):
    """All names that examples use for their inputs."""
    data = source / "data"
    reads = gzip.decompress((data / "lambda_reads.fq.gz").read_bytes())
    packed = gzip.compress(reads, mtime=0)
    for name in ("reads.fq.gz", "r1.fq.gz", "r2.fq.gz", "reads_2.fq.gz"):
        (folder / name).write_bytes(packed)
    for name in ("reads.fq", "r1.fq", "r2.fq", "reads_1.fq"):
        (folder / name).write_bytes(reads)
    genome = (data / "lambda.fa").read_text(encoding="ascii").splitlines()
    chromosomes = "\n".join([">chr1", *genome[1:], ">chrM", *genome[1:300]]) + "\n"
    (folder / "genome.fa").write_text(chromosomes, encoding="ascii")
    windows = (data / "lambda_windows.fa").read_text(encoding="ascii")
    for name in ("windows.fa", "reads.fa", "panel.fa", "contigs.fa", "a.fa", "b.fa", "c.fa", "query.fa"):
        (folder / name).write_text(windows, encoding="ascii")
    for name in ("guides.fa", "primers.fa"):
        (folder / name).write_text(">p1\n" + "".join(genome[1:])[500:520] + "\n", encoding="ascii")
    shutil.copy(data / "protein_queries.fa", folder / "queries.fa")
    for name in ("proteins.fa", "proteome.fa", "targets.fa", "proteins.fasta"):
        shutil.copy(data / "proteins.fa", folder / name)
    for name in ("q.fa", "t.fa"):
        shutil.copy(data / "lambda_windows.fa", folder / name)
    (folder / "proteins.fa.gz").write_bytes(gzip.compress((data / "proteins.fa").read_bytes(), mtime=0))
    shutil.copy(source / "README.md", folder / "book.txt")
    protein = ">wt\nMKTAYIAKQR\n"
    for name in ("protein.fa", "wild_type.fa", "wt.fa", "antibodies.fa"):
        (folder / name).write_text(protein, encoding="ascii")
    (folder / "dms.tsv").write_text("mutant\nM1A\nK2D\n", encoding="ascii")
    for name in ("esm2_t6_8M_UR50D", "esm2_t33_650M_UR50D"):
        shutil.copytree(source / "tests/data/models/esm2_head16", folder / name)
    write_enformer(folder, source)
    write_variants(folder, "".join(genome[1:]).upper())
    write_potentials(folder, source)
    write_complexes(folder, source)
    write_trunk(folder, source)
    write_pictures(folder, source)
    subprocess.run([sys.executable, source / "tests/support/random_proteinmpnn.py", folder / "v_48_020"], check=True)
    write_structures(folder)

    def run(*words):
        subprocess.run([str(word) for word in (biogpu, *words)], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    run("bwt", "index", "genome.fa", "-p", "genome.fa")
    run("bwt", "index", "--format", "bwa", "-p", "prefix", "genome.fa")
    run("bwt", "transform", "reads.fa", "-o", "reads.bwt")
    for name in ("out.jf", "tumour.jf", "normal.jf", "a.jf", "b.jf"):
        run("kmer", "count", "-m", 21, "-C", "-o", name, "reads.fq")
    run("kmer", "sketch", "-o", "genomes.json", "a.fa", "b.fa", "c.fa")
    run("infer", "design", "--model", "v_48_020", "backbone.pdb", "-o", "designs.fa")
    if shutil.which("samtools"):
        for name in ("a.bam", "b.bam"):
            subprocess.run(["samtools", "import", "-o", name, "-0", "reads.fq"], cwd=folder, check=True,
                           stderr=subprocess.DEVNULL)


def run_example(line, folder, environment):
    """None, or why it failed."""
    for large, small in SMALLER.items():
        line = line.replace(large, small)
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"took over {LIMIT_S} s"
    return None if done.returncode == 0 else f"status {done.returncode}: {done.stdout.strip()[-400:]}"


def main():
    biogpu, source = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    n_examples, n_skipped, failed = 0, 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_inputs(folder, source, biogpu)
        (folder / ".bin").mkdir()
        (folder / ".bin" / "biogpu").symlink_to(biogpu)
        (folder / ".bin" / "less").symlink_to(shutil.which("cat"))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("BIOGPU_")}
        environment.update(PATH=f"{folder}/.bin:{environment['PATH']}", BIOGPU_DEVICE="cpu", BIOGPU_THREADS="2")
        has_rdkit = (biogpu.parent / "libbiogpu_rdkit.so").exists()
        for path in commands(biogpu):
            lines = examples(help_of(biogpu, path))
            if not lines:
                failed.append(f"biogpu {' '.join(path)} --help has no examples")
            for line in lines:
                if ("samtools" in line and not shutil.which("samtools")) or ("affinity" in line and not has_rdkit):
                    n_skipped += 1
                    continue
                n_examples += 1
                problem = run_example(line, folder, environment)
                if problem:
                    failed.append(f"biogpu {' '.join(path)} --help: {line}\n  {problem}")
    print("\n".join(failed))
    print(f"{n_examples - len([f for f in failed if 'has no examples' not in f])} of {n_examples} examples ran"
          + (f", {n_skipped} SKIPPED without samtools or RDKit" if n_skipped else ""))
    sys.exit(1 if failed or n_examples < 30 else 0)


if __name__ == "__main__":
    main()
