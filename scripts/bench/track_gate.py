"""When tracks count as equal to those of a peer in double precision: what the exit status of infer_tracks.py tells."""

BOUND, COSINE = 1e-4, 0.99999


def passes(precision, worst, cosine):
    """worst: difference over a track's range; cosine: the least of a track about its mean. NaN does not pass."""
    return cosine >= COSINE and (precision != "fp32" or worst <= BOUND)


def missed(equal, precisions):
    """Those of the precisions that do not pass, or that were not compared."""
    return [p for p in precisions if p not in equal or not equal[p]["passes"]]
