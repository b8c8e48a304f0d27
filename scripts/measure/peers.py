"""The commands of the peers, each in one place: scripts/compare and scripts/bench run the same ones."""

import subprocess

BWA_PARTS = ("amb", "ann", "pac", "bwt", "sa")


def jellyfish_count(k, size, threads, reads, database):
    return ["jellyfish", "count", "-m", k, "-C", "-s", size, "-t", threads, "-o", database, reads]


def jellyfish_query(reads, database, out):
    return ["jellyfish", "query", "-s", reads, "-o", out, database]


def jellyfish_records(database):
    """A shell command that writes the records without the header, which names the program that counted."""
    return f"jellyfish info -s {database}"


def kmc_count(k, threads, reads, database, folder, in_memory):
    """in_memory: without temporary files, which otherwise are in the folder."""
    return ["kmc", f"-k{k}", "-ci1", "-cs4294967295", f"-t{threads}", *(["-r"] if in_memory else []), reads, database,
            folder]


def bwa_index(genome, prefix):
    return ["bwa", "index", "-p", prefix, genome]


def bwa_matches(index, reads):
    return ["bwa", "fastmap", index, reads]


def qc_profile(version):
    """The options of `biogpu qc` for the results of a fastp, by what it prints as its version."""
    return ["--profile", "fastp-0.23" if version.startswith("fastp 0.") else "fastp-1"]


def fastp_version(program):
    """The line, which older ones print on standard error."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


def trim(program, threads, reads, trimmed, report):
    """The same for fastp and `biogpu qc`. report: the path of the JSON and HTML reports without suffix."""
    line = [*program, "-w", threads, "-j", f"{report}.json", "-h", f"{report}.html"]
    for options, read, write in zip((("-i", "-o"), ("-I", "-O")), reads, trimmed):
        line += [options[0], read, options[1], write]
    return line
