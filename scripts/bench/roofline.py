#!/usr/bin/env python3
"""Prints the kernels that a pass spends most time in, and their shares of the device's peaks, of Nsight Compute's CSV.

usage: scripts/bench/roofline.py FILE.csv [--kernels N] [--of NAME] [--json FILE]

FILE is what this writes, for a command of one pass (biogpu infer tracks ... one window):
  ncu --csv --page raw --metrics gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,\\
sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed --log-file FILE.csv biogpu ...

A line a kernel: microseconds of all its launches, their number, the share of all kernels' time, and of each launch's
time the share that the matrix cores are busy and the share of the memory's peak bandwidth, as means that are weighted
by time. The share of the roofline is the larger of the two. Nsight Compute lowers the clock to the base clock: times
are longer than those of a run, shares are not affected. --json writes the same for the tables of a page, with --of as
what was run.
"""

import argparse
import collections
import csv
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from measure import model_tables  # noqa: E402

TIME = "gpu__time_duration.sum"
SHARES = {"tensor": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
          "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed"}
MICROSECONDS = {"ns": 1e-3, "us": 1, "ms": 1e3, "nsecond": 1e-3, "usecond": 1, "msecond": 1e3}


def read_launches(path):
    """(kernel, microseconds, {"tensor": percent, "memory": percent}) of each launch."""
    rows = list(csv.reader(line for line in path.read_text().splitlines() if line.startswith('"')))
    if len(rows) < 3:
        sys.exit(f"{path}: no launch of a kernel; expected the CSV of ncu --csv --page raw")
    header, units = rows[0], rows[1]

    def column(title):
        if title not in header:
            sys.exit(f"{path}: no column {title}; expected the metrics that --help names")
        return header.index(title)

    name, time = column("Kernel Name"), column(TIME)
    shares = {share: column(metric) for share, metric in SHARES.items()}
    if units[time] not in MICROSECONDS:
        sys.exit(f"{path}: {TIME} has the unit {units[time]!r}; expected one of {', '.join(MICROSECONDS)}")
    scale = MICROSECONDS[units[time]]

    def number(text):
        return float(text.replace(",", ""))

    return [(short_name(row[name]), number(row[time]) * scale, {s: number(row[i]) for s, i in shares.items()})
            for row in rows[2:]]


def short_name(kernel):
    """Without namespaces and the types of arguments."""
    kernel = re.sub(r"\([a-zA-Z_:0-9]+\)(?=[0-9])", "", kernel)  # casts of template arguments
    for unnamed in ("(anonymous namespace)::", "::<unnamed>", "unnamed>::"):  # the last without its first half
        kernel = kernel.replace(unnamed, "")
    kernel = re.sub(r"\(.*", "", kernel)
    return re.sub(r"\b(?:\w+::)+", "", kernel).removeprefix("void ")


def summarise(launches, n_kernels):
    """The kernels that took most of the time."""
    total = sum(microseconds for _, microseconds, _ in launches)
    kernels = collections.defaultdict(list)
    for name, microseconds, shares in launches:
        kernels[name].append((microseconds, shares))
    rows = []
    for name, parts in sorted(kernels.items(), key=lambda item: -sum(us for us, _ in item[1]))[:n_kernels]:
        us = sum(part[0] for part in parts)
        rows.append({"kernel": name, "us": us, "launches": len(parts), "share": us / total,
                     **{share: sum(t * shares[share] for t, shares in parts) / us / 100 for share in SHARES},
                     "roofline": sum(t * max(shares.values()) for t, shares in parts) / us / 100})
    return {"launches": len(launches), "us": total, "kernels": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--kernels", type=int, default=10)
    parser.add_argument("--of", default="", metavar="NAME")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    result = summarise(read_launches(arguments.csv), arguments.kernels)
    print("\n".join(model_tables.kernel_shares(result)))
    print(f"\n{result['launches']} launches, {result['us']:.0f} us")
    if arguments.json:
        arguments.json.write_text(json.dumps({"of": arguments.of, **result}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
