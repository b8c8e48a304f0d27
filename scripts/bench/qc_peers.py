"""AdapterRemoval 3 compared with `biogpu qc`, and one thread of fastp with the stages on a GPU: for qc.py."""

import gzip
import json
import pathlib
import statistics
import subprocess
import tempfile

from measure import timing

# Of kept reads and bases. Both cut by the overlap of the mates, but accept it by other rules: AdapterRemoval
# by a score and an error rate of 1/6, fastp by at most 5 differing bases in 30 or more.
MOST_OTHER = 0.02
MOST_PAIRS = 1_000_000


def kept(paths):
    """Reads and bases of FASTQ files."""
    n_reads = n_bases = 0
    for path in paths:
        with gzip.open(path, "rb") as file:
            for number, line in enumerate(file):
                if number % 4 == 1:
                    n_reads += 1
                    n_bases += len(line) - 1
    return {"reads": n_reads, "bases": n_bases}


def adapter_removal(arguments, work):
    """gzip to gzip, adapters and length alone: AdapterRemoval has no filter like fastp's of bases of low quality,
    and neither trims by quality here. Returns None where the numbers of reads and bases kept are too far apart."""
    ours, theirs = work / "biogpu", work / "adapterremoval"
    for folder in (ours, theirs):
        folder.mkdir(exist_ok=True)
    inputs = [str(work / f"r{mate}.fq.gz") for mate in (1, 2)]
    outputs = {folder: [folder / f"a{mate}.fq.gz" for mate in (1, 2)] for folder in (ours, theirs)}
    pairs = min(arguments.pairs, MOST_PAIRS)
    threads = str(arguments.threads)
    lines = {
        "biogpu": [arguments.biogpu, "qc", "--device", arguments.device, "-Q", "-w", threads, "--reads_to_process",
                   str(pairs), "-i", inputs[0], "-I", inputs[1], "-o", str(outputs[ours][0]), "-O",
                   str(outputs[ours][1]), "-j", "q.json", "-h", "q.html"],
        "adapterremoval": [arguments.adapterremoval, "--threads", threads, "--head", str(pairs), "--in-file1",
                           inputs[0], "--in-file2", inputs[1], "--out-file1", str(outputs[theirs][0]),
                           "--out-file2", str(outputs[theirs][1]),
                           "--out-json", "a.json", "--out-html", "a.html", "--out-singleton", "/dev/null",
                           "--quality-trimming", "none", "--pre-trim-polyx", "off", "--max-ns", "1000",
                           "--min-length", "15", "--adapter-selection", "undefined", "--log-progress", "never"],
    }
    folders = {"biogpu": ours, "adapterremoval": theirs}
    row = {"pairs": pairs, "threads": arguments.threads, "kept": {}}

    def compare():
        row["kept"] = {name: kept(outputs[folder]) for name, folder in folders.items()}
        row["bytes"] = {name: sum(path.stat().st_size for path in outputs[folder])
                        for name, folder in folders.items()}
        for key in ("reads", "bases"):
            a, b = (row["kept"][name][key] for name in folders)
            if abs(a - b) > MOST_OTHER * a:
                raise timing.Failed(f"AdapterRemoval keeps {b} {key}, biogpu {a}")

    runs = timing.take_turns({name: (lambda name=name: timing.run(lines[name], folders[name])) for name in lines},
                             arguments.runs, compare)
    for name, of in runs.items():
        row[name] = timing.medians(of)
    row["version"] = subprocess.run([arguments.adapterremoval, "--version"], capture_output=True, text=True,
                                    check=False).stdout.strip()
    print(f"adapters only, gzip: AdapterRemoval / biogpu: {row['adapterremoval']['wall_s'] / row['biogpu']['wall_s']:.2f}"
          f" wall, {row['adapterremoval']['cpu_s'] / row['biogpu']['cpu_s']:.2f} CPU; kept {row['kept']}")
    return row


def resident(arguments, bench, work):
    """Rate of all stages on pairs that lie on the device, and of fastp's one worker on the pairs of the run without
    output: the time of its start, the same for few reads and for many, is taken off."""
    few, many = arguments.pairs // 20, arguments.pairs // 4
    seconds = {}
    for n in (few, many):
        line = [arguments.fastp, "-w", "1", "--reads_to_process", str(n), "-i", str(work / "r1.fq"), "-I",
                str(work / "r2.fq"), "-j", "f.json", "-h", "f.html"]
        seconds[n] = statistics.median(timing.run(line, work)["wall_s"] for _ in range(arguments.runs))
    row = {"fastp_pairs_s": (many - few) / (seconds[many] - seconds[few])}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "device.json"
        subprocess.run([bench, "qc", "--json", str(path)], check=True, stdout=subprocess.DEVNULL)
        result = json.loads(path.read_text(encoding="utf-8"))
    row["device"] = result["device"]
    for name, key in (("device", "device"), ("host to host", "host_to_host"), ("CPU", "cpu")):
        rate = next(figure for figure in result["figures"] if figure["name"] == f"qc default, {name}")
        row[f"{key}_pairs_s"] = rate["median"] * 1e6
    print(f"resident on {row['device']}: {row['device_pairs_s'] / 1e6:.1f} M pairs/s, fastp's one worker "
          f"{row['fastp_pairs_s'] / 1e6:.3f} M")
    return row
