"""Snakemake wrapper for biogpu kmer dump."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

shell("biogpu kmer dump {extra} -o {snakemake.output[0]} {snakemake.input[0]} {log}")
