"""Snakemake wrapper for biogpu bwt locate."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)
# Never auto in a workflow: the scheduler decides who has a GPU.
device = snakemake.params.get("device", "gpu" if snakemake.resources.get("gpu", 0) else "cpu")
shard = snakemake.params.get("shard", "")
shard = f"--shard {shard}" if shard else ""

shell(
    "biogpu bwt locate --threads {snakemake.threads} --device {device} {extra} {shard}"
    " -x {snakemake.input.idx} {snakemake.input.queries} -o {snakemake.output[0]} {log}"
)
