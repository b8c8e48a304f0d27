#!/usr/bin/env python3
"""Fills the fields of a template: @NAME@ by the value of NAME=VALUE.

usage: fill.py TEMPLATE NAME=VALUE... >FILE

A line with a field whose value is empty is left out. A field that is not given is an error.
"""
import re
import sys

FIELD = re.compile(r"@([A-Z0-9_]+)@")


def main():
    values = dict(word.split("=", 1) for word in sys.argv[2:])
    with open(sys.argv[1], encoding="utf-8") as template:
        lines = template.readlines()
    for number, line in enumerate(lines, 1):
        names = FIELD.findall(line)
        unknown = [name for name in names if name not in values]
        if unknown:
            sys.exit(f"fill.py: {sys.argv[1]}:{number}: no value for {unknown[0]}")
        if all(values[name] for name in names):
            sys.stdout.write(FIELD.sub(lambda field: values[field[1]], line))


if __name__ == "__main__":
    main()
