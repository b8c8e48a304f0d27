#!/usr/bin/env python3
"""Variants an hour by `biogpu infer variants` for a VCF whose variants stand in clusters, on one device and on several.

usage: scripts/bench/variant_rate.py BIOGPU --model FOLDER [--scorers NAME,...] [--window BASES] [--variants N] [--devices LIST ...]
           [--precision fp16] [--threads N] [--seed N] [--json FILE] [--folder FOLDER]

Variants in clusters (--cluster of them on average, 2,000 bases wide), a tenth of them insertions and deletions of one to
ten bases. A run with each of --devices (as --device of biogpu: 0 0,1); scores must agree within MAX_DIFFERENCE of the
largest, as in variant_windows.py. Prints seconds of the whole command, of its passes, variants an hour, and how many times
as fast as the first run each further one is.
"""

import argparse
import contextlib
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import machine  # noqa: E402
from measure.text import seconds, table  # noqa: E402
from variant_windows import MAX_DIFFERENCE, largest_difference, model_with_window, run_variants  # noqa: E402

GENOME_BASES = 20_000_000
MARGIN = 1_500_000  # no variant is so near to an end
CLUSTER_BASES = 2_000


def write_inputs(folder, rng, n_variants, per_cluster):
    bases = "".join(rng.choices("ACGT", k=GENOME_BASES))
    (folder / "genome.fa").write_text(">chr1\n" + "\n".join(bases[i:i + 60] for i in range(0, GENOME_BASES, 60)) + "\n")
    places = set()
    while len(places) < n_variants:
        begin = rng.randrange(MARGIN, GENOME_BASES - MARGIN)
        count = min(n_variants - len(places), 1 + int(rng.expovariate(1 / max(1e-9, per_cluster - 1))) if per_cluster > 1 else 1)
        # 20 bases apart, so that deletions do not meet.
        places.update(begin + 20 * place for place in rng.sample(range(CLUSTER_BASES // 20), min(count, CLUSTER_BASES // 20)))
    with open(folder / "variants.vcf", "w", encoding="ascii") as out:
        out.write("##fileformat=VCFv4.2\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for number, at in enumerate(sorted(places)[:n_variants]):
            length, kind = rng.randint(1, 10), rng.random()
            reference = bases[at:at + 1 + length] if kind < 0.05 else bases[at]
            other = bases[at]
            if kind >= 0.1:
                other = "ACGT"[("ACGT".index(bases[at]) + rng.randint(1, 3)) % 4]
            elif kind >= 0.05:
                other += "".join(rng.choices("ACGT", k=length))
            out.write(f"chr1\t{at + 1}\tv{number}\t{reference}\t{other}\t.\t.\t.\n")


def run(options, folder, device):
    wall, told, lines = run_variants(options, folder, device, "variants.vcf", "--scorers", options.scorers, "--grid", options.grid)
    return {"wall_s": wall, "compute_s": told["time"]["compute_s"], "variants_per_hour": 3600 * options.variants / wall,
            "peak_rss_bytes": told["memory"]["peak_rss_bytes"]}, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("biogpu", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--model", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--scorers", default="DNASE,ATAC")
    parser.add_argument("--window", type=int)
    parser.add_argument("--grid", type=int, default=100_000)
    parser.add_argument("--variants", type=int, default=1000)
    parser.add_argument("--cluster", type=float, default=6, help="variants of a cluster, on average")
    parser.add_argument("--devices", nargs="+", default=["0", "0,1"])
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        write_inputs(folder, random.Random(options.seed), options.variants, options.cluster)
        name = options.model.name
        if options.window:
            options.model = model_with_window(options.model, folder, options.window)
        runs, outputs = {}, {}
        for device in options.devices:
            runs[device], outputs[device] = run(options, folder, device)
    first = options.devices[0]
    if any(len(lines) != len(outputs[first]) for lines in outputs.values()):
        raise SystemExit("more or fewer lines on other devices")
    differences = {device: largest_difference(outputs[first], outputs[device]) for device in options.devices[1:]}
    for device, figures in runs.items():
        figures["times_the_first"] = runs[first]["wall_s"] / figures["wall_s"]
    print("\n".join(table(["device", "seconds", "of passes", "variants/h", "times the first"],
                          [[device, seconds(f["wall_s"]), seconds(f["compute_s"]), f"{f['variants_per_hour']:,.0f}",
                            f"{f['times_the_first']:.2f}"] for device, f in runs.items()], "lrrrr")))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine.describe(), "model": name, "window": options.window,
                                            "scorers": options.scorers, "precision": options.precision, "variants": options.variants,
                                            "cluster": options.cluster, "grid": options.grid, "seed": options.seed,
                                            "differences": differences, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    unequal = [device for device, difference in differences.items() if difference > MAX_DIFFERENCE[options.precision]]
    if unequal:
        raise SystemExit(f"other scores with --device {', '.join(unequal)}: {differences}")


if __name__ == "__main__":
    main()
