"""Snakemake wrapper for biogpu align."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)
# Never auto in a workflow: the scheduler decides who has a GPU.
device = snakemake.params.get("device", "gpu" if snakemake.resources.get("gpu", 0) else "cpu")
shard = snakemake.params.get("shard", "")
shard = f"--shard {shard}" if shard else ""

target = snakemake.input.get("target", "")
if not target and "--self" not in extra:
    raise ValueError("input.target is needed, or --self in params.extra")

shell(
    "biogpu align --quiet --threads {snakemake.threads} --device {device} {extra} {shard}"
    " --mode {snakemake.params.mode} {snakemake.input.query} {target} -o {snakemake.output[0]} {log}"
)
