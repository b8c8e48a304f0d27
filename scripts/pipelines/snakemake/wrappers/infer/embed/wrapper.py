"""Snakemake wrapper for biogpu infer embed."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)
# Never auto in a workflow: the scheduler decides who has a GPU.
device = snakemake.params.get("device", "gpu" if snakemake.resources.get("gpu", 0) else "cpu")
shard = snakemake.params.get("shard", "")
shard = f"--shard {shard}" if shard else ""

shell(
    "biogpu infer embed --threads {snakemake.threads} --device {device} {extra} {shard}"
    " --model {snakemake.input.model} {snakemake.input.sequences} -o {snakemake.output[0]} {log}"
)
