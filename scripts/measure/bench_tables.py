"""Tables of the results that scripts/bench and biogpu-bench write."""

import statistics

from measure import machine
from measure.text import megabytes_of, table, times


def figures(result, *words):
    """Of biogpu-bench: one row a figure; words choose those whose name begins with one of them."""
    chosen = [f for f in result["figures"]
              if not words or any(f["name"].startswith(word.replace("_", " ")) for word in words)]
    return table(["limit", "median", "lowest - highest", "unit", "method"],
                 [[f["name"], f"{f['median']:.4g}", f"{f['lowest']:.4g} - {f['highest']:.4g}", f["unit"], f["how"]]
                  for f in chosen], "lrrll")


def parasail_library(rows):
    """Of scripts/compare/parasail_library.py: both libraries on the same pairs in one process."""
    return table(["workload", "biogpu GCUPS", "Parasail GCUPS (best function)", "speedup"],
                 [[r["workload"], f"{r['biogpu_gcups']:.1f}", f"{r['parasail_gcups']:.1f} ({r['parasail_best']})",
                   times(r["ratio"])] for r in rows], "lrrr")


def align_files(rows):
    """Of a script that scripts/compare/parasail has replaced: biogpu align parasail and parasail_aligner, from file to file."""
    return table(["workload", "biogpu s", "parasail_aligner s", "speedup", "CPU-time reduction"],
                 [[r["workload"], f"{r['biogpu_s']:.2f}", f"{r['parasail_s']:.2f}", times(r["ratio"]),
                   times(r['cpu_ratio'])] for r in rows], "lrrrr")


def align_cpu(rows):
    """Of scripts/bench/align_cpu.py: library against library, CPU seconds."""
    return table(["workload", "biogpu, GCUPS a core", "Parasail, GCUPS a core (best function)", "speedup"],
                 [[r["workload"], f"{r['biogpu_gcups_per_core']:.1f}",
                   f"{r['parasail_gcups_per_core']:.1f} ({r['parasail_best']})", times(r["ratio"])] for r in rows],
                 "lrrr")


def align_gpu_library(result):
    """Of scripts/bench/align_gpu.py: the GPU and Parasail on the same pairs in one process."""
    def rate(pairs, seconds):
        return f"{pairs / seconds:.3g}"

    rows = []
    for r in result["library"]:
        # Where few functions were named, all of them are of interest; else the best one.
        few = len(r["parasail_all_s"]) <= 2
        for function in r["parasail_all_s"] if few else [r["parasail_best"]]:
            theirs = r["parasail_pairs"] / r["parasail_all_s"][function]
            rows.append([r["workload"], rate(r["pairs"], r["biogpu_device_s"]), rate(r["pairs"], r["biogpu_s"]),
                         f"{theirs:.3g} ({function})", times(r["pairs"] / r["biogpu_device_s"] / theirs),
                         times(r["pairs"] / r["biogpu_s"] / theirs)])
    return table(["workload", "device, pairs/s", "host to host", "Parasail (function)", "device, speedup",
                  "host to host"], rows, "lrrrrr")


def align_gpu_files(result):
    """Of scripts/bench/align_gpu.py: from file to file."""
    return table(["workload", "pairs", "MB written", "biogpu s", "parasail_aligner s (best function)", "speedup"],
                 [[r["workload"], f"{r['pairs']:,}", f"{r['bytes'] / 1e6:.0f}", f"{r['biogpu_s']:.2f}",
                   f"{r['parasail_s']:.2f} ({r['parasail_best']})", times(r["ratio"])] for r in result["files"]],
                 "lrrrrr")


def kmer_programs(row, result):
    return ("biogpu", *(peer for peer in result["peers"] if peer in row))


def kmer_count(result):
    """Of scripts/bench/kmer.py."""
    rows = []
    for row in result["rows"]:
        for name in kmer_programs(row, result):
            of, base = row[name], row["biogpu"]
            rows.append([row["k"], row["kmers"], row["distinct"], name, f"{of['wall_s']:.2f}", f"{of['cpu_s']:.2f}",
                         f"{of['peak_bytes'] / 1e9:.2f}", f"{row['kmers'] / of['cpu_s'] / 1e6:.1f}",
                         times(of["wall_s"] / base["wall_s"]), times(of["cpu_s"] / base["cpu_s"])])
    return table(["k", "k-mers", "distinct", "program", "wall s", "CPU s", "peak GB", "M k-mers per CPU s",
                  "wall ratio", "CPU ratio"], rows, "rrrlrrrrrr")


def kmer_query(result):
    """Of scripts/bench/kmer.py --query."""
    rows = []
    for row in result["queries"]:
        for name in kmer_programs(row, result):
            of, base = row[name], row["biogpu"]
            rows.append([row["k"], row["look_ups"], name, f"{of['wall_s']:.2f}", f"{of['cpu_s']:.2f}",
                         f"{of['peak_bytes'] / 1e9:.2f}", f"{row['look_ups'] / of['cpu_s'] / 1e6:.1f}",
                         times(of["wall_s"] / base["wall_s"]), times(of["cpu_s"] / base["cpu_s"])])
    return table(["k", "look-ups", "program", "wall s", "CPU s", "peak GB", "M look-ups per CPU s", "wall ratio",
                  "CPU ratio"], rows, "rrlrrrrrr")


def kmer_versions(result):
    versions = ", ".join(f"{name} `{version}`" for name, version in result["versions"].items() if version)
    return [f"{result['machine']}, device {result['device']}, {result['threads']} threads. {result['reads']}",
            f"Versions: {versions}."]


def kmer_device(result):
    """Of biogpu-bench kmer: the figures, then what they are of."""
    rows = [[f["name"], f"{f['median']:.4g}", f"{f['lowest']:.4g} to {f['highest']:.4g}", f["unit"]]
            for f in result["figures"]]
    notes = dict.fromkeys(f["how"] for f in result["figures"] if f["unit"] != "ms")
    return [*table(["figure", "median", "lowest to highest", "unit"], rows, "lrrl"), "",
            *(f"- {note}." for note in notes)]


def qc(result):
    """Of scripts/bench/qc.py: seconds and memory of both programs."""
    keys = [key for key in ("wall_s", "cpu_s") if key in result["rows"][0]["biogpu"]]
    rows = []
    for row in result["rows"]:
        for program in ("biogpu", "fastp"):
            if program in row:
                of = row[program]
                rows.append([row["case"], f"{row['pairs']:,}", row["threads"], program,
                             *(f"{of[key]:.2f}" for key in keys), megabytes_of(of)])
    heads = [{"wall_s": "wall, s", "cpu_s": "CPU, s"}[key] for key in keys]
    return table(["case", "pairs", "threads", "program", *heads, "peak memory, MB"], rows, "lrrlr" + "r" * len(keys))


def qc_ratios(result):
    """fastp's figure over biogpu's; the size is biogpu's output over fastp's."""
    rows = [row for row in result["rows"] if "ratio_cpu_s" in row]
    keys = [key for key in ("wall_s", "cpu_s") if f"ratio_{key}" in rows[0]]
    heads = [{"wall_s": "wall", "cpu_s": "CPU"}[key] for key in keys]
    return table(["case", "equal output", *heads, "size of the output"],
                 [[row["case"], "yes" if row["equal"] else "NO", *(f"{row[f'ratio_{key}']:.2f}x" for key in keys),
                   f"{row['output_size_ratio']:.3f}"] for row in rows], "llr" + "r" * len(keys))


def qc_profile(result):
    """Of scripts/bench/qc.py --perf: where the CPU seconds of biogpu go, and what waits for what."""
    rows = [row for row in result["rows"] if "profile" in row]
    shown = [name for name in rows[0]["profile"]["shares"]
             if any(row["profile"]["shares"][name] >= 0.005 for row in rows)]
    lines = [[name, *(f"{100 * row['profile']['shares'][name]:.0f} %" for row in rows)] for name in shown]
    lines.append(["cores busy, of " + str(result["machine"]["cores"]),
                  *(f"{row['profile']['cores_busy']:.1f}" for row in rows)])
    lines.append(["busiest thread, of the wall time",
                  *(f"{100 * row['profile']['busiest_thread']:.0f} %" for row in rows)])
    return table(["share of the CPU seconds", *(f"{row['case']}, `-w {row['threads']}`" for row in rows)], lines,
                 "l" + "r" * len(rows))


def qc_resident(result):
    """Of scripts/bench/qc.py --resident: rates of the stages without files, compared with one thread of fastp."""
    of = result["resident"]
    names = {"fastp_pairs_s": "fastp, one worker, no output", "cpu_pairs_s": "biogpu, one thread of the CPU",
             "host_to_host_pairs_s": "biogpu, GPU from host memory to host memory, one stream",
             "device_pairs_s": "biogpu, GPU, pairs resident on it"}
    return table(["default options, pairs of 150 bases", "million pairs/s", "speedup over fastp"],
                 [[name, f"{of[key] / 1e6:.3g}", times(of[key] / of["fastp_pairs_s"])] for key, name in names.items()],
                 "lrr")


def qc_adapterremoval(result):
    """Of scripts/bench/qc.py --adapterremoval."""
    of = result["adapterremoval"]
    return table(["program", "wall, s", "CPU, s", "peak memory, MB", "million reads per CPU second", "reads kept",
                  "bases kept", "output, MB"],
                 [[name, f"{of[name]['wall_s']:.2f}", f"{of[name]['cpu_s']:.2f}",
                   f"{of[name]['peak_bytes'] / 2**20:.0f}", f"{2e-6 * of['pairs'] / of[name]['cpu_s']:.3f}",
                   f"{of['kept'][name]['reads']:,}", f"{of['kept'][name]['bases']:,}",
                   f"{of['bytes'][name] / 1e6:.0f}"] for name in ("biogpu", "adapterremoval")], "lrrrrrrr")


def bwt_device(rows):
    """Of scripts/bench/bwt_gpu.sh: the last run of each job."""
    lines = []
    for row in (r for r in rows if r["what"] == "transform"):
        lines.append([f"transform, {row['bases'] / 1e6:.0f} Mbp", f"{row['wall_s']:.4f}",
                      f"{row['bases'] / row['wall_s'] / 1e9:.1f} Gbp/s"])
    found = [r for r in rows if r["what"] == "search"][-1:]
    for row in found:
        n = row["queries"]
        for job, key, places in (("count", "count", ""), ("locate", "locate", f" ({row['places']:,} places)")):
            for how, name in ((", host to host", "wall"), (", kernels alone", "device")):
                seconds = row[f"{key}_{name}_s"]
                lines.append([f"{job}, {n / 1e6:.0f} million 100-mers{places}{how}", f"{seconds:.4f}",
                              f"{n / seconds / 1e6:,.0f} million/s"])
    return table(["job", "seconds", "rate"], lines, "lrr")


def bwt(result):
    """Of scripts/bench/bwt.py: whole commands, wall seconds."""
    names = {"index": "biogpu bwt index", "index_bwa": "biogpu bwt index --format bwa", "bwa_index": "bwa index",
             "count": "biogpu bwt count", "locate": "biogpu bwt locate"}
    lines = [[names.get(name, name), f"{of['median_s']:.2f}", f"{min(of['runs_s']):.2f} to {max(of['runs_s']):.2f}"]
             for name, of in result["programs"].items()]
    peers = result.get("seqan2_and_divsufsort", {})
    for key, name in (("build_s", "SeqAn2, building its index"), ("count_s", "SeqAn2, counting"),
                      ("divsufsort_s", "libdivsufsort, the suffix array")):
        if key in peers:
            lines.append([name, f"{peers[key]:.2f}", ""])
    return table(["program", "median, s", "lowest to highest"], lines, "lrr")


def bwt_ratios(result):
    """Of scripts/bench/bwt.py: a peer's seconds over biogpu's."""
    programs, peers = result["programs"], result.get("seqan2_and_divsufsort", {})
    seconds = {name: of["median_s"] for name, of in programs.items()}
    lines = []
    if "build_s" in peers:
        lines.append(["FM-index, from file to file; SeqAn2 in memory, one thread", times(peers["build_s"] / seconds["index"])])
    if "bwa_index" in seconds:
        lines.append(["files of bwa index", times(seconds["bwa_index"] / seconds["index_bwa"])])
    if "count_s" in peers:
        lines.append(["counting 100-mers, wall; SeqAn2 in memory, one thread", times(peers["count_s"] / seconds["count"])])
        cpu = programs["count"].get("stages", {}).get("cpu_s")
        if cpu:
            lines.append(["counting 100-mers, CPU seconds", times(peers["count_s"] / cpu)])
    return table(["workload", "speedup"], lines, "lr")


def bwt_libsais(result):
    """Of scripts/bench/bwt.py --libsais: both libraries in turns, medians."""
    def median(row, name, key):
        return statistics.median(row[name][key])

    lines = []
    for row in result["libsais"]:
        for what, name in (("suffix array", "sa"), ("transform", "bwt")):
            ours, theirs = f"biogpu_{name}", f"libsais_{name}"
            lines.append([row["text"], what, f"{median(row, ours, 'wall_s'):.2f}", f"{median(row, theirs, 'wall_s'):.2f}",
                          times(median(row, theirs, "wall_s") / median(row, ours, "wall_s")),
                          times(median(row, theirs, "cpu_s") / median(row, ours, "cpu_s"))])
    return table(["text", "result", "biogpu, s", "libsais, s", "speedup", "CPU-time reduction"], lines, "llrrrr")


def bwt_smem(*results):
    """Of scripts/bench/bwt.py --only-smem: whole commands in turns, medians."""
    lines = []
    for smem in (result["smem"] for result in results):
        theirs = smem["programs"]["bwa"]
        for name, of in smem["programs"].items():
            if name == "bwa":
                continue
            lines.append([smem["text"], name.split("_")[1], f"{of['wall_s']:.2f}", f"{theirs['wall_s']:.2f}",
                          times(theirs["wall_s"] / of["wall_s"]), times(theirs["cpu_s"] / of["cpu_s"]),
                          f"{of['peak_bytes'] / 1e6:.0f} / {theirs['peak_bytes'] / 1e6:.0f}"])
    return table(["text", "threads", "biogpu, s", "bwa fastmap, s", "speedup", "CPU-time reduction",
                  "peak MB, biogpu / bwa"], lines, "lrrrrrr")


def bwt_hard(rows):
    """Of scripts/bench/bwt_gpu.sh: hard texts compared with random ones of the same kind and length."""
    hard = [r for r in rows if r["what"] == "hard"]
    seconds = {r["text"]: r["wall_s"] for r in hard}
    return table(["text", "rounds", "seconds", "time / random text"],
                 [[r["text"], r["rounds"], f"{r['wall_s']:.4f}", times(r["wall_s"] / seconds[r["like"]])] for r in hard],
                 "lrrr")


def bwt_files(rows):
    """Of scripts/bench/bwt_gpu.sh: whole commands, wall seconds, median of each."""
    names = dict.fromkeys(row["what"] for row in rows)
    lines = []
    for name in names:
        runs = [row["wall_s"] for row in rows if row["what"] == name]
        lines.append([f"`{name}`", len(runs), f"{statistics.median(runs):.2f}", f"{min(runs):.2f} to {max(runs):.2f}"])
    return table(["command", "runs", "median, s", "lowest to highest"], lines, "lrrr")


def bwt_index(*summaries):
    """Of `biogpu bwt index --json`: one run each."""
    lines = []
    for run in summaries:
        seconds = run["time"]
        lines.append([run["result"]["format"], f"{run['result']['bases'] / 1e9:.1f}", f"{seconds['wall_s']:.1f}",
                      f"{seconds['gpu_s']:.2f}", f"{seconds['read_s']:.1f}", f"{seconds['compute_s']:.1f}",
                      f"{seconds['write_s']:.1f}", f"{run['memory']['peak_rss_bytes'] / 1e9:.0f}",
                      f"{run['memory']['peak_device_bytes'] / 1e9:.0f}"])
    return table(["files", "Gbp", "wall, s", "device, s", "read, s", "compute, s", "write, s", "host, GB", "device, GB"],
                 lines, "lrrrrrrrr")


def infer_cpu(result):
    """Of scripts/bench/infer_cpu.py: passes alone."""
    return table(["sequences", "biogpu, s", "transformers, s", "speedup", "CPU-time reduction", "largest error"],
                 [[row["case"], f"{row['biogpu_s']:.4g}", f"{row['transformers_s']:.4g}", times(row["ratio"]),
                   times(row["cpu_ratio"]), f"{row['error']:.1g}"] for row in result["cases"]], "lrrrrr")


def infer_design(result):
    """Of scripts/bench/infer_design.py."""
    return table(["structure", "residues", "tied", "samples", "biogpu, s", "ProteinMPNN, s", "speedup",
                  "CPU-time reduction"],
                 [[row["structure"], row["residues"], "yes" if row["tied"] else "no", row["samples"],
                   f"{row['biogpu_wall_s']:.2f}", f"{row['original_wall_s']:.2f}", times(row["wall_ratio"]),
                   times(row["cpu_ratio"])] for row in result["rows"]], "lrlrrrrr")


def infer_design_gpu(result):
    """Of scripts/bench/infer_design_gpu.sh: from coordinates on the host to letters and log-probabilities there."""
    lines = []
    for row in result["times"]:
        theirs = row.get("original_s")
        lines.append([row["stage"], row["residues"], row["sequences"], f"{1e3 * row['median_s']:.2f}",
                      f"{1e3 * theirs:.1f}" if theirs else "", times(theirs / row["median_s"]) if theirs else ""])
    return table(["stage", "residues", "sequences", "biogpu, ms", "ProteinMPNN, ms", "speedup"], lines, "lrrrrr")


def infer_design_files(result):
    """Of scripts/bench/infer_design_gpu.sh: files to FASTA, whole processes; the original's is ten files' time, scaled."""
    files = result["files"]
    rows = [["biogpu, GPU", f"{files['wall_s']:.2f}"], [f"biogpu, {files['cpu_cores']} cores", f"{files['cpu_wall_s']:.1f}"],
            ["ProteinMPNN, GPU, from ten files", f"{files['original_s']:.0f}"]]
    return table([f"{files['structures']:,} structures of {files['residues']} residues", "wall, s"], rows, "lr")


def infer_design_fidelity(result):
    """Of scripts/bench/infer_design_gpu.sh: with the original's random numbers."""
    return table(["structure", "residues", "samples", "largest difference of a log-probability"],
                 [[r["structure"], r["residues"], r["samples"], f"{r['worst_log_probability']:.1e}"]
                  for r in result["fidelity"]], "lrrr")


MODEL_NAMES = {"protbert": "ProtBERT", **{f"esm2_{size}": f"ESM-2 {size}" for size in ("8M", "35M", "150M", "650M", "3B")}}


def infer_models(*words):
    """The models of results of scripts/bench/infer_gpu.sh; a word in front of these chooses those with such a shape."""
    shape = words[0] if isinstance(words[0], str) else ""
    return [model for result in words[1 if shape else 0:] for model in result["models"] if model["shape"].startswith(shape)]


LAYER_STEPS = {"norm + cast", "gemm qkv + rotary", "attention", "gemm + bias + residual", "gemm + bias + gelu"}


def infer_gpu(*words):
    """Of scripts/bench/infer_gpu.sh: passes on tensors that lie on the device; the reference in the same run."""
    dtypes = {"fp16": "float16", "fp32": "float32", "bf16": "bfloat16"}
    lines = []
    for model in infer_models(*words):
        for ours in model["ours"]:
            theirs = {row["attention"]: row for row in model["reference"]
                      if (row["batch"], row["dtype"]) == (ours["batch"], dtypes[ours["precision"]])}
            if not theirs:
                continue
            fastest = min(row["median_s"] for row in theirs.values())
            ms = {name: f"{1e3 * row['median_s']:.2f}" for name, row in theirs.items()}
            activations = (f"{ours['activation_bytes'] / 2**20:.0f} / {theirs['eager']['activation_bytes'] / 2**20:.0f}"
                           if "eager" in theirs else "")
            rested = [row["rested_s"] for row in theirs.values() if "rested_s" in row]
            alone = (f"{1e3 * ours['rested_s']:.3f} / {1e3 * min(rested):.2f}" if rested else "")
            lines.append([MODEL_NAMES[model["shape"]], ours["batch"].replace("x", " x "), ours["precision"],
                          f"{1e3 * ours['median_s']:.3f}", ms.get("eager", ""), ms.get("sdpa", ""),
                          times(fastest / ours["median_s"]), alone, activations])
    return table(["model", "batch", "precision", "biogpu, ms", "eager, ms", "SDPA, ms", "speedup over the faster",
                  "with rests: biogpu / the faster, ms", "activations, biogpu / eager, MiB"], lines, "lllrrrrrr")


def infer_bare_products(*results):
    """Of scripts/bench/infer_gpu.sh: a pass, and its layers' matrix products alone by the library of PyTorch."""
    precisions = {"float16": "fp16", "bfloat16": "bf16"}
    lines = []
    for model in (model for result in results for model in result["models"]):
        ours = {(row["batch"], row["precision"]): row for row in model["ours"]}
        for bare in model["bare_products"]:
            precision = precisions[bare["dtype"]]
            whole = ours[bare["batch"], precision]
            lines.append([MODEL_NAMES[model["shape"]], bare["batch"].replace("x", " x "), precision,
                          *(f"{1e3 * row[key]:.1f}" for key in ("median_s", "rested_s") for row in (whole, bare))])
    return table(["model", "batch", "precision", "back to back, ms: forward pass", "products alone",
                  "with rests, ms: forward pass", "products alone"], lines, "lllrrrr")


def infer_devices(result):
    """Of scripts/bench/infer_gpu.sh: whole commands over a proteome, and what each device computed."""
    runs = result["devices"]["runs"]
    lines = []
    for r in runs:
        n = len(r["devices"].split(","))
        lines.append([n, f"{r['wall_s']:.2f}", f"{r['summary']['time']['gpu_s'] / n:.2f}", times(runs[0]["wall_s"] / r["wall_s"])])
    return table(["GPUs", "whole command, s", "forward passes of each, s", "speedup"], lines, "rrrr")


def infer_operations(result):
    """Of `biogpu infer bench --json`: the steps of a layer of ESM-2 650M over 16 sequences of 512."""
    lines = [[op["op"], op["shape"].split(": ")[1], f"{1e6 * op['seconds']:.0f}",
              f"{op['operations'] / op['seconds'] / 1e12:.0f}" if "gemm" in op["op"] or op["op"] == "attention" else "",
              f"{100 * op['roofline_share']:.0f} %"]
             for op in result["ops"] if op["shape"].startswith("ESM-2 650M") and op["op"] in LAYER_STEPS]
    return table(["step", "rows x columns x summed", "us", "TFLOP/s", "share of the roofline"], lines, "llrrr")


def infer_fidelity(*words):
    """Of scripts/bench/infer_gpu.sh: last hidden states against the reference in fp32."""
    return table(["model", "program", "precision", "cosine", "worst cosine of a token", "relative error",
                  "same likeliest residue", "largest lead lost"],
                 [[MODEL_NAMES[model["shape"]], row.get("program", "biogpu"), row["precision"], f"{row['cosine']:.7f}",
                   f"{row['worst_cosine']:.7f}", f"{row['relative_error']:.1e}", f"{100 * row['same_top1']:.2f} %",
                   f"{100 * row['lost_lead']:.2f} %"]
                  for model in infer_models(*words) for row in model.get("fidelity", [])], "lllrrrrr")


def share(limits, run, stage):
    """What a stage reaches of the limit it is held against, with the limit's name; bytes of one busy thread."""
    if not stage["rate"]:
        return ""
    text = "FASTQ" if ".fq" in run["command"] else "FASTA"
    name = f"parse {text}" if stage["name"].split("/")[0] == "read" else "host memory"
    if name not in limits:
        return ""
    n_threads = 1 if name.startswith("parse") else stage["threads"]
    return f"{100 * stage['rate'] * n_threads / 1000 / limits[name]:.3g} % of {name}"


def stages(result):
    """Of scripts/bench/stages.py: the limits of the host, then a table a run."""
    limits = {figure["name"]: figure["median"] for figure in result["limits"]}

    def cell(value, digits):
        return "" if value is None else f"{value:.{digits}f}"

    lines = [f"{machine.sentence(result['machine'])}; {result['threads']} threads, --device {result['device']}; the run "
             f"of median time of {result['repeats']}; {result['date']}. Limits: "
             + ", ".join(f"{name} {value:.3g} GB/s" for name, value in limits.items()) + ".", ""]
    for run in result["runs"]:
        rows = [[s["name"], f"{s['threads']:.0f}", cell(s["wall_s"], 3), cell(s["busy_s"], 3), cell(s["wait_s"], 3),
                 s["waits_for"], cell(s["rate"], 0), share(limits, run, s)] for s in run["stages"]]
        lines += [f"**{run['name']}**: {run['wall_s']:.2f} s", ""]
        lines += table(["stage", "threads", "wall, s", "busy, s", "waited, s", "waited for", "MB/s a thread", "share of the limit"],
                       rows, "lrrrrlrr")
        lines.append("")
    return lines[:-1]


def auto_choice(result):
    """Of scripts/bench/auto_choice.py: each run with every --device, and what auto took."""
    def median(case, device):
        return f"{statistics.median(run['wall_s'] for run in case['runs'][device]):.2f}"

    return table(["run", "cpu, s", "gpu, s", "auto, s", "auto used", "auto / better"],
                 [[case["name"], *(median(case, device) for device in ("cpu", "gpu", "auto")), case["chosen"],
                   f"{case['ratio']:.2f}"] for case in result["cases"]], "lrrrlr")


def further_devices(result):
    """Of scripts/bench/further_devices.py: each run on the first GPU and on all that are offered."""
    def median(case, out):
        return f"{statistics.median(run['wall_s'] for run in case['runs'][out]):.2f}"

    return table(["run", "one GPU, s", f"`--device {result['devices']}`, s", "GPUs used", "ratio"],
                 [[case["name"], median(case, "one"), median(case, "several"), str(case["n_used"]),
                   f"{case['ratio']:.2f}"] for case in result["cases"]], "lrrrr")
