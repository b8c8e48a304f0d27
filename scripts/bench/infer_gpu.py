#!/usr/bin/env python3
"""Compares `biogpu infer` with transformers on one GPU; see infer_gpu.sh for usage.

Every output is compared before anything is timed: the final hidden states of random sequences
against transformers in fp32 (cosine of each token, error relative to the root mean square) and the
likeliest residue of each position. Times are medians of runs on tensors that lie on the device.
"""

import argparse
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import make_model  # noqa: E402

PARTS = ["tests", "ops", "esm2_8M", "esm2_35M", "esm2_150M", "esm2_650M", "protbert", "proteome", "esm2_3B", "devices"]
BATCHES = {"esm2_8M": ["1x256", "16x512"], "esm2_35M": ["16x512"], "esm2_150M": ["16x512"],
           "esm2_650M": ["1x256", "16x512"], "protbert": ["1x256", "16x512"], "esm2_3B": ["16x512"]}
FP32_TIMED = {"esm2_650M": ["16x512"], "esm2_8M": ["1x256"]}
BF16_TIMED = {"esm2_650M": ["16x512"], "protbert": ["16x512"], "esm2_3B": ["16x512"]}
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
WARM_UP = 0.3  # seconds of passes before those that are timed, as biogpu does
DEVICES_SEQUENCES = 6400
POWER_S = 1.5  # of passes while power is read
REST_MS = 50  # in front of each of the passes that are timed by themselves
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


def states_of(reference, sequences, attention, dtype):
    """Final hidden states of residues and their logits, from transformers."""
    reference.set_mode(attention, dtype)
    states = []
    for sequence in sequences:
        ids = torch.tensor([reference.encode(sequence)], device="cuda")
        with torch.inference_mode():
            mask = torch.ones_like(ids)
            hidden = reference.trunk()(input_ids=ids, attention_mask=mask).last_hidden_state[0, 1:-1]
            logits = reference.model(input_ids=ids, attention_mask=mask).logits[0, 1:-1]
        states.append((hidden.double().cpu().numpy(), logits.double().cpu().numpy()))
    return states


def states_of_biogpu(biogpu, reference, sequences, options, work):
    fasta = work / "x.fa"
    write_fasta(fasta, sequences)
    shared = ["--model", reference.folder, "--device", "gpu", "--quiet", *options, fasta]
    run([biogpu, "infer", "embed", "--include", "residues", *shared, "-o", work / "e.npz"])
    run([biogpu, "infer", "logits", *shared, "-o", work / "l.npz"])
    hidden, logits = np.load(work / "e.npz"), np.load(work / "l.npz")
    names = [f"s{i}" for i in range(len(sequences))]
    return [(hidden[name].astype(np.float64), logits[name].astype(np.float64)) for name in names]


def lost_leads(got, want):
    """Of the positions where another residue is the likeliest: how far it is behind the wanted one there, as a share of
    what all wanted logits of the position span."""
    assert np.isfinite(got).all() and np.isfinite(want).all()
    top, first, span = got.argmax(1), want.max(1), np.ptp(want, axis=1)
    others = top != want.argmax(1)
    assert (span[others] > 0).all()
    return (first - want[np.arange(len(want)), top])[others] / span[others]


def difference(got, want):
    worst, largest, lost = 1.0, 0.0, []
    dot = squares_got = squares = apart = numbers = positions = 0.0
    for (x, logits), (y, wanted_logits) in zip(got, want):
        dots = (x * y).sum(1)
        worst = min(worst, float((dots / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)).min()))
        largest = max(largest, float(np.abs(x - y).max()))
        dot += float(dots.sum())
        squares_got += float((x ** 2).sum())
        squares += float((y ** 2).sum())
        apart += float(((x - y) ** 2).sum())
        numbers += y.size
        lost.extend(lost_leads(logits, wanted_logits))
        positions += len(logits)
    return {"worst_cosine": worst, "cosine": dot / (squares * squares_got) ** 0.5,
            "relative_error": (apart / squares) ** 0.5, "largest_error": largest / (squares / numbers) ** 0.5,
            "same_top1": 1 - len(lost) / positions, "lost_lead": float(max(lost, default=0.0))}


def fidelity(biogpu, reference, work, precisions):
    """Differences from transformers in fp32: of each precision, the worse of few tokens and of many, since those take
    other kernels; and of transformers itself in 16 bits, over the many."""
    lengths = [1, 7, 62, 130, 254, 300]
    few, many = random_sequences(lengths, 7), random_sequences(lengths * 8, 8)
    wanted = [states_of(reference, sequences, "eager", torch.float32) for sequences in (few, few, many)]
    rows = []
    for precision in precisions:
        ways = [states_of_biogpu(biogpu, reference, sequences, ["--precision", precision, *options], work)
                for sequences, options in ((few, ["--batch", "1"]), (few, []), (many, []))]
        found = [difference(got, want) for got, want in zip(ways, wanted)]
        rows.append({"precision": precision,
                     **{name: min(f[name] for f in found) for name in ("worst_cosine", "cosine", "same_top1")},
                     **{name: max(f[name] for f in found) for name in ("relative_error", "largest_error", "lost_lead")}})
        log(f"{reference.shape}: {rows[-1]}")
    for precision in (p for p in ("fp16", "bf16") if p in precisions):
        kept = copy.deepcopy(reference.model)
        got = states_of(reference, many, "sdpa", DTYPES[precision])
        reference.model = kept
        rows.append({"precision": precision, "program": "transformers", **difference(got, wanted[2])})
        log(f"{reference.shape}: {rows[-1]}")
    return rows


def times_of(function, runs=10):
    """Medians of runs one behind the other, once the device is warm, and of as many by themselves. In front of those the
    device rests, and the host waits awake, as that of biogpu does: one that has slept takes longer to launch."""

    def one_run(rest=0.0):
        until = time.perf_counter() + rest
        while time.perf_counter() < until:
            pass
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        function()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) * 1e-3

    with torch.inference_mode():
        began, n = time.time(), 0
        while n < 3 or time.time() - began < WARM_UP:
            one_run()
            n += 1
        return [float(np.median([one_run(rest) for _ in range(runs)])) for rest in (0.0, REST_MS * 1e-3)]


def time_reference(reference, attention, dtype, batch):
    reference.set_mode(attention, dtype)
    n, length = (int(x) for x in batch.split("x"))
    ids = reference.ids(n, length)
    mask = torch.ones_like(ids)
    trunk = reference.trunk()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    seconds, rested = times_of(lambda: trunk(input_ids=ids, attention_mask=mask))
    return {"attention": attention, "dtype": str(dtype).split(".")[1], "batch": batch,
            "median_s": seconds, "rested_s": rested,
            "activation_bytes": torch.cuda.max_memory_allocated() - before}


def power_of(command):
    """What the device draws and its clock while a command runs on it, of the readings where it works."""
    with tempfile.TemporaryFile("w+") as readings:
        monitor = subprocess.Popen(["nvidia-smi", "-i", "0", "--query-gpu=power.draw.instant,clocks.sm,enforced.power.limit",
                                    "--format=csv,noheader,nounits", "-lms", "20"], stdout=readings)
        try:
            run(command)
        finally:
            monitor.terminate()
            monitor.wait()
        readings.seek(0)
        numbers = re.compile(r"[\d.]+, [\d.]+, [\d.]+\n")  # a card may not tell, and the last line may be cut
        samples = [[float(x) for x in line.split(",")] for line in readings if numbers.fullmatch(line)]
    if not samples:
        return {}
    busy = [s for s in samples if s[0] > 0.75 * min(s[2], max(x[0] for x in samples))]
    return {name: float(np.median([s[i] for s in busy])) for i, name in enumerate(("watts", "megahertz", "watts_allowed"))}


def time_ours(biogpu, folder, precision, batches, work):
    """Times of passes, one behind the other and each by itself; of those of the largest batch also what the device drew
    and its clock, in runs of their own, for who asks the driver delays launches."""
    path = work / "bench.json"
    command = [biogpu, "infer", "bench", "--device", "gpu", "--model", folder, "--precision", precision, "--batches"]
    run([*command, ",".join(batches), "--runs", "30", "--rest", REST_MS, "--json", path])
    passes = json.loads(path.read_text())["passes"]
    runs_of_power = max(30, int(POWER_S / passes[-1]["median_s"]))
    passes[-1]["power"] = power_of([*command, batches[-1], "--runs", runs_of_power])
    return passes


def time_bare_products(reference, dtype, batch):
    """The matrix products of all layers by the BLAS library of PyTorch, with nothing between them: what a pass with its
    speed would take if all the rest cost nothing."""
    config = reference.trunk().config
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    n, length = (int(x) for x in batch.split("x"))

    def draw(*shape):
        return torch.randn(*shape, device="cuda", dtype=dtype)

    states = draw(n * length, width)
    hidden = torch.nn.functional.gelu(draw(n * length, inner))
    products = [(states, 3 * width), (states, width), (states, inner), (hidden, width)]
    weights = [[0.02 * draw(outputs, rows.shape[1]) for rows, outputs in products] for _ in range(layers)]
    results = [torch.empty(n * length, outputs, device="cuda", dtype=dtype) for _, outputs in products]

    def all_products():
        for layer in weights:
            for (rows, _), weight, result in zip(products, layer, results):
                torch.mm(rows, weight.t(), out=result)

    seconds, rested = times_of(all_products, runs=30)
    return {"dtype": str(dtype).split(".")[1], "batch": batch, "median_s": seconds, "rested_s": rested}


def compare_model(biogpu, shape, work, quick, precisions):
    log(f"{shape}: making a random model")
    reference = Reference(shape, work / shape, quick)
    result = {"shape": shape, "fidelity": [], "ours": [], "reference": [], "bare_products": []}
    if not quick:
        result["fidelity"] = fidelity(biogpu, reference, work, precisions)
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
    for precision, batch in ((p, "16x512") for p in ("fp16", "bf16") if "16x512" in BF16_TIMED.get(shape, [])):
        result["bare_products"].append(time_bare_products(reference, DTYPES[precision], batch))
        log(f"{shape}: {result['bare_products'][-1]}")
    return result


def proteome_of(n_sequences, fasta):
    """Sequences with the lengths of a proteome, also in a file."""
    random = np.random.default_rng(3)
    lengths = np.clip(random.lognormal(5.8, 0.7, n_sequences), 30, 1500).astype(int)
    sequences = random_sequences(lengths, 5)
    write_fasta(fasta, sequences)
    return sequences


def compare_devices(biogpu, work):
    """Whole commands over a proteome on one GPU and on all of them: the same bytes, then times."""
    if torch.cuda.device_count() < 2:
        raise RuntimeError("there are no two GPUs")
    fasta, folder = work / "proteome.fa", work / "esm2_650M"
    sequences = proteome_of(DEVICES_SEQUENCES, fasta)
    Reference("esm2_650M", folder, quick=True)
    torch.cuda.empty_cache()
    everyone = ",".join(str(i) for i in range(torch.cuda.device_count()))
    walls, summaries, bytes_of = {}, {}, {}
    for turn in range(4):
        for devices in ("0", everyone):
            out = work / "mean.npy"
            _, wall = run([biogpu, "infer", "embed", "--model", folder, "--device", devices, "--precision", "fp16",
                           "--quiet", "--json", work / "summary.json", fasta, "-o", out])
            if bytes_of.setdefault("0", out.read_bytes()) != out.read_bytes():
                raise RuntimeError(f"devices {devices}: other bytes than device 0")
            if turn > 0:  # the first turn reads the files for the first time
                walls.setdefault(devices, []).append(wall)
                summaries[devices] = json.loads((work / "summary.json").read_text())
    return {"sequences": len(sequences), "residues": sum(len(s) for s in sequences),
            "runs": [{"devices": devices, "wall_s": float(np.median(walls[devices])), "summary": summaries[devices]}
                     for devices in walls]}


def compare_proteome(biogpu, work):
    """Sequences with the lengths of a proteome: packed here, padded in batches of 16 there."""
    fasta = work / "proteome.fa"
    sequences = proteome_of(640, fasta)
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
    return {"sequences": len(sequences), "residues": sum(len(s) for s in sequences), "sdpa_padded_s": time.time() - started,
            "ours_wall_s": wall, "ours": json.loads(summary.read_text())}


def markdown(results):
    lines = ["# `biogpu infer` compared with transformers", "",
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
    lines += ["", "| model | precision | cosine | worst cosine | relative error | same top-1 |",
              "| --- | --- | ---: | ---: | ---: | ---: |"]
    for model in results["models"]:
        for row in model["fidelity"]:
            name = row["precision"] + (" of transformers" if "program" in row else "")
            lines.append(f"| {model['shape']} | {name} | {row['cosine']:.7f} | {row['worst_cosine']:.7f} | "
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
    parser.add_argument("--fidelity", default="fp32,tf32,fp16,bf16", help="the precisions to compare outputs in")
    arguments = parser.parse_args()
    parts = arguments.only.split(",") if arguments.only else [
        p for p in PARTS if p != "devices" and (arguments.big or p != "esm2_3B")]
    precisions = arguments.fidelity.split(",")
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

        def keep():  # commands that are recorded name files of the temporary folder without it
            text = json.dumps(results, indent=1).replace(f"{folder}/", "")
            (arguments.out / "infer_gpu.json").write_text(text + "\n")

        if "tests" in parts:
            for name in ("ops_test", "kernels_gpu_test"):
                program = arguments.prefix / "libexec/biogpu/tests" / name
                done = attempt(name, lambda: run(["env", "BIOGPU_TEST_CONTEXTS=gpu", "BIOGPU_REQUIRE_GPU=1", program]))
                log(f"{name}: {done[0].stdout.strip().splitlines()[-1] if done else 'failed'}")
        if "ops" in parts:
            for precision in ("fp16", "fp32"):
                command = [biogpu, "infer", "bench", "--device", "gpu", "--precision", precision, "--json",
                           arguments.out / f"ops_{precision}.json"]
                done = attempt("ops", lambda: run(command))  # noqa: B023
                print(done[0].stdout if done else "", flush=True)
        for part in parts:
            if part in BATCHES:
                model = attempt(part, lambda: compare_model(biogpu, part, work, part == "esm2_3B", precisions))  # noqa: B023
                if model:
                    results["models"].append(model)
                torch.cuda.empty_cache()
            keep()
        if "proteome" in parts:
            results["proteome"] = attempt("proteome", lambda: compare_proteome(biogpu, work))
            log(f"proteome: {results['proteome']}")
        if "devices" in parts:
            results["devices"] = attempt("devices", lambda: compare_devices(biogpu, work))
            log(f"devices: {results['devices']}")
        keep()
    (arguments.out / "infer_gpu.md").write_text(markdown(results))
    print(markdown(results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
