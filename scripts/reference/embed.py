#!/usr/bin/env python3
"""Mean embeddings of the last layer by transformers, as a command: what `biogpu infer embed` is compared with.

usage: scripts/reference/embed.py FOLDER SEQUENCES.fa OUT.npy [--threads N] [--passes N] [--summary FILE]

FOLDER is a model as make_model.py writes it. The fastest way of transformers on a CPU: SDPA attention, inference
mode, batches sorted by length and padded. --summary gets the seconds of the passes without loading, the
median of --passes behind one that warms up; without --passes there is one pass and no other. Needs torch,
transformers and numpy.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy
import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure.inputs import read_fasta  # noqa: E402

BATCH_TOKENS = 4096


class Embedder:
    def __init__(self, folder):
        config = json.loads((pathlib.Path(folder) / "config.json").read_text(encoding="utf-8"))
        words = (pathlib.Path(folder) / "vocab.txt").read_text(encoding="utf-8").split()
        self.ids = {word: i for i, word in enumerate(words)}
        is_esm = config["architectures"][0].startswith("Esm")
        kind = transformers.EsmModel if is_esm else transformers.BertModel
        self.first, self.last, self.pad = (self.ids[word] for word in (
            ("<cls>", "<eos>", "<pad>") if is_esm else ("[CLS]", "[SEP]", "[PAD]")))
        # The published folder of ProtBERT does not say what it is.
        settings = {} if is_esm else {"config": transformers.BertConfig(**config)}
        self.model = kind.from_pretrained(folder, add_pooling_layer=False, attn_implementation="sdpa",
                                          **settings).eval()

    def run(self, sequences):
        order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
        means = [None] * len(sequences)
        begin = 0
        with torch.inference_mode():
            while begin < len(order):
                width = len(sequences[order[begin]]) + 2
                batch = order[begin:begin + max(1, BATCH_TOKENS // width)]
                begin += len(batch)
                ids = torch.full((len(batch), width), self.pad)
                for row, i in enumerate(batch):
                    tokens = [self.first, *(self.ids[c] for c in sequences[i]), self.last]
                    ids[row, :len(tokens)] = torch.tensor(tokens)
                hidden = self.model(input_ids=ids, attention_mask=(ids != self.pad).long()).last_hidden_state
                for row, i in enumerate(batch):
                    means[i] = hidden[row, 1:len(sequences[i]) + 1].mean(0).numpy()
        return numpy.stack(means)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("sequences")
    parser.add_argument("out")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--passes", type=int, default=0)
    parser.add_argument("--summary", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    transformers.logging.set_verbosity_error()
    embedder = Embedder(arguments.folder)
    sequences = [sequence for _, sequence in read_fasta(arguments.sequences)]
    seconds = []
    for _ in range(arguments.passes + 1):
        begin = time.perf_counter()
        means = embedder.run(sequences)
        seconds.append(time.perf_counter() - begin)
    numpy.save(arguments.out, means)
    if arguments.summary:
        used = seconds[1:] or seconds
        arguments.summary.write_text(json.dumps({"compute_s": statistics.median(used)}) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
