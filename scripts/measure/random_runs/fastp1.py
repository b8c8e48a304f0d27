"""fastp 1.3.7, under the name `fastp1` on PATH, and `biogpu qc`. 1.3.0 to 1.3.6 lose reads of joined BGZF files."""

import re

from measure.random_runs import fastp

PROGRAM = "fastp1"
PAGE = fastp.PAGE
NOT_THERE = ("--stdout, several threads",)  # in order since 0.24.3
KNOWN = [one for one in fastp.KNOWN if one.name not in NOT_THERE]


def options_of_fastp_1(draw, paired, words):
    """Those that fastp 1 has besides; and at most 4 threads: more are used only where there are so many cores."""
    words = [re.sub("^(--thread=)?1[67]$", r"\g<1>4", word) if word.startswith("--thread=") or words[n - 1] in ("-w", "--thread")
             else word for n, word in enumerate(words)]
    words += draw.value(0.15, "--dimer_max_len", (0, 1, 2, 5, 20, 60))
    if paired:
        words += draw.flag(0.2, "--allow_gap_overlap_trimming") + draw.flag(0.05, "-2")
    if "-U" in draw.options:
        words += draw.value(0.5, "--umi_delim", ("_", "::", "+", " "))
    return words


def play(draw, run, biogpu):
    fastp.play(draw, run, biogpu, PROGRAM, (), options_of_fastp_1, 0.15)
