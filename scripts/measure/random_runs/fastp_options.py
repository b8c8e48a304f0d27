"""Random option sets of fastp. OUT stands for the folder of one side's outputs."""

from measure.random_runs.fastp_inputs import ADAPTER1, ADAPTER2

LONG = {"-f": "--trim_front1", "-t": "--trim_tail1", "-F": "--trim_front2", "-T": "--trim_tail2", "-b": "--max_len1",
        "-B": "--max_len2", "-5": "--cut_front", "-3": "--cut_tail", "-r": "--cut_right", "-W": "--cut_window_size",
        "-M": "--cut_mean_quality", "-g": "--trim_poly_g", "-G": "--disable_trim_poly_g", "-x": "--trim_poly_x",
        "-A": "--disable_adapter_trimming", "-a": "--adapter_sequence", "-Q": "--disable_quality_filtering",
        "-q": "--qualified_quality_phred", "-u": "--unqualified_percent_limit", "-n": "--n_base_limit",
        "-e": "--average_qual", "-L": "--disable_length_filtering", "-l": "--length_required",
        "-y": "--low_complexity_filter", "-Y": "--complexity_threshold", "-c": "--correction", "-D": "--dedup",
        "-p": "--overrepresentation_analysis", "-P": "--overrepresentation_sampling", "-w": "--thread",
        "-z": "--compression", "-o": "--out1", "-O": "--out2", "-s": "--split", "-S": "--split_by_lines", "-d": "--split_prefix_digits"}


def trims(draw, paired):
    few = (0, 1, 2, 3, 5, 10, 29, 30)
    return [
        draw.value(0.15, "-f", few), draw.value(0.15, "-t", few),
        paired and draw.value(0.1, "-F", few) or [], paired and draw.value(0.1, "-T", few) or [],
        draw.value(0.12, "-b", (0, 1, 20, 50, 75, 200)), paired and draw.value(0.08, "-B", (0, 1, 30, 60)) or [],
    ]


def cuts(draw):
    windows, means = (1, 2, 3, 4, 10, 50, 1000), (1, 2, 15, 20, 25, 30)
    groups = [draw.flag(0.2, "-5"), draw.flag(0.2, "-3"), draw.flag(0.15, "-r"), draw.value(0.15, "-W", windows),
              draw.value(0.15, "-M", means), draw.flag(0.03, "--cut_by_quality5"),
              draw.flag(0.03, "--cut_by_quality3"), draw.flag(0.03, "--cut_by_quality_aggressive")]
    for which in ("front", "tail", "right"):
        groups += [draw.value(0.06, f"--cut_{which}_window_size", windows),
                   draw.value(0.06, f"--cut_{which}_mean_quality", means)]
    return groups


def tails(draw):
    return [draw.flag(0.2, "-g"), draw.flag(0.1, "-G"), draw.value(0.15, "--poly_g_min_len", (1, 2, 5, 10, 30)),
            draw.flag(0.25, "-x"), draw.value(0.15, "--poly_x_min_len", (1, 2, 5, 10, 30))]


def adapters(draw, run, paired):
    some = (ADAPTER1, ADAPTER2, "ACGT", "AGATCGGA", "CTGTCTCTTATACACATCT", "ACGTACGTAC", "auto")
    groups = [draw.flag(0.12, "-A"), draw.value(0.25, "-a", some),
              paired and draw.value(0.15, "--adapter_sequence_r2", some) or [],
              paired and draw.flag(0.1, "--detect_adapter_for_pe") or [],
              draw.value(0.12, "--adapter_fasta", ("adapters.fa",))]
    if groups[-1]:
        lines = [f">{draw.of('abcdz')}{i % 3} adapter\n{draw.of((*some[:-1], 'ACG', 'TTTTTTTTTT', 'agatcggaagagc'))}"
                 for i in range(draw.of((1, 2, 4, 20)))]
        (run.folder / "adapters.fa").write_text("\n".join(lines) + draw.of(("\n", "")), encoding="ascii")
    return groups


def filters(draw, run):
    groups = [
        draw.flag(0.12, "-Q"), draw.value(0.15, "-q", (0, 1, 5, 15, 20, 30, 40, 93)),
        draw.value(0.12, "-u", (0, 1, 20, 40, 80, 100)), draw.value(0.12, "-n", (0, 1, 2, 5, 50)),
        draw.value(0.12, "-e", (0, 1, 15, 20, 28, 35)), draw.flag(0.12, "-L"),
        draw.value(0.2, "-l", (0, 1, 15, 30, 80, 1000)), draw.value(0.1, "--length_limit", (0, 1, 50, 100, 150)),
        draw.flag(0.15, "-y"), draw.value(0.1, "-Y", (0, 1, 30, 60, 100)),
    ]
    for which in ("1", "2"):
        index = draw.value(0.04, f"--filter_by_index{which}", (f"index{which}.txt",))
        if index:
            lines = ["".join(draw.rng.choices("ACGT", k=draw.of((2, 6, 8)))) for _ in range(draw.upto(3, 1))]
            (run.folder / f"index{which}.txt").write_text("\n".join(lines) + draw.of(("\n", "")), encoding="ascii")
            index += draw.value(0.4, "--filter_by_index_threshold", (0, 1, 2, 4))
        groups.append(index)
    return groups


def names(draw, run):
    groups = [draw.flag(0.06, "--fix_mgi_id")]
    if draw.chance(0.15):
        where = draw.of(("index1", "index2", "read1", "read2", "per_index", "per_read"))
        likely, unlikely = (0.95, 0.3) if "read" in where else (0.03, 0.03)
        groups.append([draw.note("-U"), "--umi_loc", where, *draw.value(likely, "--umi_len", (1, 4, 8, 12, 100)),
                       *draw.value(unlikely, "--umi_skip", (0, 1, 3, 100)),
                       *draw.value(0.3, "--umi_prefix", ("UMI", "x1"))])
        draw.note(f"--umi_loc {where}")
        run.marks.add("umi")
    return groups


def overlaps(draw):
    return [draw.flag(0.25, "-c"), draw.value(0.1, "--overlap_len_require", (1, 5, 10, 20, 30, 50)),
            draw.value(0.1, "--overlap_diff_limit", (0, 1, 2, 5, 10)),
            draw.value(0.1, "--overlap_diff_percent_limit", (0, 1, 10, 20, 50, 100))]


def counting(draw, run):
    """Duplicates (seldom: fastp fills 1 GiB to find them), overrepresented sequences, how many reads, threads."""
    dedup = draw.flag(0.03, "-D")
    groups = [dedup, draw.flag(0.05, "-p"), draw.value(0.1, "-P", (1, 2, 20, 10000)),
              draw.value(0.08, "--reads_to_process", (0, 1, 10, 1000)),
              [] if dedup or draw.chance(0.03) else [draw.note("--dont_eval_duplication")],
              draw.value(0.03, "--dup_calc_accuracy", (1, 2)), draw.flag(0.03, "-V")]
    if dedup:
        run.marks.add("dedup")
    return [*groups, draw.value(0.4, "-w", (1, 2, 3, 4, 16))]


def outputs(draw, run, paired):
    """Where the reads go; marks for those whose order depends on fastp's threads."""
    suffix = ".fq.gz" if draw.chance(0.1) else ".fq"
    if draw.chance(0.06):
        run.marks.add("stdout")
        return [[draw.note("--stdout")], *([["-o", f"OUT/out1{suffix}"]] if draw.chance(0.1) else [])]
    groups = [["-o", f"OUT/out1{suffix}"], paired and ["-O", f"OUT/out2{suffix}"] or [],
              draw.value(0.05, "-z", (1, 4, 9)), draw.value(0.25, "--failed_out", (f"OUT/failed{suffix}",))]
    if paired:
        groups += [draw.value(0.2, "--unpaired1", (f"OUT/u1{suffix}",)), draw.value(0.2, "--unpaired2", (
            f"OUT/u2{suffix}", f"OUT/u1{suffix}")), draw.value(0.06, "--overlapped_out", (f"OUT/overlapped{suffix}",))]
        if draw.chance(0.2):
            groups.append([draw.note("-m"), "--merged_out", f"OUT/merged{suffix}",
                           *draw.flag(0.4, "--include_unmerged")])
    if draw.chance(0.04):
        groups.append([*draw.of((draw.value(1, "-s", (2, 3, 5)), draw.value(1, "-S", (1000, 1200)))),
                       *draw.value(0.4, "-d", (0, 1, 3, 10))])
        run.marks.add("split")
    return groups


def awkward(draw, run):
    """Now and then a value at or behind a limit, an option of fastp's past, a repeated one."""
    if not draw.chance(0.05):
        return []
    run.marks.add("odd value")
    return draw.note("(odd value)") and draw.of((
        ["-q", "94"], ["-q", "-1"], ["-u", "101"], ["-n", "51"], ["-e", "94"], ["-W", "0"], ["-W", "1001"], ["-M", "0"],
        ["-M", "31"], ["-M", "37"], ["-f", "31"], ["-t", "101"], ["-f", "-1"], ["-w", "0"], ["-w", "17"], ["-l", "-1"],
        ["-Y", "101"], ["-Y", "-1"], ["--umi_skip", "101"], ["--poly_g_min_len", "0"], ["--poly_x_min_len", "0"],
        ["--overlap_len_require", "0"], ["--overlap_diff_percent_limit", "101"], ["--reads_to_process", "-1"],
        ["--length_limit", "-1"], ["-b", "-1"], ["-P", "0"], ["-a", "AC"], ["-a", "ACGN"], ["-a", "acgtacgt"],
        ["-s", "1"], ["-S", "999"], ["-d", "11"], ["--dup_calc_accuracy", "0"], ["-z", "0"], ["-z", "10"],
        ["--discard_unmerged"], ["extra"], ["-q", "015"], ["-l", "020"], ["-q", "0x10"], ["-q", "1e1"], ["-q", " 15"],
        ["-q", "+15"], ["-l", ""], ["-q=20"], ["--length_required=40"], ["-w4"], ["-Ax"], ["-Aq", "20"], ["-R", "a title"],
        ["-R", "a \"title\""], ["--nothing"], ["--dont_overwrite"], ["-l", "30", "-l", "20"], ["-q", "20", "-q", "30"],
        ["-A", "-A"], ["-6"], ["--umi_prefix", "a_b"], ["--umi_loc", "read1"], ["-U"], ["-U", "--umi_loc", "read3"]))


def draw_options(draw, run, paired):
    return draw.shuffled(*trims(draw, paired), *cuts(draw), *tails(draw), *adapters(draw, run, paired),
                         *filters(draw, run), *names(draw, run), *(overlaps(draw) if paired else []), *counting(draw, run),
                         *outputs(draw, run, paired), longs=LONG) + awkward(draw, run)
