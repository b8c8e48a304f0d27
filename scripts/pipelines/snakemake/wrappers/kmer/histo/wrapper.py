"""Snakemake wrapper for biogpu kmer histo."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=False, stderr=True)

shell("biogpu kmer histo --threads {snakemake.threads} {extra} {snakemake.input[0]} > {snakemake.output[0]} {log}")
