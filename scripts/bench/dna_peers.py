"""The programs that infer_tracks.py compares with: enformer-pytorch and borzoi-pytorch, with random weights.

Both take letters as one-hot rows and give the human head's tracks as [bins, tracks]. Flashzoi's attention is
scaled_dot_product_attention of torch, whose kernels are those of flash-attn where the numbers have 16 bits.
"""

import copy
import importlib
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reference"))
from dna_windows import one_hot  # noqa: E402


class Enformer:
    name = "enformer-pytorch"

    def __init__(self, shape, device):
        self.make = importlib.import_module("make_enformer")
        self.shape, self.device = shape, device
        values = self.make.SHAPES[shape]
        self.window_bases = values["sequence_length"]
        self.predicted_bases = values["target_length"] << values["num_downsamples"]
        self.model = self.make.make_model(shape, 1, device)

    def save(self, folder):
        self.make.save(self.model, self.shape, folder, torch.float32, False)

    def encode(self, window):
        return one_hot(window)[None].to(self.device)

    @staticmethod
    def human(out):
        return out["human"][0]


class Borzoi:
    name = "borzoi-pytorch"

    def __init__(self, shape, device):
        self.make = importlib.import_module("make_borzoi")
        self.shape, self.device = shape, device
        values = self.make.SHAPES[shape]
        self.window_bases = values["sequence_length"]
        self.predicted_bases = 32 * values["bins_to_return"]
        self.make.PlainAttention.attend = staticmethod(torch.nn.functional.scaled_dot_product_attention)
        self.model = self.make.make_model(self.make.load_original(), shape, 1, device)

    def save(self, folder):
        self.make.save(self.model, self.shape, folder, torch.float32)

    def encode(self, window):
        return one_hot(window).T[None].contiguous().to(self.device)

    @staticmethod
    def human(out):
        return out[0].T


def in_double(peer, windows):
    """The human tracks of windows in double precision, where the peer's modules ask for fp32, too."""
    default, as_float = torch.get_default_dtype(), torch.Tensor.float
    try:
        torch.set_default_dtype(torch.float64)
        torch.Tensor.float = torch.Tensor.double
        model = copy.deepcopy(peer.model).double()
        for module in model.modules():
            if hasattr(module, "positions"):
                module.positions = None  # kept from a pass in fp32
        with torch.inference_mode():
            return [peer.human(model(peer.encode(window))).cpu().numpy() for window in windows]
    finally:
        torch.set_default_dtype(default)
        torch.Tensor.float = as_float


def make_peer(model, shape, device):
    if model == "enformer":
        return Enformer(shape, device)
    return Borzoi(shape if model == "borzoi" else f"flash_{shape}", device)
