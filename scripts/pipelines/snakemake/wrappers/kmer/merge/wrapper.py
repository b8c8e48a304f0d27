"""Snakemake wrapper for biogpu kmer merge."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

shell("biogpu kmer merge {extra} --output {snakemake.output[0]} {snakemake.input} {log}")
