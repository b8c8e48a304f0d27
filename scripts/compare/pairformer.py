#!/usr/bin/env python3
"""Compares `biogpu infer trunk` with the same blocks in PyTorch: outputs first, then times of both in one run.

usage: scripts/compare/pairformer.py BIOGPU [--shape tiny|mini] [--blocks N] [--tokens N,...] [--device cpu|gpu]
                                     [--precision TYPE] [--threads N] [--runs N] [--seed N] [--compile] [--json FILE]

Weights and inputs are random, from the seed. PyTorch runs the blocks as Protenix writes them without fused kernels,
attention by scaled_dot_product_attention, in fp32 on a CPU and in --precision on a GPU; --compile compiles them. Times are of
a pass, the smallest of --runs, from arrays in the host's memory to results there: biogpu's is that of the last of several
inputs of one run, from its summary. On a GPU the device's own time of a pass is told, too, with arrays in its memory. Needs
torch, numpy and safetensors.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import make_pairformer  # noqa: E402

TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
MAX_ANGLE = {"fp32": 1e-9, "fp16": 3e-5, "bf16": 2e-3}  # 1 - cosine of what the blocks add
MASKED = -1e9


class Stack:
    """The blocks on one device; parameters by their names below pairformer_stack.blocks.N."""

    def __init__(self, weights, n_blocks, device, dtype):
        self.weights = {name: torch.tensor(value).to(device, dtype) for name, value in weights.items()}
        self.n_blocks = n_blocks

    def norm(self, x, name):
        weight = self.weights[name + ".weight"]
        return torch.nn.functional.layer_norm(x.to(weight.dtype), weight.shape, weight, self.weights[name + ".bias"])

    def linear(self, x, name):
        return torch.nn.functional.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def triangle_product(self, z, mask, name, equation):
        x = self.norm(z, name + ".layer_norm_in")
        a, b = (mask[..., None].to(x.dtype) * torch.sigmoid(self.linear(x, f"{name}.linear_{side}_g"))
                * self.linear(x, f"{name}.linear_{side}_p") for side in "ab")
        y = self.linear(self.norm(torch.einsum(equation, a, b), name + ".layer_norm_out"), name + ".linear_z")
        return y * torch.sigmoid(self.linear(x, name + ".linear_g"))

    def attend(self, x, bias, mask, name):
        """Rows [..., N, c] that attend to themselves; bias [heads, N, N], mask [..., N] of keys."""
        heads = bias.shape[0]
        q, k, v, g = (self.linear(x, f"{name}.linear_{part}").unflatten(-1, (heads, -1)).transpose(-2, -3)
                      for part in "qkvg")
        logits = bias + MASKED * (1 - mask[..., None, None, :].to(bias.dtype))
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=logits.to(q.dtype))
        return self.linear((torch.sigmoid(g) * o).transpose(-2, -3).flatten(-2), name + ".linear_o")

    def triangle_attention(self, z, mask, name):
        x = self.norm(z, name + ".layer_norm")
        return self.attend(x, self.linear(x, name + ".linear").permute(2, 0, 1), mask, name + ".mha")

    def transition(self, x, name):
        y = self.norm(x, name + ".layernorm1")
        a = torch.nn.functional.silu(self.linear(y, name + ".linear_no_bias_a"))
        return self.linear(a * self.linear(y, name + ".linear_no_bias_b"), name + ".linear_no_bias")

    def __call__(self, s, z, mask):
        pair_mask = mask[:, None] * mask
        for i in range(self.n_blocks):
            name = f"pairformer_stack.blocks.{i}."
            z = z + self.triangle_product(z, pair_mask, name + "tri_mul_out", "ikc,jkc->ijc")
            z = z + self.triangle_product(z, pair_mask, name + "tri_mul_in", "kic,kjc->ijc")
            z = z + self.triangle_attention(z, pair_mask, name + "tri_att_start")
            z = z + self.triangle_attention(z.transpose(0, 1), pair_mask.T, name + "tri_att_end").transpose(0, 1)
            z = z + self.transition(z, name + "pair_transition")
            inner = name + "attention_pair_bias"
            bias = self.linear(self.norm(z, inner + ".layernorm_z"), inner + ".linear_nobias_z").permute(2, 0, 1)
            s = s + self.attend(self.norm(s, inner + ".layernorm_a"), bias, mask, inner + ".attention")
            s = s + self.transition(s, name + "single_transition")
        return s, z


N_FURTHER = 4  # inputs of a run of biogpu behind the first, whose kernels are loaded and whose memory is taken


def run_torch(stack, inputs, device, n_runs):
    """Outputs, and the smallest times of a call and of the device in it, in seconds."""
    mask = torch.ones(len(inputs["z"]), device=device)
    whole, passes, results = [], [], None
    for _ in range(n_runs + 1):  # the first compiles and takes memory
        start = time.perf_counter()
        with torch.no_grad():
            s, z = (torch.tensor(inputs[key], device=device) for key in "sz")
            if device.type == "cuda":
                events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                torch.cuda.synchronize()
                events[0].record()
            results = stack(s, z, mask)
            if device.type == "cuda":
                events[1].record()
                torch.cuda.synchronize()
                passes.append(events[0].elapsed_time(events[1]) / 1000)
        results = [value.float().cpu().numpy() for value in results]
        whole.append(time.perf_counter() - start)
    return dict(zip("sz", results)), min(whole[1:]), min(passes[1:], default=None)


def run_biogpu(options, folder, inputs):
    def seconds(n):
        numpy.savez(folder / "in.npz", **{f"{i}/{key}": value for i in range(n) for key, value in inputs.items()})
        command = [options.biogpu, "infer", "trunk", "-q", "--model", folder, "--device", options.device, "--precision",
                   options.precision, "-t", options.threads, "--json", folder / "run.json", "-o", folder / "out.npz",
                   folder / "in.npz"]
        found = []
        for _ in range(options.runs):
            subprocess.run([str(word) for word in command], check=True)
            summary = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            wall = next(stage["wall_s"] for stage in summary["stages"] if stage["name"] == "compute")
            found.append((wall, summary["time"].get("gpu_s") or 0))
        return [min(times) for times in zip(*found)]

    one, several = seconds(1), seconds(1 + N_FURTHER)
    with numpy.load(folder / "out.npz") as file:
        outputs = {key: file[f"0/{key}"] for key in "sz"}
    whole, device = ((b - a) / N_FURTHER for a, b in zip(one, several))
    return outputs, whole, device if options.device == "gpu" else None


def angle(got, right, start):
    x, y = (value.astype(numpy.float64).ravel() - start.astype(numpy.float64).ravel() for value in (got, right))
    return 1 - float(x @ y / numpy.sqrt((x @ x) * (y @ y)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("biogpu", type=pathlib.Path)
    parser.add_argument("--shape", choices=("tiny", "mini"), default="mini")
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--tokens", default="64")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--precision", choices=sorted(TYPES), default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = torch.device("cuda" if options.device == "gpu" else "cpu")
    config = {"model_type": "pairformer", **make_pairformer.SHAPES[options.shape]}
    config["n_blocks"] = options.blocks or config["n_blocks"]
    random = numpy.random.default_rng(options.seed)
    weights = make_pairformer.random_weights(config, random)
    stack = Stack(weights, config["n_blocks"], device, TYPES[options.precision])
    if options.compile:
        stack = torch.compile(stack)
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_pairformer.write_folder(folder, config, weights)
        for n in (int(word) for word in options.tokens.split(",")):
            inputs = make_pairformer.random_input(config, n, random)
            right, torch_s, torch_device_s = run_torch(stack, inputs, device, options.runs)
            got, own_s, own_device_s = run_biogpu(options, folder, inputs)
            apart = max(angle(got[key], right[key], inputs[key]) for key in "sz")
            failed = failed or not apart < MAX_ANGLE[options.precision]
            rows.append({"tokens": n, "biogpu_s": own_s, "torch_s": torch_s, "one_minus_cosine": apart,
                         "biogpu_device_s": own_device_s, "torch_device_s": torch_device_s})
            print(f"N {n}: biogpu {own_s:.3f} s, PyTorch {torch_s:.3f} s, ratio {torch_s / own_s:.2f}, 1 - cosine "
                  f"{apart:.1e}", flush=True)
            if own_device_s:
                print(f"    on the device: biogpu {own_device_s:.4f} s, PyTorch {torch_device_s:.4f} s, ratio "
                      f"{torch_device_s / own_device_s:.2f}", flush=True)
    if options.json:
        result = {"shape": options.shape, "blocks": config["n_blocks"], "device": options.device,
                  "precision": options.precision, "threads": options.threads, "compiled": options.compile,
                  "torch": torch.__version__, "rows": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if failed:
        sys.exit("pairformer.py: outputs differ by more than roundings: the times are no comparison")


if __name__ == "__main__":
    main()
