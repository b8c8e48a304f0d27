#!/usr/bin/env python3
"""Writes vectors of DiffDock's interaction layer, computed by e3nn in double precision, for tests.

usage: scripts/reference/make_tensor_product_layer.py FOLDER [--seed N]

FOLDER gets first.safetensors (vectors), second.safetensors (of second order, edges without weights), older.safetensors (the
residual before batch norm) and by_outputs.safetensors (weights in the order of DiffDock's own product of first order, computed
by plain formulas of dot and cross products, in which the cyclic order of the components y z x does not matter). Each has
random weights under the names of DiffDock, a graph with a node without edges, and `out`. Needs torch, e3nn, numpy and
safetensors.
"""

import argparse
import pathlib

import numpy
import safetensors.numpy
import torch
from e3nn import o3
from e3nn.nn import BatchNorm

N_NODES, N_EDGES, N_EDGE_NUMBERS, N_HIDDEN = 7, 23, 6, 9
FIRST = ("5x0e + 3x1o + 3x1e", "5x0e + 3x1o + 3x1e + 5x0o")
SECOND = ("4x0e + 2x1o + 2x2e + 2x1e + 2x2o", "4x0e + 2x1o + 2x2e + 2x1e + 2x2o + 4x0o")
FAST_ROWS = {"0e": ("0e", "1o"), "1o": ("0e", "1o", "1e"), "1e": ("1o", "1e", "0o"), "0o": ("1e", "0o")}


def random_graph(width, n_sphere, random):
    targets = random.integers(1, N_NODES, N_EDGES)  # node 0 has no edges
    return {"nodes": random.normal(0, 1, (N_NODES, width)), "features": random.normal(0, 1, (N_EDGES, N_EDGE_NUMBERS)),
            "sphere": random.normal(0, 1, (N_EDGES, n_sphere)), "sources": random.integers(0, N_NODES, N_EDGES),
            "targets": targets, "weights": random.normal(0, 1, N_EDGES)}


def random_weights(n_weights, irreps, random):
    n_copies, n_scalars = irreps.num_irreps, sum(n for n, irrep in irreps if irrep.is_scalar())
    return {"fc.0.weight": random.normal(0, 0.5, (N_HIDDEN, N_EDGE_NUMBERS)), "fc.0.bias": random.normal(0, 0.5, N_HIDDEN),
            "fc.3.weight": random.normal(0, 0.5, (n_weights, N_HIDDEN)), "fc.3.bias": random.normal(0, 0.5, n_weights),
            "batch_norm.weight": 1 + random.normal(0, 0.2, n_copies), "batch_norm.bias": random.normal(0, 0.2, n_scalars),
            "batch_norm.running_mean": random.normal(0, 0.2, n_scalars),
            "batch_norm.running_var": 1 + random.random(n_copies)}


def fast_product(x, y, weights, irreps_in, irreps_out):
    """Scalars and vectors of one edge by dot and cross products; weights [rows, outputs] of each set of outputs."""
    parts = {str(irrep): x[part].reshape(n, -1) for (n, irrep), part in zip(irreps_in, irreps_in.slices())}
    rows = {name: [] for name in FAST_ROWS}
    for name, given in parts.items():
        l, parity = int(name[0]), name[1]
        other = "o" if parity == "e" else "e"
        rows[name].append(given * y[0])
        if l == 0:
            rows["1" + other].append(given * y[1:])
        else:
            rows["0" + other].append(given @ y[1:, None] / 3 ** 0.5)
            rows["1" + other].append(numpy.cross(given, y[1:]) / 2 ** 0.5)
    sums, begin = {}, 0
    for name in FAST_ROWS:
        n_out = sum(n for n, irrep in irreps_out if str(irrep) == name)
        n_in = sum(len(parts[given]) for given in FAST_ROWS[name] if given in parts)
        block = weights[begin:begin + n_in * n_out].reshape(n_in, n_out) / n_in ** 0.5
        begin += n_in * n_out
        # The rows of a set come in the order of the inputs.
        sums[name] = (block.T @ numpy.concatenate(rows[name])).ravel()
    return numpy.concatenate([sums[str(irrep)] for _, irrep in irreps_out])


def layer(graph, weights, irreps, kind):
    """The layer's output, [nodes, width]."""
    double = {name: torch.tensor(value, dtype=torch.float64 if value.dtype.kind == "f" else torch.int64)
              for name, value in {**graph, **weights}.items()}
    irreps_in, sphere, irreps_out = irreps
    hidden = torch.relu(double["features"] @ double["fc.0.weight"].T + double["fc.0.bias"])
    of_edges = hidden @ double["fc.3.weight"].T + double["fc.3.bias"]
    if kind != "second":
        of_edges = of_edges * double["weights"][:, None]
    x = double["nodes"][double["sources"]]
    if kind == "by_outputs":
        messages = torch.tensor(numpy.stack([fast_product(*(value.numpy() for value in edge), irreps_in, irreps_out)
                                             for edge in zip(x, double["sphere"], of_edges)]))
    else:
        product = o3.FullyConnectedTensorProduct(irreps_in, sphere, irreps_out, shared_weights=False)
        messages = product(x, double["sphere"], of_edges)
    sums = torch.zeros(N_NODES, messages.shape[1], dtype=torch.float64).index_add_(0, double["targets"], messages)
    counts = torch.zeros(N_NODES, dtype=torch.float64).index_add_(0, double["targets"], torch.ones(N_EDGES, dtype=torch.float64))
    means = sums / counts.clamp(min=1)[:, None]
    norm = BatchNorm(irreps_out).double().eval()
    norm.load_state_dict({name.split(".")[1]: value for name, value in double.items() if name.startswith("batch_norm.")})
    residual = torch.nn.functional.pad(double["nodes"], (0, means.shape[1] - double["nodes"].shape[1]))
    with torch.no_grad():
        out = norm(means + residual) if kind == "older" else norm(means) + residual
    return out.numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    options.folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(options.seed)
    for kind in ("first", "second", "older", "by_outputs"):
        texts = SECOND if kind == "second" else FIRST
        irreps = [o3.Irreps(text) for text in (texts[0], "0e + 1o + 2e" if kind == "second" else "0e + 1o", texts[1])]
        n_weights = o3.FullyConnectedTensorProduct(*irreps, shared_weights=False).weight_numel
        graph = random_graph(irreps[0].dim, irreps[1].dim, random)
        weights = random_weights(n_weights, irreps[2], random)
        arrays = {name: value.astype(numpy.float32) for name, value in {**graph, **weights}.items()}
        exact = {name: value if graph.get(name, value).dtype.kind == "i" else arrays[name].astype(numpy.float64)
                 for name, value in {**graph, **weights}.items()}
        arrays["out"] = layer({name: exact[name] for name in graph}, {name: exact[name] for name in weights}, irreps,
                              kind).astype(numpy.float32)
        if kind == "second":
            del arrays["weights"]
        safetensors.numpy.save_file({"block." + name if name in weights else name: value for name, value in arrays.items()},
                                    options.folder / f"{kind}.safetensors")


if __name__ == "__main__":
    main()
