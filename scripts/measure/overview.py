"""The table of README: one row a peer, from results of any of the scripts."""

import re

from measure import timing
from measure.text import table, times


def spans(ratios):
    """The range of some ratios as text."""
    ratios = list(ratios)
    if not ratios:
        return ""
    low, high = times(min(ratios)), times(max(ratios))
    return low if low == high else f"{low} to {high}"


def numbered(title, version):
    """A tool's name and the number in what it says of its version, where there is one."""
    number = re.search(r"[0-9]+(\.[0-9]+)+", version or "")
    return f"{title} {number.group()}" if number else title


def of_comparison(result):
    """scripts/compare."""
    ratios = {"wall_s": [], "cpu_s": []}
    for case in result["cases"]:
        ours, theirs = (timing.medians(case["programs"][name]["runs"]) for name in ("biogpu", result["peer"]))
        for key, values in ratios.items():
            if not case["only_compute"]:
                values.append(theirs[key] / max(1e-3, ours[key]))
    yield (f"`{result['what']}`", result["versions"][result["peer"]] or result["title"],
           f"{len(result['cases'])} workloads of `scripts/compare/{result['peer']}`", spans(ratios["wall_s"]),
           spans(ratios["cpu_s"]))


def of_parasail_library(rows):
    threads = "one thread" if rows[0]["threads"] == 1 else f"{rows[0]['threads']} threads"
    # The rows of former results do not say the version, which was the distribution's.
    version = numbered("Parasail", rows[0].get("parasail_version", "2.6"))
    yield ("`biogpu align`", f"{version}, best function", f"{len(rows)} workloads of pairs in memory, {threads}",
           spans(row["ratio"] for row in rows), "")


def of_kmer(result):
    for peer in result["peers"]:
        title = {"jellyfish": "Jellyfish", "kmc": "KMC"}.get(peer, peer)
        version = numbered(title, result["versions"].get(peer))
        work = f"count, k = {', '.join(str(row['k']) for row in result['rows'])}; {result['reads'].split(' of a')[0]}"
        yield ("`biogpu kmer`", version, work,
               *(spans(row[peer][key] / row["biogpu"][key] for row in result["rows"]) for key in ("wall_s", "cpu_s")))


def of_qc(result):
    rows = result["rows"]
    yield ("`biogpu qc`", result["fastp"], f"{rows[0]['pairs']:,} pairs: {', '.join(row['case'] for row in rows)}",
           *(spans(row[f"ratio_{key}"] for row in rows if f"ratio_{key}" in row) for key in ("wall_s", "cpu_s")))


def of_bwt(result):
    """The peers have one thread: their wall time is their CPU time."""
    def ratios(peer_s, ours):
        return peer_s / ours["median_s"], peer_s / ours["stages"]["cpu_s"]

    programs = result["programs"]
    work = f"{result['bases'] / 1e6:.0f} Mbp"
    if "bwa_index" in programs:
        yield ("`biogpu bwt index`", "bwa index, one thread", f"the five files of {work}",
               *(times(r) for r in ratios(programs["bwa_index"]["median_s"], programs["index_bwa"])))
    peer = result.get("seqan2_and_divsufsort")
    if peer:
        both = (ratios(peer["build_s"], programs["index"]), ratios(peer["count_s"], programs["count"]))
        yield ("`biogpu bwt`", "SeqAn2 in memory, one thread",
               f"FM-index of {work}, {result['queries']:,} counts on both strands", *(spans(r) for r in zip(*both)))


def of_infer(result):
    size = result["model"].lstrip("m")
    yield ("`biogpu infer`", f"transformers {result['transformers']} on PyTorch",
           f"ESM-2 {size} on the CPU: {', '.join(case['case'] for case in result['cases'])}",
           *(spans(case[key] for case in result["cases"]) for key in ("ratio", "cpu_ratio")))


def of_design(result):
    rows = result["rows"]
    lengths = [row["residues"] for row in rows]
    yield ("`biogpu infer design`", f"ProteinMPNN on PyTorch {result['torch'].split('+')[0]}",
           f"{len(rows)} structures of {min(lengths)} to {max(lengths)} residues",
           *(spans(row[key] for row in rows) for key in ("wall_ratio", "cpu_ratio")))


def rows_of(result):
    if isinstance(result, list):
        return of_parasail_library(result)
    for key, of in (("peer", of_comparison), ("peers", of_kmer), ("fastp", of_qc), ("transformers", of_infer),
                    ("programs", of_bwt)):
        if key in result:
            return of(result)
    return of_design(result)


def overview(*results):
    """Speedup: the peer's wall time over biogpu's, lowest to highest of the works; then CPU time."""
    return table(["command", "compared with", "workload", "speedup", "CPU-time reduction"],
                 [row for result in results for row in rows_of(result)], "lllrr")
