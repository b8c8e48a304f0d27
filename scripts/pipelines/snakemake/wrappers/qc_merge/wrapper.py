"""Snakemake wrapper for biogpu qc-merge."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

shell(
    "biogpu qc-merge {extra} {snakemake.input} --json {snakemake.output.json}"
    " --html {snakemake.output.html} {log}"
)
