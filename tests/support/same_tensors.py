#!/usr/bin/env python3
"""Compares tensors of two safetensors files by name, in fp32.

usage: same_tensors.py GOT EXPECTED BOUND GOT_NAME=EXPECTED_NAME ...

The largest difference over the standard deviation of what is expected must be below BOUND.
"""
import json
import math
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return tensors


def main():
    got, expected, bound = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
    failed = False
    for pair in sys.argv[4:]:
        name, right_name = pair.split("=")
        if name not in got:
            print(f"no tensor {name}; there are {', '.join(sorted(got))}")
            failed = True
            continue
        (shape, values), (right_shape, right) = got[name], expected[right_name]
        mean = sum(right) / len(right)
        deviation = math.sqrt(sum((x - mean) ** 2 for x in right) / len(right))
        worst = max(abs(x - y) for x, y in zip(values, right)) / deviation
        if shape != right_shape or not all(map(math.isfinite, values)) or not worst < bound:
            print(f"{name}: shape {shape} for {right_shape}, difference {worst:.3g}")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
