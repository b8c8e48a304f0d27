"""Snakemake wrapper for biogpu gather."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

shell("biogpu gather {extra} -o {snakemake.output[0]} {snakemake.input} {log}")
