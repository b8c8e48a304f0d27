#!/usr/bin/env python3
"""Checks a published model of crystals: lattice constants by `biogpu infer relax`, conserved energy by `biogpu infer md`.

usage: scripts/bench/infer_crystals.py BIOGPU --published FOLDER --json FILE [--device cpu|gpu|N] [--threads N]
                                       [--precision fp32|fp64] [--only lattice|drift] [--steps N]

FOLDER is matgl's TensorNet-MatPES-PBE-v2025.1-PES as published (converted here, which needs torch) or as
scripts/convert/matgl.py made it. Boxes of Si, diamond, NaCl, MgO and Al are relaxed from the experiment's lattice constants;
each has to be within 1e-4 Angstrom of what matgl 2.0.4 has in double precision, and within 2 % of the experiment. Then 64
atoms of Si run N steps [10000, at least 1000] of 1 fs at constant energy from velocities of 600 K: the slope of the
total energy by time has to be below 1e-5 eV an atom and ps. The status is 1 where a bound is broken, 77 where FOLDER is not
there. Needs numpy.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

FCC = numpy.array([[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
# Elements, place of the second atom in lattice constants, experiment, matgl 2.0.4 in double precision
# (scripts/reference/make_tensornet.py --crystals), all in Angstrom.
CRYSTALS = {
    "Si": (["Si", "Si"], 0.25, 5.431, 5.4751726),
    "diamond": (["C", "C"], 0.25, 3.567, 3.5881216),
    "NaCl": (["Na", "Cl"], 0.5, 5.640, 5.7007612),
    "MgO": (["Mg", "O"], 0.5, 4.212, 4.2540668),
    "Al": (["Al"], None, 4.050, 4.0542049),
}
BOUND, SHARE_OF_EXPERIMENT, DRIFT_BOUND = 1e-4, 0.02, 1e-5
TIMESTEP, TEMPERATURE, INTERVAL = 1.0, 600, 20
MIN_STEPS = 1000


def frame(elements, positions, box):
    """A frame of extxyz."""
    lattice = " ".join(f"{x:.10f}" for x in numpy.ravel(box))
    lines = [f"{len(elements)}", f'Lattice="{lattice}" Properties=species:S:1:pos:R:3 pbc="T T T"']
    lines += [f"{element} {x:.10f} {y:.10f} {z:.10f}" for element, (x, y, z) in zip(elements, positions)]
    return "\n".join(lines) + "\n"


def run(arguments, folder, model, task, *options):
    command = [arguments.biogpu, "infer", task, "-q", "--device", arguments.device, "--precision", arguments.precision,
               "--threads", arguments.threads, "--model", model, *options]
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return time.perf_counter() - start


def converted(published, folder):
    """The folder of the model that biogpu reads."""
    if (published / "config.json").is_file():
        return published.absolute()
    script = pathlib.Path(__file__).resolve().parents[1] / "convert" / "matgl.py"
    subprocess.run([sys.executable, script, published, folder / "model"], check=True)
    return folder / "model"


def lattice_constants(arguments, folder, model):
    text = ""
    for elements, second, a, _ in CRYSTALS.values():
        positions = [[0, 0, 0], [second and a * second] * 3][:len(elements)]
        text += frame(elements, positions, a * FCC)
    (folder / "crystals.extxyz").write_text(text)
    seconds = run(arguments, folder, model, "relax", "--cell", "--fmax", "0.0001", "--smax", "0.000002", "--steps", "200",
                  "--keep", "last", "--table", "relaxed.tsv", "-o", "relaxed.extxyz", "crystals.extxyz")
    steps = [line.split("\t") for line in (folder / "relaxed.tsv").read_text().splitlines()[1:]]
    boxes = [line.split('Lattice="')[1].split('"')[0] for line in (folder / "relaxed.extxyz").read_text().splitlines()
             if "Lattice=" in line]
    results = {}
    for (name, (_, _, experiment, reference)), box, line in zip(CRYSTALS.items(), boxes, steps):
        volume = abs(numpy.linalg.det(numpy.array(box.split(), float).reshape(3, 3)))
        a = float((4 * volume) ** (1 / 3))
        results[name] = {"lattice_constant_A": a, "matgl_A": reference, "experiment_A": experiment,
                         "difference_A": a - reference, "steps": int(line[2]), "converged": line[3] == "yes",
                         "ok": line[3] == "yes" and abs(a - reference) <= BOUND
                         and abs(a / experiment - 1) <= SHARE_OF_EXPERIMENT}
    return {"seconds": seconds, "crystals": results, "ok": len(results) == len(CRYSTALS)
            and all(result["ok"] for result in results.values())}


def energy_drift(arguments, folder, model):
    _, second, a, _ = CRYSTALS["Si"]
    corners = numpy.array([[x, y, z] for x in range(2) for y in range(2) for z in range(2)])
    sites = numpy.concatenate([[[0, 0, 0]], FCC])
    cell = numpy.concatenate([sites, sites + second])
    positions = (corners[:, None] + cell[None]).reshape(-1, 3) * a
    (folder / "si.extxyz").write_text(frame(["Si"] * len(positions), positions, 2 * a * numpy.eye(3)))
    seconds = run(arguments, folder, model, "md", "--temperature", TEMPERATURE, "--timestep", TIMESTEP, "--steps",
                  arguments.steps, "--every", INTERVAL, "--table", "md.tsv", "-o", "md.extxyz", "si.extxyz")
    rows = [line.split("\t") for line in (folder / "md.tsv").read_text().splitlines()]
    columns = {name: numpy.array([float(row[k]) for row in rows[1:]]) for k, name in enumerate(rows[0])
               if name in ("time_fs", "total", "kinetic", "temperature_K")}
    total = columns["total"] / len(positions)
    slope = numpy.polyfit(columns["time_fs"] / 1000, total, 1)[0]
    return {"atoms": len(positions), "steps": arguments.steps, "timestep_fs": TIMESTEP, "seconds": seconds,
            "temperature_K": float(columns["temperature_K"].mean()), "slope_eV_per_atom_and_ps": float(slope),
            "deviation_eV_per_atom": float(total.std()), "bound": DRIFT_BOUND, "ok": bool(abs(slope) < DRIFT_BOUND)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--published", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32", choices=("fp32", "fp64"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=("lattice", "drift"))
    parser.add_argument("--steps", type=int, default=10000)
    arguments = parser.parse_args()
    if arguments.steps < MIN_STEPS:
        parser.error(f"--steps is {arguments.steps}; expected at least {MIN_STEPS}: "
                     "over fewer, the slope that is fitted is noise")
    if not arguments.published.is_dir():
        print(f"SKIPPED: no published model in {arguments.published}")
        return 77
    results = {"device": arguments.device, "precision": arguments.precision, "threads": arguments.threads}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = converted(arguments.published, folder)
        if arguments.only != "drift":
            results["lattice"] = lattice_constants(arguments, folder, model)
        if arguments.only != "lattice":
            results["drift"] = energy_drift(arguments, folder, model)
    arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(results, indent=2))
    return 0 if all(results[part]["ok"] for part in ("lattice", "drift") if part in results) else 1


if __name__ == "__main__":
    sys.exit(main())
