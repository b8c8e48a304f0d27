#!/usr/bin/env python3
"""Compares DiffDock's interaction layer in `biogpu lab` with the same layer by e3nn in PyTorch: times of both in one run.

usage: scripts/compare/tensor_product_layer.py BIOGPU [--shapes NxC,...] [--order 1|2] [--device cpu|gpu]
                                               [--precision TYPE] [--threads N] [--runs N] [--compile] [--json FILE]

A shape has N nodes with twelve edges each and C scalars, as `lab` has them. `lab` compares its numbers with double precision
before it measures; tests/models/structure compares the same layer with e3nn's numbers. Weights and inputs are random. e3nn
runs FullyConnectedTensorProduct on weights of each edge, the mean by index_add, its BatchNorm and the residual, in fp32; times
are the median of --runs calls, on a GPU between events of its stream. Needs torch and e3nn.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from e3nn import o3
from e3nn.nn import BatchNorm

EDGES_OF_NODE = 12  # lib/lab/blocks/tensor_product_layer.cpp


class Layer(torch.nn.Module):
    def __init__(self, n_scalars, order):
        super().__init__()
        n = max(1, n_scalars * 10 // 48)
        second = f" + {n}x2e" if order == 2 else ""
        second_odd = f" + {n}x2o" if order == 2 else ""
        self.irreps = o3.Irreps(f"{n_scalars}x0e + {n}x1o{second} + {n}x1e{second_odd} + {n_scalars}x0o")
        self.sphere = o3.Irreps.spherical_harmonics(order)
        self.product = o3.FullyConnectedTensorProduct(self.irreps, self.sphere, self.irreps, shared_weights=False)
        self.n_features = 3 * n_scalars
        self.fc = torch.nn.Sequential(torch.nn.Linear(self.n_features, self.n_features), torch.nn.ReLU(),
                                      torch.nn.Linear(self.n_features, self.product.weight_numel))
        self.norm = BatchNorm(self.irreps)

    def forward(self, nodes, features, sphere, sources, targets):
        messages = self.product(nodes[sources], sphere, self.fc(features))
        sums = torch.zeros_like(nodes).index_add_(0, targets, messages)
        counts = torch.zeros(len(nodes), device=nodes.device).index_add_(0, targets, torch.ones_like(targets, dtype=nodes.dtype))
        return self.norm(sums / counts.clamp(min=1)[:, None]) + nodes


def time_e3nn(layer, n_nodes, device, n_runs):
    """Median seconds of a call."""
    n_edges = EDGES_OF_NODE * n_nodes
    given = [torch.randn(n_nodes, layer.irreps.dim), torch.randn(n_edges, layer.n_features),
             torch.randn(n_edges, layer.sphere.dim), torch.randint(0, n_nodes, (n_edges,)), torch.randint(0, n_nodes, (n_edges,))]
    given = [value.to(device) for value in given]
    seconds = []
    with torch.inference_mode():
        for _ in range(n_runs + 3):  # the first ones compile and take memory
            if device.type == "cuda":
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                layer(*given)
                end.record()
                torch.cuda.synchronize()
                seconds.append(begin.elapsed_time(end) / 1e3)
            else:
                start = time.perf_counter()
                layer(*given)
                seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[3:])


def time_biogpu(options, block, shape):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.json"
        command = [options.biogpu, "lab", "run", block, "--shapes", shape, "--device", options.device, "--precision",
                   options.precision, "-t", options.threads, "--json", path]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text(encoding="utf-8"))["blocks"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("--shapes", default="64x24,256x48")
    parser.add_argument("--order", type=int, choices=(1, 2), default=1)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--precision", choices=("fp32", "tf32", "fp16", "bf16"), default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = torch.device("cuda" if options.device == "gpu" else "cpu")
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("tensor_product_layer.py: PyTorch has no GPU here")
    block = "tensor-product-layer" if options.order == 1 else "tensor-product-layer-2"
    rows = []
    for shape in options.shapes.split(","):
        n_nodes, n_scalars = (int(word) for word in shape.split("x"))
        layer = Layer(n_scalars, options.order).to(device).eval()
        e3nn_s = time_e3nn(torch.compile(layer) if options.compile else layer, n_nodes, device, options.runs)
        own = time_biogpu(options, block, shape)
        rows.append({"shape": shape, "order": options.order, "biogpu_s": own["median_s"], "e3nn_s": e3nn_s,
                     "error": own["error"]})
        print(f"{block} {shape}: biogpu {1e3 * own['median_s']:.2f} ms, e3nn {1e3 * e3nn_s:.2f} ms, ratio "
              f"{e3nn_s / own['median_s']:.2f}, error {own['error']:.1e}", flush=True)
    if options.json:
        result = {"device": options.device, "precision": options.precision, "threads": options.threads,
                  "compiled": options.compile, "torch": torch.__version__, "rows": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
