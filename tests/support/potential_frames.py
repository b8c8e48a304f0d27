#!/usr/bin/env python3
"""Systems of a small potential's expected.safetensors as frames, and a comparison of computed frames with them.

usage: potential_frames.py write FOLDER OUT.extxyz [INDEX ...]
       potential_frames.py compare FOLDER OUT.extxyz ENERGY_BOUND FORCE_BOUND [INDEX ...]

Frames are in the order of the file, or those of the numbers given. Energies are in the unit of FOLDER/config.json
but for stresses, which expected.safetensors has in GPa and frames in eV/A^3.
"""
import json
import pathlib
import re
import struct
import sys

SYMBOLS = ("X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca").split()
GPA = 160.21766208


def tensors(path):
    stored = path.read_bytes()
    n = struct.unpack("<Q", stored[:8])[0]
    for name, tensor in json.loads(stored[8:8 + n]).items():
        if name != "__metadata__":
            begin, end = (8 + n + offset for offset in tensor["data_offsets"])
            yield name, struct.unpack(f"<{(end - begin) // 8}d", stored[begin:end])


def systems(folder, indexes):
    found = {}
    for name, numbers in tensors(pathlib.Path(folder) / "expected.safetensors"):
        index, _, what = name.partition("/")
        if index.isdigit():
            found.setdefault(int(index), {})[what] = numbers
    return [found[i] for i in (map(int, indexes) if indexes else sorted(found))]


def write(folder, out, *indexes):
    with open(out, "w", encoding="ascii") as file:
        for system in systems(folder, indexes):
            box = ' Lattice="' + " ".join(map(repr, system["box"])) + '"' if "box" in system else ""
            charge = f" charge={system['charge'][0]:.0f}" if "charge" in system else ""
            partial = system.get("partial_charges", ())
            column = ":partial_charges:R:1" if partial else ""
            file.write(f"{len(system['numbers'])}\nProperties=species:S:1:pos:R:3{column}{box}{charge}\n")
            for i, number in enumerate(system["numbers"]):
                columns = [*system["positions"][3 * i:3 * i + 3], *partial[i:i + 1]]
                file.write(" ".join([SYMBOLS[int(number)], *map(repr, columns)]) + "\n")


def frames(path):
    lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    while lines:
        n, comment = int(lines[0]), lines[1]
        keys = dict(re.findall(r'(\w+)=(?:"([^"]*)"|\S+)', comment))
        keys.update(re.findall(r"(\w+)=([^\s\"]+)", comment))
        yield keys, [line.split() for line in lines[2:2 + n]]
        lines = lines[2 + n:]


def compare(folder, out, energy_bound, force_bound, *indexes):
    expected, computed = systems(folder, indexes), list(frames(out))
    assert len(expected) == len(computed), (len(expected), len(computed))
    for i, (right, (keys, rows)) in enumerate(zip(expected, computed)):
        error = abs(float(keys["energy"]) - right["energy"][0])
        assert error <= float(energy_bound), f"frame {i + 1}: energy off by {error}"
        forces = [float(x) for row in rows for x in row[4:7]]
        assert len(forces) == len(right["forces"]), f"frame {i + 1}: {len(forces)} numbers of forces"
        error = max(abs(x - y) for x, y in zip(forces, right["forces"]))
        assert error <= float(force_bound), f"frame {i + 1}: a force off by {error}"
        if "stress" in right:
            error = max(abs(float(x) * GPA - y) for x, y in zip(keys["stress"].split(), right["stress"]))
            assert error <= 200 * float(force_bound), f"frame {i + 1}: stress off by {error} GPa"


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](*sys.argv[2:])
