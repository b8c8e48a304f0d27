#!/usr/bin/env python3
"""How far affinities of DualBind are from double precision: biogpu in each precision, and PyTorch in fp32.

usage: dualbind_error.py BIOGPU OUT.json [--ligands N] [--seed N] [--device cpu|NUMBER] [--threads N] [--precisions TYPE,...]

A model of random weights of the published shape, a random protein and N ligands (800), as of scripts/compare/dualbind.
scripts/reference/dualbind.py computes them in double precision and, in batches of 8 and of 1, in fp32; biogpu once on the
CPU, and on --device in each of --precisions, in batches of its choice and, in fp32, of 1. Prints and writes the median, the
99th percentile and the largest of the differences to double precision, in kcal/mol. Needs torch, rdkit 2022.9 or later,
biopython and safetensors. Exit status 1 where biogpu's median in fp32 is more than twice that of PyTorch.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def column(path, index, skip):
    return [float(line.split("\t")[index]) for line in path.read_text().splitlines()[skip:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ligands", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precisions", default="fp32")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(sys.executable, ROOT / "scripts/reference/make_dualbind.py", folder, "--full", "--no-expected", "--seed", args.seed,
            "--ligands", args.ligands, "--residues", 250)
        protein, ligands = folder / "protein.pdb", folder / "ligands.sdf"

        def ours(device, *options):
            run(args.biogpu, "infer", "affinity", "-q", "-t", args.threads, "--device", device, *options, "--model", folder,
                "--protein", protein, ligands, "-o", folder / "ours.tsv")
            return column(folder / "ours.tsv", 2, 1)

        def theirs(*options):
            run(sys.executable, ROOT / "scripts/reference/dualbind.py", folder, protein, ligands, folder / "theirs.tsv", "--threads",
                args.threads, "--device", "cpu" if args.device == "cpu" else "cuda", *options)
            return column(folder / "theirs.tsv", 1, 0)

        exact = theirs("--dtype", "float64")
        found = {"PyTorch fp32": theirs(), "PyTorch fp32, batches of 1": theirs("--batch", 1), "biogpu cpu": ours("cpu")}
        for precision in args.precisions.split(",") if args.device != "cpu" else []:
            found[f"biogpu {args.device} {precision}"] = ours(args.device, "--precision", precision)
        if args.device != "cpu":
            found[f"biogpu {args.device} fp32, batches of 1"] = ours(args.device, "--precision", "fp32", "--batch", 1)
    report = {"ligands": args.ligands, "seed": args.seed, "device": args.device, "largest_energy": max(map(abs, exact)), "errors": {}}
    for which, values in found.items():
        errors = sorted(abs(a - b) for a, b in zip(values, exact, strict=True))
        report["errors"][which] = {"median": errors[len(errors) // 2], "p99": errors[int(0.99 * len(errors))], "largest": errors[-1]}
        print(f"{which}: median {errors[len(errors) // 2]:.3g}, 99 % below {errors[int(0.99 * len(errors))]:.3g}, "
              f"largest {errors[-1]:.3g} kcal/mol")
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    bound = 2 * report["errors"]["PyTorch fp32"]["median"]
    fp32 = ["biogpu cpu"] + [which for which in report["errors"] if which.startswith(f"biogpu {args.device} fp32")]
    sys.exit(any(report["errors"][which]["median"] > bound for which in fp32))


if __name__ == "__main__":
    main()
