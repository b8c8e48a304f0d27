"""Copies a safetensors file with one tensor, or one row of it, set to a number.

usage: set_tensor.py FROM TO TENSOR NUMBER [ROW]
"""
import json
import struct
import sys

CODES = {"F32": "f", "F16": "e"}

source, target, name, number = sys.argv[1:5]
with open(source, "rb") as file:
    size = struct.unpack("<Q", file.read(8))[0]
    header = json.loads(file.read(size))
    data = file.read()
metadata = header.pop("__metadata__", None)
if name not in header or (len(sys.argv) > 5 and int(sys.argv[5]) >= header[name]["shape"][0]):
    sys.exit(f"set_tensor: {source} has no such tensor or row")

out = bytearray()
for key, tensor in header.items():
    first, end = tensor["data_offsets"]
    piece = data[first:end]
    if key == name:
        code = CODES[tensor["dtype"]]
        values = list(struct.unpack(f"<{len(piece) // struct.calcsize(code)}{code}", piece))
        width = len(values) // tensor["shape"][0]
        rows = [int(sys.argv[5])] if len(sys.argv) > 5 else range(tensor["shape"][0])
        for row in rows:
            values[row * width : (row + 1) * width] = [float(number)] * width
        piece = struct.pack(f"<{len(values)}f", *values)
        tensor["dtype"] = "F32"
    tensor["data_offsets"] = [len(out), len(out) + len(piece)]
    out += piece

if metadata is not None:
    header["__metadata__"] = metadata
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(target, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + out)
