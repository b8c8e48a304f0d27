#!/usr/bin/env python3
"""Compares `biogpu infer energy` with matgl on a published TensorNet: energies, forces and stress of molecules and crystals.

usage: scripts/compare/tensornet_published.py BIOGPU --published FOLDER --matgl SOURCE --json FILE
                                              [--device cpu|gpu|N] [--threads N]

FOLDER is TensorNet-MatPES-PBE-v2025.1-PES or TensorNet-ANI-1x-Subset-PES as published, SOURCE the src folder of matgl 2.0.4
(git e9cde22), whose pair order their weights have; it computes with its layers for PyG or for DGL, as the folder says. The
molecules are those of ase, the crystals have the experiment's lattice constants; all atoms are displaced at random, by a
fixed seed. Systems with an element that the model does not know are left out. matgl computes in double precision, biogpu in
fp64 and fp32. Differences of energies are in eV an atom, those of forces of the largest force of the system, those of stress
in GPa. The status is 1 where one is above its bound (BOUNDS), 77 where FOLDER or SOURCE is not there.

Needs safetensors and what scripts/reference/matgl_tensornet.py says.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "reference")]

MOLECULES = ("H2O", "CO2", "CH3CH2OH", "C6H6", "SiH4", "CH3SH", "NH3", "CH3NO2", "C5H5N", "CH3CONH2")
# Structure of ase.build.bulk, lattice constant in Angstrom, repeats of the conventional cell.
CRYSTALS = {"Si": ("diamond", 5.431, 2), "NaCl": ("rocksalt", 5.640, 1), "MgO": ("rocksalt", 4.212, 1), "Al": ("fcc", 4.050, 2),
            "Fe": ("bcc", 2.867, 2), "GaAs": ("zincblende", 5.653, 1), "CsCl": ("cesiumchloride", 4.123, 2)}
DISPLACEMENT = 0.08  # Angstrom, the standard deviation
GPA = 160.21766208  # in eV/A^3
# In eV an atom, of the largest force, and in GPa.
BOUNDS = {"fp64": {"energy": 1e-8, "forces": 3e-8, "stress": 1e-6}, "fp32": {"energy": 1e-5, "forces": 1e-5, "stress": 1e-4}}


def systems(elements):
    from ase.build import bulk, molecule

    found = []
    for name in MOLECULES:
        found.append((name, molecule(name)))
    for name, (kind, a, repeats) in CRYSTALS.items():
        found.append((f"{name}, {kind}", bulk(name, kind, a=a, cubic=True).repeat(repeats)))
    for seed, (_, atoms) in enumerate(found):
        atoms.rattle(DISPLACEMENT, seed=seed)
    return [(name, atoms) for name, atoms in found if elements.issuperset(atoms.symbols)]


def write_frames(path, found):
    text = []
    for _, atoms in found:
        lattice = 'Lattice="' + " ".join(map(repr, atoms.cell.array.ravel().tolist())) + '" ' if atoms.pbc.any() else ""
        text += [f"{len(atoms)}", f"{lattice}Properties=species:S:1:pos:R:3"]
        text += [" ".join([symbol, *map(repr, place)]) for symbol, place in zip(atoms.symbols, atoms.positions.tolist())]
    path.write_text("\n".join(text) + "\n", encoding="ascii")


def read_frames(path):
    """Energy, forces and, of frames with a box, stress in GPa."""
    import numpy

    lines = path.read_text(encoding="ascii").splitlines()
    while lines:
        n, comment = int(lines[0]), lines[1]
        forces = numpy.array([line.split()[4:7] for line in lines[2:n + 2]], float)
        stress = numpy.array(comment.split('stress="')[1].split('"')[0].split(), float).reshape(3, 3) * GPA \
            if "stress=" in comment else None
        yield float(comment.split(" energy=")[1].split()[0]), forces, stress
        lines = lines[n + 2:]


def ours(arguments, folder, precision):
    command = [arguments.biogpu, "infer", "energy", "-q", "--device", "cpu" if precision == "fp64" else arguments.device, "--threads", arguments.threads,
               "--precision", precision, "--model", "model", "--forces", "--stress", "frames.extxyz", "-o", "out.extxyz"]
    subprocess.run([str(word) for word in command], cwd=folder, check=True)
    return list(read_frames(folder / "out.extxyz"))


def theirs(potential, found):
    import matgl_tensornet
    import numpy

    for _, atoms in found:
        system = {"numbers": atoms.numbers, "positions": atoms.positions}
        if atoms.pbc.any():
            system["box"] = atoms.cell.array
        energy, forces, stress = matgl_tensornet.results(potential, system)
        yield energy.item(), forces.numpy(), numpy.reshape(stress.numpy(), (3, 3)) if "box" in system else None


def differences(computed, right, n_atoms):
    found = {"energy": abs(computed[0] - right[0]) / n_atoms,
             "forces": float(abs(computed[1] - right[1]).max() / abs(right[1]).max())}
    if right[2] is not None:
        found["stress"] = float(abs(computed[2] - right[2]).max())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--published", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--matgl", type=pathlib.Path, required=True, metavar="SOURCE")
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    for path in (arguments.published, arguments.matgl):
        if not path.is_dir():
            print(f"SKIPPED: no folder {path}")
            return 77
    import matgl_tensornet
    import torch
    from measure import result_files

    torch.set_default_dtype(torch.float64)
    backend = matgl_tensornet.backend_of(arguments.published)
    matgl_tensornet.use(arguments.matgl, backend)
    potential = matgl_tensornet.load_published(arguments.published)
    found = systems(set(potential.model.element_types))
    right = list(theirs(potential, found))
    rows, n_bad = [{"system": name, "atoms": len(atoms), "largest_force_eV_by_A": float(abs(one[1]).max())}
                   for (name, atoms), one in zip(found, right)], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.executable, ROOT / "scripts" / "convert" / "matgl.py", arguments.published, folder / "model"], check=True)
        write_frames(folder / "frames.extxyz", found)
        for precision, bounds in BOUNDS.items():
            computed = ours(arguments, folder, precision)
            if len(computed) != len(rows):
                sys.exit(f"{len(computed)} results of {len(rows)} systems")
            for row, one, reference in zip(rows, computed, right):
                row[precision] = differences(one, reference, row["atoms"])
                for what, value in row[precision].items():
                    if not value <= bounds[what]:
                        print(f"{row['system']}: {what} in {precision} differs by {value:.3g}, more than {bounds[what]:g}")
                        n_bad += 1
    results = {"model": arguments.published.name, "device": arguments.device, "threads": arguments.threads,
               "commit": result_files.commit(), "reference": f"matgl 2.0.4 (git e9cde22, {backend}) in double precision",
               "torch": torch.__version__, "energy": "eV an atom", "forces": "of the largest force of the system",
               "stress": "GPa", "displacement_A": DISPLACEMENT, "systems": rows}
    arguments.json.write_text(result_files.compact(results) + "\n", encoding="utf-8")
    print(json.dumps(results, indent=1))
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
