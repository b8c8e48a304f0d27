#!/usr/bin/env python3
"""AlphaGenome's scorers of variants in NumPy, in double precision, with masks as arrays of zeros and ones.

usage: scripts/reference/variant_scorers.py FILE [--seed N]

Writes the scores of random predictions to FILE (.safetensors), for tests of lib/tasks/dna/scorers. Needs requirements.txt.
"""

import argparse

import numpy as np

POLYA_BASES = 400


def centre_mask(base, width, bin_size, n_bins):
    """Bins around a base of a window; width None: all."""
    mask = np.zeros(n_bins)
    if not 0 <= base < n_bins * bin_size:
        return mask
    if width is None:
        return mask + 1
    n = -(-width // bin_size)
    for i in range(n_bins):
        mask[i] = 0 <= i - (base // bin_size - n // 2) < n
    return mask


def centre_score(aggregation, ref, alt, mask):
    m = mask[:, None]
    mean = lambda x: (x * m).sum(0) / m.sum()
    total = lambda x: (x * m).sum(0)
    return {
        "DIFF_MEAN": lambda: mean(alt) - mean(ref),
        "DIFF_SUM": lambda: total(alt) - total(ref),
        "DIFF_SUM_LOG2": lambda: total(np.log2(alt + 1)) - total(np.log2(ref + 1)),
        "DIFF_LOG2_SUM": lambda: np.log2(1 + total(alt)) - np.log2(1 + total(ref)),
        "L2_DIFF": lambda: np.sqrt(total((alt - ref) ** 2)),
        "L2_DIFF_LOG1P": lambda: np.sqrt(total((np.log1p(alt) - np.log1p(ref)) ** 2)),
        "ACTIVE_MEAN": lambda: np.maximum(mean(alt), mean(ref)),
        "ACTIVE_SUM": lambda: np.maximum(total(alt), total(ref)),
    }[aggregation]()


AGGREGATIONS = ("DIFF_MEAN", "DIFF_SUM", "DIFF_SUM_LOG2", "DIFF_LOG2_SUM", "L2_DIFF", "L2_DIFF_LOG1P", "ACTIVE_MEAN",
                "ACTIVE_SUM")


def align(alt, first, n_ref, n_alt):
    """Predictions of an allele in the rows of the reference: inserted rows and their anchor become their maximum, deleted
    ones zeros behind the anchor. The window keeps its length; as many rows at its end as were inserted are zeros, those of
    the maximum and before it too."""
    n = len(alt)
    anchor = first + min(n_ref, n_alt) - 1
    if n_alt > n_ref:
        n_inserted = n_alt - n_ref
        rows = [*alt[:anchor], alt[anchor : anchor + n_inserted + 1].max(0), *alt[anchor + n_inserted + 1 :]]
    else:
        rows = [*alt[: anchor + 1], *np.zeros((n_ref - n_alt, alt.shape[1])), *alt[anchor + 1 :]]
    rows = rows[:n] + [np.zeros(alt.shape[1])] * (n - len(rows))
    return np.array(rows) * (np.arange(n) < n - max(n_alt - n_ref, 0))[:, None]


def gene_score(kind, ref, alt, mask):
    m = mask[:, None]
    mean = lambda x: (x * m).sum(0) / m.sum()
    if kind == "LFC":
        return np.log(mean(alt) + 1e-3) - np.log(mean(ref) + 1e-3)
    if kind == "ACTIVE":
        return np.maximum(mean(alt), mean(ref))
    return (np.abs(alt - ref) * m).max(0)


def contact_score(ref, alt, bin_index):
    return np.abs(alt - ref).mean(0)[bin_index]


def polya_sites(begins, ends, window):
    """Which of a gene's sites count: a list of indices in the order of begins."""
    begins, ends = np.array(begins), np.array(ends)
    if len(begins) == 0 or (begins >= 0).mean() < 0.8 or (ends < window).mean() < 0.8:
        return []
    inside = [i for i in np.argsort(begins, kind="stable") if begins[i] >= 0 and ends[i] < window]
    return inside if len(inside) > 1 else []


def polya_score(ref, alt, begins, strand):
    n = len(begins)
    ratios = []
    for begin in begins:
        low = begin + 1 - POLYA_BASES if strand == "+" else begin
        rows = slice(max(low, 0), min(low + POLYA_BASES, len(ref)))
        with np.errstate(all="ignore"):
            ratio = alt[rows].sum(0) / ref[rows].sum(0)
        ratios.append(np.where(np.isfinite(ratio), ratio, 0))
    best = np.zeros(ref.shape[1])
    for k in range(1, n):
        with np.errstate(all="ignore"):
            score = np.abs(np.log2((n - k) / k * sum(ratios[:k]) / sum(ratios[k:])))
        best = np.maximum(best, np.where(np.isfinite(score), score, 0))
    return best


def main():
    from safetensors.numpy import save_file

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    found = {}

    def predictions(*shape):
        return random.gamma(0.5, 4.0, shape).astype(np.float32)

    ref, alt = predictions(60, 5), predictions(60, 5)
    found["reference"], found["alternate"] = ref, alt
    r, a = ref.astype(float), alt.astype(float)
    for base, width, bin_size in ((17, 11, 1), (0, 8, 1), (59, 9, 1), (100, None, 2), (100, 21, 2), (239, 501, 4)):
        mask = centre_mask(base, width, bin_size, 60)
        for aggregation in AGGREGATIONS:
            found[f"centre/{base}/{width or 0}/{bin_size}/{aggregation}"] = centre_score(aggregation, r, a, mask)
    mask = np.zeros(60)
    mask[5:9] = mask[20:31] = mask[30:40] = mask[58:] = 1
    for first, n_ref, n_alt in ((25, 1, 1), (25, 3, 3), (25, 1, 4), (25, 2, 6), (25, 5, 2), (25, 4, 1), (25, 1, 90),
                                (59, 1, 3), (0, 1, 2), (0, 3, 1), (50, 3, 1)):
        aligned = align(a, first, n_ref, n_alt)
        found[f"aligned/{first}/{n_ref}/{n_alt}"] = aligned
        for kind in ("LFC", "ACTIVE", "SPLICING"):
            found[f"gene/{kind}/{first}/{n_ref}/{n_alt}"] = gene_score(kind, r, aligned, mask)
    maps = [predictions(7, 7, 3) for _ in range(2)]
    found["contacts/reference"], found["contacts/alternate"] = maps
    for i in (0, 3, 6):
        found[f"contacts/{i}"] = contact_score(*(m.astype(float) for m in maps), i)
    ref, alt = predictions(1500, 4), predictions(1500, 4)
    ref[:, 3] = 0  # no ratio of this track is finite
    found["polya/reference"], found["polya/alternate"] = ref, alt
    r, a = ref.astype(float), alt.astype(float)
    sites = dict(spread=[30, 420, 700, 701, 1100, 1480], two=[500, 600], outside=[-30, 10, 600, 800, 1300, 1499],
                 few=[-60, -20, 600, 700, 1300], one=[900], last=[10, 300, 310, 320, 1499])
    for name, begins in sites.items():
        chosen = polya_sites(begins, [b + 1 for b in begins], 1500)
        found[f"polya/{name}/sites"] = np.array([begins[i] for i in chosen] or [-1])
        for strand in "+-":
            for first, n_ref, n_alt in ((710, 1, 1), (710, 1, 12), (710, 30, 2)):
                aligned = align(a, first, n_ref, n_alt)
                key = f"polya/{name}/{strand}/{first}/{n_ref}/{n_alt}"
                found[key] = polya_score(r, aligned, [begins[i] for i in chosen], strand)
    save_file({name: np.ascontiguousarray(values, np.float32) for name, values in found.items()}, args.file)


if __name__ == "__main__":
    main()
