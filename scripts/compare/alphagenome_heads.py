"""What the comparisons of AlphaGenome with its ports have in common."""

import torch

BOUND, COSINE = 1e-3, 0.99999


def common_junctions(counts, sites, other_counts, other_sites, n_tissues):
    """Counts of both between the sites that both chose: the 512th of a class may have a probability close to the next."""
    got, right = [], []
    for strand in (0, 1):
        rows = []
        for of_class in (2 * strand, 2 * strand + 1):
            one, other = sites[of_class].long().tolist(), other_sites[of_class].long().tolist()
            both = [site for site in one if site >= 0 and site in set(other)]
            rows.append(([one.index(site) for site in both], [other.index(site) for site in both]))
        for result, which, values in ((got, 0, counts), (right, 1, other_counts)):
            first = strand * values.shape[2] // 2
            result.append(values[rows[0][which]][:, rows[1][which]][..., first:first + n_tissues].flatten())
    return torch.cat(got), torch.cat(right)
