"""The tables of README and docs, each from one result. KINDS names them for the markers of measure.pages."""

import statistics

from measure import bench_tables, machine, model_tables, timing
from measure.gfx942 import gfx942_cases
from measure.gfx942_blocks import gfx942_blocks
from measure.kernel_resources import kernel_resources, tight_kernels
from measure.overview import overview
from measure.platforms import platforms
from measure.random_runs.table import random_runs
from measure.text import seconds, table, times


def with_spread(runs, key="wall_s"):
    median, low, high = timing.spread(runs, key)
    return f"{seconds(median)} ({seconds(low)} to {seconds(high)})"


def megabytes(runs):
    return f"{statistics.median(run['peak_bytes'] for run in runs) / 1e6:.0f}"


def caption(result):
    repeats = len(next(iter(result["cases"][0]["programs"].values()))["runs"]) if result["cases"] else 0
    threads = "1 thread" if result["threads"] == 1 else f"{result['threads']} threads"
    return (f"{machine.sentence(result['machine'])}; biogpu {threads}, --device {result['device']}; peers as noted; "
            f"medians of {repeats} runs in turns; {result['date']}")


def rows_of(result):
    """(name, key of the seconds, case): a case whose programs time their own work has a row for that too."""
    for case in result["cases"]:
        if not case["only_compute"]:
            yield case["name"], "wall_s", case
        if all("compute_s" in run for side in case["programs"].values() for run in side["runs"]):
            yield f"{case['name']}, without loading", "compute_s", case


def compare(result):
    """Of scripts/compare: whole commands, biogpu and a peer."""
    rows = []
    for name, key, case in rows_of(result):
        ours, theirs = case["programs"]["biogpu"]["runs"], case["programs"][result["peer"]]["runs"]
        ratio = {of: timing.medians(theirs)[of] / max(1e-3, timing.medians(ours)[of]) for of in (key, "cpu_s")}
        whole = key == "wall_s"
        rows.append([name, with_spread(ours, key), with_spread(theirs, key), times(ratio[key]),
                     times(ratio["cpu_s"]) if whole else "",
                     f"{megabytes(ours)} / {megabytes(theirs)}" if whole else ""])
    heads = ["workload", "biogpu, s", f"{result['title']}, s", "speedup", "CPU-time reduction", "peak MB, biogpu / peer"]
    return table(heads, rows, "lrrrrr")


def compare_details(result):
    """The machine, versions, how equality was shown, inputs and commands."""
    versions = ", ".join(f"{name}: {version}" for name, version in result["versions"].items() if version)
    lines = [f"{caption(result)}.", "", f"Versions: {versions}.", ""]
    lines += table(["workload", "equal", "commands"],
                   [[f"{case['name']} ({case['note']})" if case["note"] else case["name"], case["rule"],
                     "<br>".join(f"`{side['command']}`" for side in case["programs"].values())]
                    for case in result["cases"]])
    if result["inputs"]:
        lines += ["", f"Inputs, from seed {result['seed']}:", ""]
        lines += table(["file", "what", "bytes", "sha256"],
                       [[i["name"], i["what"], f"{i['bytes']:,}", f"`{i['sha256'][:16]}`"] for i in result["inputs"]],
                       "llrl")
    return lines


def compare_sections(*results):
    """A section a peer, for docs/benchmarks/compare.md."""
    lines = []
    for result in results:
        lines += [f"### {result['what']} compared with {result['title']}", "", *compare(result), "",
                  *compare_details(result), ""]
    return lines[:-1]


KINDS = {kind.__name__: kind for kind in (
    compare, compare_details, compare_sections, gfx942_blocks, gfx942_cases, kernel_resources, overview, platforms, random_runs,
    tight_kernels,
    bench_tables.figures, bench_tables.parasail_library, bench_tables.align_files, bench_tables.align_cpu,
    bench_tables.align_gpu_library, bench_tables.align_gpu_files,
    bench_tables.kmer_count, bench_tables.kmer_query, bench_tables.kmer_versions, bench_tables.kmer_device,
    bench_tables.qc, bench_tables.qc_ratios, bench_tables.qc_profile, bench_tables.qc_resident,
    bench_tables.qc_adapterremoval, bench_tables.bwt, bench_tables.bwt_ratios,
    bench_tables.bwt_libsais, bench_tables.bwt_smem, bench_tables.bwt_hard, bench_tables.bwt_files,
    bench_tables.bwt_device, bench_tables.bwt_index, bench_tables.stages, bench_tables.auto_choice, bench_tables.further_devices,
    bench_tables.infer_cpu, bench_tables.infer_design, bench_tables.infer_design_gpu,
    bench_tables.infer_design_files, bench_tables.infer_design_fidelity, bench_tables.infer_gpu,
    bench_tables.infer_bare_products, bench_tables.infer_devices, bench_tables.infer_fidelity, bench_tables.infer_operations,
    model_tables.tracks_fidelity, model_tables.tracks_times, model_tables.track_road, model_tables.alphagenome_times,
    model_tables.variant_windows, model_tables.variant_rate, model_tables.potential_times,
    model_tables.potential_exact, model_tables.potential_published, model_tables.potential_operations, model_tables.kernel_shares,
    model_tables.crystal_lattices, model_tables.energy_drift)}
