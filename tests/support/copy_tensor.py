"""Copies a safetensors file, with a copy of one tensor under one more name.

usage: copy_tensor.py FROM TO TENSOR NAME
"""
import json
import struct
import sys

source, target, name, copy = sys.argv[1:]
with open(source, "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    data = file.read()
begin, end = header[name]["data_offsets"]
header[copy] = {**header[name], "data_offsets": [len(data), len(data) + end - begin]}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(target, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data + data[begin:end])
