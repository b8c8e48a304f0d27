"""Snakemake wrapper for biogpu bwt index."""

from os import path

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)
# Never auto in a workflow: the scheduler decides who has a GPU.
device = snakemake.params.get("device", "gpu" if snakemake.resources.get("gpu", 0) else "cpu")

idx = snakemake.output.get("idx", list(snakemake.output))
idx = [idx] if isinstance(idx, str) else list(idx)
suffixes = {path.splitext(file)[1] for file in idx}
prefixes = {path.splitext(file)[0] for file in idx}
prefix = snakemake.params.get("prefix", "")
if not prefix:
    if len(prefixes) != 1:
        raise ValueError(f"files of one index have one prefix: {idx}")
    prefix = prefixes.pop()
if suffixes == {".bgfm"}:
    format = "native"
elif suffixes == {".amb", ".ann", ".bwt", ".pac", ".sa"}:
    format = "bwa"
else:
    raise ValueError(f"one .bgfm, or bwa's .amb .ann .bwt .pac .sa, not {sorted(suffixes)}")

shell(
    "biogpu bwt index --threads {snakemake.threads} --device {device} --format {format} {extra}"
    " -p {prefix} {snakemake.input[0]} {log}"
)
