"""Snakemake wrapper for biogpu qc."""

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)
# Never auto in a workflow: the scheduler decides who has a GPU.
device = snakemake.params.get("device", "gpu" if snakemake.resources.get("gpu", 0) else "cpu")
shard = snakemake.params.get("shard", "")
shard = f"--shard {shard}" if shard else ""
adapters = snakemake.params.get("adapters", "")

sample = snakemake.input.get("sample")
sample = [sample] if isinstance(sample, str) else list(sample)
if len(sample) not in (1, 2):
    raise ValueError(f"input.sample is one file or two, not {len(sample)}")
reads = f"-i {sample[0]}" if len(sample) == 1 else f"-i {sample[0]} -I {sample[1]}"

trimmed = snakemake.output.get("trimmed", [])
trimmed = [trimmed] if isinstance(trimmed, str) else list(trimmed)
if trimmed and len(trimmed) != len(sample):
    raise ValueError("output.trimmed is as many files as input.sample")
for option, path in zip(("-o", "-O"), trimmed):
    reads += f" {option} {path}"

# As in bio/fastp: unpaired is one file that takes the mates of both kinds, and wins over files for each.
outputs = ""
unpaired = snakemake.output.get("unpaired")
if unpaired:
    outputs = f" --unpaired1 {unpaired} --unpaired2 {unpaired}"
for name, option in (("unpaired1", "--unpaired1"), ("unpaired2", "--unpaired2"),
                     ("merged", "-m --merged_out"), ("failed", "--failed_out"),
                     ("part", "--part")):
    path = snakemake.output.get(name)
    if path and not (unpaired and name.startswith("unpaired")):
        outputs += f" {option} {path}"

shell(
    "biogpu qc --thread {snakemake.threads} --device {device} {extra} {adapters} {shard} {reads} {outputs}"
    " --json {snakemake.output.json} --html {snakemake.output.html} {log}"
)
