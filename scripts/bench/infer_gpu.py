#!/usr/bin/env python3
"""Compares `biogpu infer` with transformers on one GPU; see infer_gpu.sh for usage.

Every output is compared before anything is timed: the final hidden states of random sequences
against transformers in fp32 (cosine of each token, error relative to the root mean square) and the
likeliest residue of each position. Times are medians of runs on tensors that lie on the device.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import make_model  # noqa: E402

PARTS = ["tests", "ops", "esm2_8M", "esm2_35M", "esm2_150M", "esm2_650M", "protbert", "proteome", "esm2_3B"]
BATCHES = {"esm2_8M": ["1x256", "16x512"], "esm2_35M": ["16x512"], "esm2_150M": ["16x512"],
           "esm2_650M": ["1x256", "16x512"], "protbert": ["1x256", "16x512"], "esm2_3B": ["16x512"]}
FP32_TIMED = {"esm2_650M": ["16x512"], "esm2_8M": ["1x256"]}
BF16_TIMED = {"esm2_650M": ["16x512"], "protbert": ["16x512"]}
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
RESIDUES = "LAGVSERTIDPKQNFYMHWC"


def log(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


class Reference:
    """A random model of transformers on the device, and its folder for biogpu."""

    def __init__(self, shape, folder, quick):
        self.shape = shape
        self.folder = folder
        if quick:  # drawn on the device, written in 16 bits: for times only
            config, kind, words = make_model.parse_shape(shape)
            with torch.device("cuda"):
                self.model = kind(config).eval()
            make_model.save(self.model, words, folder, torch.float16)
        else:
            self.model, words = make_model.make_model(shape)
            make_model.save(self.model, words, folder)
        self.is_esm = shape.startswith("esm2")
        self.model.cuda()

    def trunk(self):
        return self.model.esm if self.is_esm else self.model.bert

    def ids(self, n, length):
        ids = torch.randint(5, 25, (n, length), device="cuda")
        ids[:, 0] = 0 if self.is_esm else 2
        ids[:, -1] = 2 if self.is_esm else 3
        return ids

    def encode(self, sequence):
        words = make_model.ESM_WORDS if self.is_esm else make_model.BERT_WORDS
        ends = (0, 2) if self.is_esm else (2, 3)
        return [ends[0], *(words.index(c) for c in sequence), ends[1]]

    def set_mode(self, attention, dtype):
        self.model.to(dtype)
        self.model.set_attn_implementation(attention)
        if self.is_esm:  # the angles stay in fp32 in both programs
            rotary = self.model.esm.rotary_embeddings if hasattr(self.model.esm, "rotary_embeddings") else None
            if rotary is not None:
                rotary.inv_freq = rotary.inv_freq.float()


def random_sequences(lengths, seed):
    random = np.random.default_rng(seed)
    return ["".join(RESIDUES[i] for i in random.integers(0, 20, n)) for n in lengths]


def write_fasta(path, sequences):
    path.write_text("".join(f">s{i}\n{s}\n" for i, s in enumerate(sequences)))


def run(command, timeout=280):
    started = time.time()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(str(c) for c in command)}: {done.stderr[-800:]}{done.stdout[-400:]}")
    return done, time.time() - started


def fidelity(biogpu, reference, precision, work):
    """The worst cosine, the relative error and the share of equal likeliest residues, in one batch and one by one."""
    sequences = random_sequences([1, 7, 62, 130, 254, 300], 7)
    fasta = work / "x.fa"
    write_fasta(fasta, sequences)
    shared = ["--model", reference.folder, "--device", "gpu", "--precision", precision, "--quiet", fasta]
    together = fidelity_of(biogpu, reference, sequences, shared, work)
    # Few tokens take other kernels than many.
    alone = fidelity_of(biogpu, reference, sequences, ["--batch", "1", *shared], work)
    return {"precision": precision, "worst_cosine": min(together["worst_cosine"], alone["worst_cosine"]),
            "same_top1": min(together["same_top1"], alone["same_top1"]),
            **{name: max(together[name], alone[name]) for name in ("relative_error", "largest_error")}}


def fidelity_of(biogpu, reference, sequences, shared, work):
    run([biogpu, "infer", "embed", "--include", "residues", *shared, "-o", work / "e.npz"])
    run([biogpu, "infer", "logits", *shared, "-o", work / "l.npz"])
    hidden, logits = np.load(work / "e.npz"), np.load(work / "l.npz")
    reference.set_mode("eager", torch.float32)
    worst, difference, squares, numbers, same, positions = 1.0, 0.0, 0.0, 0, 0, 0
    largest = 0.0
    for i, sequence in enumerate(sequences):
        ids = torch.tensor([reference.encode(sequence)], device="cuda")
        with torch.inference_mode():
            mask = torch.ones_like(ids)
            want = reference.trunk()(input_ids=ids, attention_mask=mask).last_hidden_state[0, 1:-1]
            want = want.double().cpu().numpy()
            out = reference.model(input_ids=ids, attention_mask=mask)
        got = hidden[f"s{i}"].astype(np.float64)
        cosine = (got * want).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(want, axis=1)
        worst = min(worst, float(cosine.min()))
        difference += float(((got - want) ** 2).sum())
        largest = max(largest, float(np.abs(got - want).max()))
        squares += float((want ** 2).sum())
        numbers += want.size
        want_logits = out.logits[0, 1:-1].cpu().numpy()
        same += int((want_logits.argmax(1) == logits[f"s{i}"].argmax(1)).sum())
        positions += len(sequence)
    return {"worst_cosine": worst, "relative_error": (difference / squares) ** 0.5,
            "largest_error": largest / (squares / numbers) ** 0.5, "same_top1": same / positions}


def time_reference(reference, attention, dtype, batch):
    reference.set_mode(attention, dtype)
    n, length = (int(x) for x in batch.split("x"))
    ids = reference.ids(n, length)
    mask = torch.ones_like(ids)
    trunk = reference.trunk()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    seconds = []
    with torch.inference_mode():
        for i in range(13):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            trunk(input_ids=ids, attention_mask=mask)
            stop.record()
            stop.synchronize()
            if i >= 3:
                seconds.append(start.elapsed_time(stop) * 1e-3)
    return {"attention": attention, "dtype": str(dtype).split(".")[1], "batch": batch,
            "median_s": float(np.median(seconds)),
            "activation_bytes": torch.cuda.max_memory_allocated() - before}


def time_ours(biogpu, folder, precision, batches, work):
    path = work / "bench.json"
    run([biogpu, "infer", "bench", "--device", "gpu", "--model", folder, "--precision", precision,
         "--batches", ",".join(batches), "--runs", "30", "--json", path])
    return json.loads(path.read_text())["passes"]


def compare_model(biogpu, shape, work, quick):
    log(f"{shape}: making a random model")
    reference = Reference(shape, work / shape, quick)
    result = {"shape": shape, "fidelity": [], "ours": [], "reference": []}
    if not quick:
        for precision in ("fp32", "tf32", "fp16", "bf16"):
            result["fidelity"].append(fidelity(biogpu, reference, precision, work))
            log(f"{shape}: {result['fidelity'][-1]}")
    timed = {"fp16": BATCHES[shape], "bf16": BF16_TIMED.get(shape, []),
             "fp32": [] if quick else FP32_TIMED.get(shape, [])}
    for precision, its_batches in timed.items():
        if its_batches:
            for row in time_ours(biogpu, reference.folder, precision, its_batches, work):
                result["ours"].append({"precision": precision, **row})
                log(f"{shape}: ours {precision} {row}")
    for precision, its_batches in timed.items():
        for batch in its_batches:
            for attention in ("eager",) if precision == "fp32" else ("eager", "sdpa"):
                result["reference"].append(time_reference(reference, attention, DTYPES[precision], batch))
                log(f"{shape}: {result['reference'][-1]}")
    return result


def compare_proteome(biogpu, work):
    """Sequences with the lengths of a proteome: packed here, padded in batches of 16 there."""
    random = np.random.default_rng(3)
    lengths = np.clip(random.lognormal(5.8, 0.7, 640), 30, 1500).astype(int)
    sequences = random_sequences(lengths, 5)
    fasta = work / "proteome.fa"
    write_fasta(fasta, sequences)
    folder = work / "esm2_650M"
    reference = Reference("esm2_650M", folder, quick=True)
    summary = work / "summary.json"
    _, wall = run([biogpu, "infer", "embed", "--model", folder, "--device", "gpu", "--precision", "fp16", "--quiet",
                   "--json", summary, fasta, "-o", work / "mean.npy"])
    reference.set_mode("sdpa", torch.float16)
    torch.backends.cuda.matmul.allow_tf32 = True
    encoded = [torch.tensor(reference.encode(s)) for s in sequences]
    pad = 1 if reference.is_esm else 0

    def padded_run():
        for first in range(0, len(encoded), 16):
            part = encoded[first:first + 16]
            ids = torch.nn.utils.rnn.pad_sequence(part, batch_first=True, padding_value=pad).cuda()
            reference.trunk()(input_ids=ids, attention_mask=(ids != pad).long())
        torch.cuda.synchronize()

    with torch.inference_mode():
        padded_run()
        started = time.time()
        padded_run()
    return {"sequences": len(sequences), "residues": int(lengths.sum()), "sdpa_padded_s": time.time() - started,
            "ours_wall_s": wall, "ours": json.loads(summary.read_text())}


def markdown(results):
    lines = ["# `biogpu infer` beside transformers", "",
             f"{results['gpu']}; torch {results['torch']}; random weights of the published shapes.", "",
             "| model | batch | precision | ours, ms | eager, ms | SDPA, ms | against the faster | activations, ours / eager |",
             "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for model in results["models"]:
        for row in model["ours"]:
            dtype = str(DTYPES[row["precision"]]).split(".")[1]
            others = {r["attention"]: r for r in model["reference"] if r["batch"] == row["batch"] and r["dtype"] == dtype}
            best = min((r["median_s"] for r in others.values()), default=float("nan"))
            ms = lambda name: f"{1e3 * others[name]['median_s']:.2f}" if name in others else "-"  # noqa: E731
            eager = others.get("eager")
            memory = f"{row.get('activation_bytes', 0) / 2**20:.0f} / {eager['activation_bytes'] / 2**20:.0f} MiB" if eager else "-"
            lines.append(f"| {model['shape']} | {row['batch']} | {row['precision']} | {1e3 * row['median_s']:.3f} | "
                         f"{ms('eager')} | {ms('sdpa')} | {best / row['median_s']:.1f} x | {memory} |")
    lines += ["", "| model | precision | worst cosine | relative error | same top-1 |", "| --- | --- | ---: | ---: | ---: |"]
    for model in results["models"]:
        for row in model["fidelity"]:
            lines.append(f"| {model['shape']} | {row['precision']} | {row['worst_cosine']:.7f} | "
                         f"{row['relative_error']:.1e} | {100 * row['same_top1']:.2f} % |")
    if results.get("proteome"):
        p = results["proteome"]
        lines += ["", f"Proteome: {p['sequences']} sequences, {p['residues']} residues, ESM-2 650M, fp16: SDPA with padding "
                  f"{p['sdpa_padded_s']:.2f} s; ours {p['ours_wall_s']:.2f} s with loading and writing."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--big", action="store_true")
    arguments = parser.parse_args()
    parts = arguments.only.split(",") if arguments.only else [p for p in PARTS if arguments.big or p != "esm2_3B"]
    biogpu = arguments.prefix / "bin" / "biogpu"
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    results = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "models": []}
    failed = []

    def attempt(part, function):
        try:
            return function()
        except Exception as error:  # the other parts are still worth their time
            failed.append(part)
            log(f"FAILED {part}: {error}")
            return None

    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if "tests" in parts:
            done = attempt("tests", lambda: run([arguments.prefix / "libexec/biogpu/tests/nn_gpu_test"]))
            log(f"tests: {done[0].stdout.strip().splitlines()[-1] if done else 'failed'}")
        if "ops" in parts:
            for precision in ("fp16", "fp32"):
                command = [biogpu, "infer", "bench", "--device", "gpu", "--precision", precision, "--json",
                           arguments.out / f"ops_{precision}.json"]
                done = attempt("ops", lambda: run(command))  # noqa: B023
                print(done[0].stdout if done else "", flush=True)
        for part in parts:
            if part in BATCHES:
                model = attempt(part, lambda: compare_model(biogpu, part, work, part == "esm2_3B"))  # noqa: B023
                if model:
                    results["models"].append(model)
                torch.cuda.empty_cache()
            (arguments.out / "infer_gpu.json").write_text(json.dumps(results, indent=1) + "\n")
        if "proteome" in parts:
            results["proteome"] = attempt("proteome", lambda: compare_proteome(biogpu, work))
            log(f"proteome: {results['proteome']}")
    (arguments.out / "infer_gpu.json").write_text(json.dumps(results, indent=1) + "\n")
    (arguments.out / "infer_gpu.md").write_text(markdown(results))
    print(markdown(results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
