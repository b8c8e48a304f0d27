#!/usr/bin/env python3
"""Writes a folder with a random Borzoi or Flashzoi: config.json, model.safetensors; with --vectors expected.safetensors.

usage: scripts/reference/make_borzoi.py FOLDER [--shape tiny|flash_tiny|odd_tiny|flash_odd_tiny|published|flash_published]
                                        [--seed N] [--dtype float16|float32] [--vectors]
       scripts/reference/make_borzoi.py --check-attention FLASH_ATTENTION

Weights are drawn so that every part matters: batch norm has statistics near those of its input, attention is sharp, and
the output of attention is not zero. The vectors are computed by borzoi-pytorch in double precision from the numbers
that the file holds, and stored in fp32: stages for the window "one", the outputs for "two", which has letters that are no
base. Widths that borzoi-pytorch has as constants are replaced in its modules; its forward() is what runs.

Flashzoi's attention is a module of flash-attn, which needs a GPU and 16 bits. Here it is plain torch, with flash-attn's
names. --check-attention compares it with flash-attn's own module, from a checkout of its sources: MHA without the flash
kernel, and with the Triton kernel of rotary positions replaced by apply_rotary_emb_torch of the same sources. They
differ by the roundings of flash-attn's angles, which are fp32.

Needs requirements.txt and `pip install --no-deps borzoi-pytorch==0.5.1 pandas python-dateutil intervaltree
sortedcontainers`: borzoi-pytorch pins another transformers.
"""

import argparse
import importlib
import json
import math
import pathlib
import sys
import types

import numpy
import safetensors.torch
import torch
from dna_windows import make_windows, one_hot, set_statistics

# conv_channels, final_channels, output_heads and rotary_emb_dim are constants of borzoi-pytorch.
PUBLISHED = dict(dim=1536, depth=8, heads=8, attn_dim_key=64, attn_dim_value=192, bins_to_return=6144,
                 conv_channels=[512, 608, 736, 896, 1056, 1280], final_channels=1920,
                 output_heads=dict(human=7611, mouse=2608), rotary_emb_dim=128, sequence_length=524288)
SHAPES = {
    "tiny": dict(dim=48, depth=2, heads=2, attn_dim_key=16, attn_dim_value=32, bins_to_return=60,
                 conv_channels=[16, 16, 24, 24, 32, 40], final_channels=56, output_heads=dict(human=7, mouse=5),
                 rotary_emb_dim=16, sequence_length=4096),
    "flash_tiny": dict(dim=96, depth=2, heads=4, attn_dim_key=16, attn_dim_value=32, bins_to_return=40,
                       conv_channels=[16, 16, 16, 24, 24, 32], final_channels=40, output_heads=dict(human=7),
                       rotary_emb_dim=16, sequence_length=4096, flashed=True),
    # Widths that are no multiple of 8, and windows that are no whole bins.
    "odd_tiny": dict(dim=29, depth=1, heads=2, attn_dim_key=5, attn_dim_value=9, bins_to_return=28,
                     conv_channels=[9, 10, 11, 13, 14, 15], final_channels=17, output_heads=dict(human=3),
                     rotary_emb_dim=2, sequence_length=1047),
    "flash_odd_tiny": dict(dim=44, depth=1, heads=4, attn_dim_key=16, attn_dim_value=32, bins_to_return=30,
                           conv_channels=[7, 12, 9, 10, 17, 21], final_channels=19, output_heads=dict(human=3),
                           rotary_emb_dim=6, sequence_length=1050, flashed=True),
    "published": PUBLISHED,
    "flash_published": dict(PUBLISHED, flashed=True),
}
# Stages that are stored: the first are large and those behind them depend on all of their numbers.
KEPT = {"tiny": ("tower/1", "tower/2", "tower/3", "tower/4", "unet1", "block/", "up/", "embedding", "heads/"),
        "flash_tiny": ("unet1", "block/", "up/", "heads/")}


class Rotary:
    """Of the first n_rotated numbers of each head of [windows, rows, heads, numbers]: the rotate-half form."""

    n_rotated = 128

    @staticmethod
    def turn(x, base):
        half = Rotary.n_rotated // 2
        frequencies = base ** (-torch.arange(half, dtype=torch.float64, device=x.device) / half)
        angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float64, device=x.device), frequencies)[:, None]
        cosines, sines = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second, rest = x[..., :half], x[..., half:2 * half], x[..., 2 * half:]
        return torch.cat([first * cosines - second * sines, second * cosines + first * sines, rest], dim=-1)


class PlainAttention(torch.nn.Module):
    """flash_attn.modules.mha.MHA as Flashzoi uses it: query heads share key heads, no mask."""

    def __init__(self, embed_dim, num_heads, num_heads_kv, softmax_scale, rotary_emb_base, **_):
        super().__init__()
        self.n_heads, self.n_key_heads, self.scale, self.base = num_heads, num_heads_kv, softmax_scale, rotary_emb_base
        self.d_head = embed_dim // num_heads
        self.Wqkv = torch.nn.Linear(embed_dim, self.d_head * (num_heads + 2 * num_heads_kv))
        self.out_proj = torch.nn.Linear(embed_dim, embed_dim)

    @staticmethod
    def attend(q, k, v, scale):
        return (torch.einsum("whid,whjd->whij", q, k) * scale).softmax(-1) @ v

    def forward(self, x):
        windows, rows, _ = x.shape
        qkv = self.Wqkv(x).view(windows, rows, -1, self.d_head)
        q, k, v = qkv.split([self.n_heads, self.n_key_heads, self.n_key_heads], dim=2)
        q, k = Rotary.turn(q, self.base), Rotary.turn(k, self.base)
        shared = self.n_heads // self.n_key_heads
        k, v = k.repeat_interleave(shared, dim=2), v.repeat_interleave(shared, dim=2)
        heads = self.attend(*(t.transpose(1, 2) for t in (q, k, v)), scale=self.scale)
        return self.out_proj(heads.transpose(1, 2).reshape(windows, rows, -1))


def load_original():
    """borzoi-pytorch's model file, with the attention above in place of flash-attn's."""
    original = importlib.import_module("borzoi_pytorch.pytorch_borzoi_model")  # before transformers sees a flash-attn
    package, modules, mha = (types.ModuleType(n) for n in ("flash_attn", "flash_attn.modules", "flash_attn.modules.mha"))
    package.__path__ = modules.__path__ = []
    mha.MHA = PlainAttention
    sys.modules.update({module.__name__: module for module in (package, modules, mha)})
    return original


# Of weights whose products are to be larger than their inputs.
GAINS = {"to_q.weight": 2, "to_k.weight": 2, "to_rel_k.weight": 1.5, "to_v.weight": 2, "Wqkv.weight": 1.6,
         "conv_dna.conv_layer.weight": 3}


def fill(model, seed):
    generator = torch.Generator().manual_seed(seed)

    def draw(name, tensor):
        noise = torch.randn(tensor.shape, generator=generator)
        if name.endswith("running_var"):  # times that of the input
            return 0.5 + 1.5 * torch.rand(tensor.shape, generator=generator)
        if name.endswith("running_mean"):  # of the input, plus standard deviations
            return 0.3 * noise
        if "rel_content_bias" in name or "rel_pos_bias" in name:
            return noise
        if tensor.dim() == 1:
            # Factors of normalisations are near 1.
            return 0.2 * noise + (1.0 if name.endswith("weight") else 0.0)
        gain = next((gain for end, gain in GAINS.items() if name.endswith(end)), 1)
        return gain * math.prod(tensor.shape[1:]) ** -0.5 * noise

    with torch.no_grad():
        for name, tensor in sorted(model.state_dict().items()):
            if tensor.is_floating_point():
                tensor.copy_(draw(name, tensor))


def make_model(original, shape, seed, device="cpu"):
    values = SHAPES[shape]
    flashed = values.get("flashed", False)
    Rotary.n_rotated = values["rotary_emb_dim"]
    names = ("dim", "depth", "heads", "attn_dim_key", "attn_dim_value", "bins_to_return")
    model = original.Borzoi(original.BorzoiConfig(**{n: values[n] for n in names}, flashed=flashed,
                                                  enable_mouse_head="mouse" in values["output_heads"])).eval()
    widths, dim, last = values["conv_channels"], values["dim"], values["final_channels"]
    if shape.endswith("tiny"):
        model.conv_dna.conv_layer = torch.nn.Conv1d(4, widths[0], 15, padding="same")
        for i, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
            model.res_tower[2 * i] = original.ConvBlock(n_in, n_out, 5)
        model.unet1[1] = original.ConvBlock(widths[-1], dim, 5)
        model.horizontal_conv0 = original.ConvBlock(widths[-1], dim, 1)
        model.final_joined_convs[0] = original.ConvBlock(dim, last, 1)
        for name, n_tracks in values["output_heads"].items():
            setattr(model, f"{name}_head", torch.nn.Conv1d(last, n_tracks, 1))
        model.eval()
    fill(model, seed)
    model = model.to(device)
    set_statistics(model, one_hot(make_windows(values["sequence_length"])["one"]).T.to(device))
    return model


def save(model, shape, folder, dtype):
    state = {name: tensor.to(dtype).contiguous() if tensor.is_floating_point() else tensor
             for name, tensor in model.state_dict().items()}
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    config = {"architectures": ["Borzoi"], "model_type": "borzoi", "attn_dropout": 0.05, "dropout_rate": 0.2,
              "pos_dropout": 0.01, "return_center_bins_only": True,
              "enable_mouse_head": "mouse" in SHAPES[shape]["output_heads"]}
    config.update(SHAPES[shape])
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def run_stages(model, x):
    stages, hooks = {}, []

    def keep(name, module, transpose):
        def hook(_, __, out):
            stages[name] = (out[0].T if transpose else out[0]).clone()
        hooks.append(module.register_forward_hook(hook))

    keep("stem", model.conv_dna, True)
    for i in range(5):
        keep(f"tower/{i}", model.res_tower[2 * i], True)
    keep("unet1", model.unet1, True)
    for i, block in enumerate(model.transformer):
        keep(f"block/{i}", block, False)
    keep("up/1", model.separable1, True)
    keep("up/0", model.separable0, True)
    for name in ("human", "mouse"):
        if hasattr(model, f"{name}_head"):
            out, embedding = model(x.T[None], is_human=name == "human", return_embeddings=True)
            stages[f"heads/{name}"] = out[0].T
            stages["embedding"] = embedding[0].T
    for hook in hooks:
        hook.remove()
    return stages


def make_vectors(model, windows, kept):
    vectors = {}
    for name, window in windows.items():
        stages = run_stages(model, one_hot(window))
        wanted = kept if name == "one" else ("heads/",)
        vectors.update({f"{name}/{k}": v for k, v in stages.items() if k.startswith(wanted)})
    return {k: v.to(torch.float32).contiguous() for k, v in vectors.items()}


def in_double(model):
    """borzoi-pytorch calls float() in places: here that is double."""
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double
    for module in model.modules():
        if hasattr(module, "positions"):
            module.positions = None  # kept from the pass in fp32
    return model.double()


def check_attention(sources):
    for name in [name for name in sys.modules if name.startswith("flash_attn")]:
        del sys.modules[name]
    sys.path.insert(0, str(sources))
    package, ops, triton, kernel = (types.ModuleType(n) for n in (
        "flash_attn", "flash_attn.ops", "flash_attn.ops.triton", "flash_attn.ops.triton.rotary"))
    package.__path__ = [str(sources / "flash_attn")]
    for name in ("flash_attn_func", "flash_attn_kvpacked_func", "flash_attn_qkvpacked_func",
                 "flash_attn_varlen_kvpacked_func", "flash_attn_varlen_qkvpacked_func", "flash_attn_with_kvcache"):
        setattr(package, name, None)
    ops.__path__ = triton.__path__ = []

    def apply_rotary(x, cos, sin, inplace=False, interleaved=False, **_):
        turned = rotary.apply_rotary_emb_torch(x, cos, sin, interleaved)
        return x.copy_(turned) if inplace else turned

    kernel.apply_rotary = apply_rotary
    sys.modules.update({module.__name__: module for module in (package, ops, triton, kernel)})
    rotary = importlib.import_module("flash_attn.layers.rotary")
    mha = importlib.import_module("flash_attn.modules.mha")
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    options = dict(embed_dim=768, num_heads=4, num_heads_kv=2, softmax_scale=192 ** -0.5, rotary_emb_base=20000.0)
    theirs = mha.MHA(use_flash_attn=False, qkv_proj_bias=True, out_proj_bias=True, rotary_emb_dim=128, **options).eval()
    ours = PlainAttention(**options)
    ours.load_state_dict(theirs.state_dict())
    with torch.no_grad():
        x = 2 * torch.randn(2, 300, 768)
        right, got = theirs(x), ours(x)
    apart = ((right - got).abs().max() / right.std()).item()
    print(f"largest difference {apart:.3g} standard deviations")
    sys.exit(apart > 1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--shape", choices=SHAPES, default="tiny")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", choices=("float16", "float32"), default="float16")
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--check-attention", type=pathlib.Path, metavar="FLASH_ATTENTION")
    arguments = parser.parse_args()
    if arguments.check_attention:
        check_attention(arguments.check_attention)
    if arguments.folder is None:
        parser.error("FOLDER is missing")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    model = make_model(load_original(), arguments.shape, arguments.seed)
    dtype = getattr(torch, arguments.dtype)
    save(model, arguments.shape, arguments.folder, dtype)
    windows = make_windows(SHAPES[arguments.shape]["sequence_length"])
    (arguments.folder / "windows.fa").write_text("".join(f">{n}\n{s}\n" for n, s in windows.items()))
    if arguments.vectors:
        with torch.no_grad():
            model = in_double(model.to(dtype))
            vectors = make_vectors(model, windows, KEPT.get(arguments.shape, ("heads/",)))
        safetensors.torch.save_file(vectors, arguments.folder / "expected.safetensors")
        (arguments.folder / "expected.safetensors").chmod(0o644)
        for name, tensor in vectors.items():
            print(f"{name} {list(tensor.shape)} std {tensor.std():.3g} over rows {tensor.std(0).mean():.3g} "
                  f"max {tensor.abs().max():.3g}")


if __name__ == "__main__":
    main()
