"""Scores of splice junctions of an allele, from embeddings of bases and probabilities of sites, in double precision.

Embeddings and probabilities are lists of rows of a window; those of the alternate are aligned with the reference.
"""
import math
import struct

from same_tensors import read

CLASSES = ("pos_donor", "pos_acceptor", "neg_donor", "neg_acceptor")
MAX_SITES, MAX_SCORED, MAX_POSITION = 512, 256, 2 ** 20
LEAST = struct.unpack("<f", struct.pack("<f", 0.1))[0]


class JunctionHead:
    """The head of a model's folder, its first organism and so many tissues."""

    def __init__(self, folder, n_tissues):
        tensors, name = read(f"{folder}/model.safetensors"), "splice_sites_junction_head."
        (_, self.width, n_in, *_), weight = tensors[name + "conv.weight"]
        self.weight = [weight[i * n_in:(i + 1) * n_in] for i in range(self.width)]
        self.bias = tensors[name + "conv.bias"][1][:self.width]
        self.rope = {}
        for of_class in CLASSES:
            (_, _, n_stored, d), values = tensors[f"{name}rope_params.{of_class}"]
            rows = [values[i * d:(i + 1) * d] for i in range(2 * n_stored)]
            self.rope[of_class] = rows[:n_tissues], rows[n_stored:n_stored + n_tissues]
        n = self.width // 2
        last = MAX_POSITION - n + 1
        self.denominators = [i + last ** (i / (n - 1)) for i in range(n)]

    def site(self, row, of_class, position):
        """The vector of a site for each tissue."""
        z = [math.fsum(map(float.__mul__, w, row)) + b for w, b in zip(self.weight, self.bias)]
        turns = [(math.cos(position / d), math.sin(position / d)) for d in self.denominators]
        vectors = []
        for scale, offset in zip(*self.rope[of_class]):
            x = [s * v + o for s, v, o in zip(scale, z, offset)]
            vectors.append([y for i, (c, s) in enumerate(turns)
                            for y in (x[2 * i] * c - x[2 * i + 1] * s, x[2 * i + 1] * c + x[2 * i] * s)])
        return vectors


def choose_sites(probabilities, annotated, mask):
    """Bases of each class. probabilities: of both alleles; annotated: (class, base)."""
    sites = []
    for c, of_class in enumerate(CLASSES):
        best = [max(rows[base][c] for rows in probabilities) if base in mask else 0.0
                for base in range(len(probabilities[0]))]
        for name, base in annotated:
            if name == of_class and base in mask:
                best[base] = 1.0
        likely = sorted((-p, base) for base, p in enumerate(best) if p >= LEAST)[:MAX_SITES]
        sites.append(sorted(base for _, base in likely))
    return dict(zip(CLASSES, sites))


def log_count(donor, acceptor):
    x = sum(map(float.__mul__, donor, acceptor))
    return math.log(max(x, 0.0) + math.log1p(math.exp(-abs(x))) + 1e-7)


def junction_scores(head, embeddings, sites, strand, body):
    """{(first base of the intron, the one behind it): score of each tissue} in a gene's body (begin, end). embeddings: of
    REF and ALT."""
    prefix = "neg_" if strand == "-" else "pos_"
    of_alleles = [[[head.site(rows[base], prefix + kind, base) for base in sites[prefix + kind][:MAX_SCORED]]
                   for kind in ("donor", "acceptor")] for rows in embeddings]
    scores = {}
    for d, donor in enumerate(sites[prefix + "donor"][:MAX_SCORED]):
        for a, acceptor in enumerate(sites[prefix + "acceptor"][:MAX_SCORED]):
            first, end = (acceptor + 1, donor) if strand == "-" else (donor + 1, acceptor)
            if body[0] < first < end < body[1]:
                before, now = ([log_count(x, y) for x, y in zip(donors[d], acceptors[a])] for donors, acceptors in of_alleles)
                scores[first, end] = [abs(x - y) for x, y in zip(before, now)]
    return scores


def check_reported(got, scores):
    """got: {intron: score of each tissue} of the table, in half precision; scores: of all junctions. Each tissue has its
    largest reported, and nothing else is. Logarithms that are nearly equal may be exchanged by rounding."""
    def near(x, y):
        return abs(x - y) <= 1.1 * 2 ** -10 * max(x, y) + 2e-5

    largest = [max(values) for values in zip(*scores.values())]
    assert 0 < len(got) <= len(largest), got
    for intron, values in got.items():
        assert len(values) == len(largest) and all(map(near, values, scores[intron])), (intron, values, scores[intron])
        assert any(map(near, values, largest)), (intron, values, largest)
    for t, value in enumerate(largest):
        assert any(near(values[t], value) for values in got.values()), (t, value, got)
