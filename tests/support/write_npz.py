#!/usr/bin/env python3
"""Writes arrays of a safetensors file as .npz, with the standard library alone.

usage: write_npz.py FILE.safetensors OUT.npz [--deflate] [--type f4|f8|f2] [--fortran] NAME=TENSOR[:EXTENT,...] ...

TENSOR may be NUMBERxEXTENT,... instead: an array of one number.
"""
import argparse
import json
import math
import struct
import zipfile


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: (entry["shape"], struct.unpack(f"<{math.prod(entry['shape'])}f", data[slice(*entry["data_offsets"])]))
            for name, entry in header.items() if name != "__metadata__"}


def columns_first(shape, values):
    """The numbers with the first axis the fastest."""
    steps = [math.prod(shape[axis + 1:]) for axis in range(len(shape))]
    order = [0]
    for n, step in zip(reversed(shape), reversed(steps)):
        order = [at + i * step for at in order for i in range(n)]
    return [values[at] for at in order]


def npy(shape, values, kind, fortran):
    if fortran:
        values = columns_first(shape, values)
    text = f"{{'descr': '<{kind}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}\n"
    code = {"f2": "e", "f4": "f", "f8": "d"}[kind]
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + struct.pack(f"<{len(values)}{code}", *values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tensors")
    parser.add_argument("out")
    parser.add_argument("--deflate", action="store_true")
    parser.add_argument("--type", default="f4")
    parser.add_argument("--fortran", action="store_true")
    parser.add_argument("arrays", nargs="+")
    options = parser.parse_args()
    tensors = read(options.tensors)
    method = zipfile.ZIP_DEFLATED if options.deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(options.out, "w", method) as out:
        for word in options.arrays:
            name, source = word.split("=")
            if source in tensors:
                shape, values = tensors[source]
            elif ":" in source:
                tensor, extents = source.split(":")
                shape = [int(n) for n in extents.split(",")]
                values = tensors[tensor][1][:math.prod(shape)]
            else:
                number, extents = source.split("x")
                shape = [int(n) for n in extents.split(",")]
                values = [float(number)] * math.prod(shape)
            out.writestr(name + ".npy", npy(shape, values, options.type, options.fortran))


if __name__ == "__main__":
    main()
