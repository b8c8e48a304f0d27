"""Snakemake wrapper for biogpu kmer count."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)
# Never auto in a workflow: the scheduler decides who has a GPU.
device = snakemake.params.get("device", "gpu" if snakemake.resources.get("gpu", 0) else "cpu")
shard = snakemake.params.get("shard", "")
shard = f"--shard {shard}" if shard else ""
size = snakemake.params.get("size", "")
size = f"--size {size}" if size else ""

shell(
    "biogpu kmer count --threads {snakemake.threads} --device {device} {extra} {size} {shard}"
    " --mer-len {snakemake.params.kmer_length} --output {snakemake.output[0]} {snakemake.input} {log}"
)
