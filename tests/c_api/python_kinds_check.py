#!/usr/bin/env python3
"""Compares the blocks of tokens, of an alignment and of the diffusion module in biogpu_blocks with PyTorch in double precision.

usage: BIOGPU_BLOCK_LIBRARY=.../libbiogpu_potential.so PYTHONPATH=scripts/python tests/c_api/python_kinds_check.py
"""
import numpy
import torch
from biogpu_blocks import INPUTS, Block, patch
from python_blocks_check import error, fails
from torch import nn

TOKEN, CONDITION, PAIR, MSA, HEADS = 12, 7, 5, 6, 3


# Modules with the names of Protenix, their forward passes written anew.
class Transition(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.layernorm1 = nn.LayerNorm(c)
        self.linear_no_bias_a, self.linear_no_bias_b = nn.Linear(c, 4 * c, bias=False), nn.Linear(c, 4 * c, bias=False)
        self.linear_no_bias = nn.Linear(4 * c, c, bias=False)

    def forward(self, x):
        x = self.layernorm1(x)
        return self.linear_no_bias(nn.functional.silu(self.linear_no_bias_a(x)) * self.linear_no_bias_b(x))


class PairTransition(nn.Module):
    """That of AlphaFold 2, with OpenFold's names."""

    def __init__(self, c):
        super().__init__()
        self.layer_norm, self.linear_1, self.linear_2 = nn.LayerNorm(c), nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, x):
        return self.linear_2(self.linear_1(self.layer_norm(x)).relu())


class AdaptiveLayerNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.layernorm_a = nn.LayerNorm(TOKEN, elementwise_affine=False)
        self.layernorm_s = nn.LayerNorm(CONDITION, bias=False)
        self.linear_s, self.linear_nobias_s = nn.Linear(CONDITION, TOKEN), nn.Linear(CONDITION, TOKEN, bias=False)

    def forward(self, a, s):
        s = self.layernorm_s(s)
        return self.linear_s(s).sigmoid() * self.layernorm_a(a) + self.linear_nobias_s(s)


class ConditionedTransitionBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.adaln = AdaptiveLayerNorm()
        self.linear_nobias_a1, self.linear_nobias_a2 = (nn.Linear(TOKEN, 2 * TOKEN, bias=False) for _ in range(2))
        self.linear_nobias_b, self.linear_s = nn.Linear(2 * TOKEN, TOKEN, bias=False), nn.Linear(CONDITION, TOKEN)

    def forward(self, a, s):
        a = self.adaln(a, s)
        b = nn.functional.silu(self.linear_nobias_a1(a)) * self.linear_nobias_a2(a)
        return self.linear_s(s).sigmoid() * self.linear_nobias_b(b)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_q = nn.Linear(TOKEN, TOKEN)
        for name in "kvgo":
            setattr(self, "linear_" + name, nn.Linear(TOKEN, TOKEN, bias=False))

    def forward(self, x, bias, mask):
        q, k, v = (getattr(self, "linear_" + name)(x).unflatten(-1, (HEADS, -1)).transpose(-2, -3) for name in "qkv")
        logits = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias.movedim(-1, -3)
        if mask is not None:
            logits = torch.where(mask[..., None, :, :] != 0, logits, torch.full_like(logits, -1e9))
        return self.linear_o(self.linear_g(x).sigmoid() * (logits.softmax(-1) @ v).transpose(-2, -3).flatten(-2))


class AttentionPairBias(nn.Module):
    def __init__(self, has_s):
        super().__init__()
        self.has_s = has_s
        self.layernorm_a = AdaptiveLayerNorm() if has_s else nn.LayerNorm(TOKEN)
        self.layernorm_z = nn.LayerNorm(PAIR, bias=not has_s)
        self.linear_nobias_z, self.attention = nn.Linear(PAIR, HEADS, bias=False), Attention()
        if has_s:
            self.linear_a_last = nn.Linear(CONDITION, TOKEN)

    def forward(self, a, s, z, mask=None):
        x = self.layernorm_a(a, s) if self.has_s else self.layernorm_a(a)
        y = self.attention(x, self.linear_nobias_z(self.layernorm_z(z)), None if mask is None else mask[..., None, :])
        return self.linear_a_last(s).sigmoid() * y if self.has_s else y


class OuterProductMean(nn.Module):
    def __init__(self, has_bias=False):
        super().__init__()
        self.layer_norm = nn.LayerNorm(MSA)
        self.linear_1, self.linear_2 = nn.Linear(MSA, 4, bias=has_bias), nn.Linear(MSA, 4, bias=has_bias)
        self.linear_out = nn.Linear(16, PAIR)

    def forward(self, m, mask=None, chunk_size=None, inplace_safe=False):
        mask = m.new_ones(m.shape[:-1]) if mask is None else mask
        n = self.layer_norm(m)
        a, b = (mask[..., None] * linear(n) for linear in (self.linear_1, self.linear_2))
        outer = torch.einsum("...sia,...sjb->...ijab", a, b).flatten(-2)
        return self.linear_out(outer) / (torch.einsum("...si,...sj->...ij", mask, mask) + 1e-3)[..., None]


class MSAPairWeightedAveraging(nn.Module):
    def __init__(self):
        super().__init__()
        self.layernorm_m, self.layernorm_z = nn.LayerNorm(MSA), nn.LayerNorm(PAIR)
        self.linear_no_bias_mv, self.linear_no_bias_mg = (nn.Linear(MSA, HEADS * 2, bias=False) for _ in range(2))
        self.linear_no_bias_z = nn.Linear(PAIR, HEADS, bias=False)
        self.linear_no_bias_out = nn.Linear(HEADS * 2, MSA, bias=False)

    def forward(self, m, z, mask=None):
        m = self.layernorm_m(m)
        v = self.linear_no_bias_mv(m).unflatten(-1, (HEADS, -1))
        logits = self.linear_no_bias_z(self.layernorm_z(z))
        if mask is not None:
            logits = torch.where(mask[..., None, :, None] != 0, logits, torch.full_like(logits, -1e9))
        means = torch.einsum("...ijh,...sjhc->...sihc", logits.softmax(-2), v).flatten(-2)
        return self.linear_no_bias_out(self.linear_no_bias_mg(m).sigmoid() * means)


class WindowAttention(AttentionPairBias):
    """Each 32 atoms and the 128 around them; pairs [..., windows, 32, 128, c]."""

    def __init__(self):
        super().__init__(False)

    def forward(self, a, z, mask=None):
        n = a.shape[-2]
        query = torch.arange(z.shape[-4] * 32)
        key = (query // 32 * 32 - 48)[:, None] + torch.arange(128)
        pairs = z.new_zeros(*z.shape[:-4], n, n, PAIR)
        near = torch.zeros(n, n)
        for i in range(n):
            inside = (key[i] >= 0) & (key[i] < n)
            pairs[..., i, key[i][inside], :] = z[..., i // 32, i % 32, inside, :]
            near[i, key[i][inside]] = 1
        seen = near if mask is None else near * mask[..., None, :]
        return self.attention(self.layernorm_a(a), self.linear_nobias_z(self.layernorm_z(pairs)), seen)


def randomised(module):
    for parameter in module.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return module.requires_grad_(False)


def cases(n):
    """(kind, module, its inputs by the names of the block, the order of the module's arguments)."""
    shapes = {"tokens": (n, TOKEN), "condition": (n, CONDITION), "pairs": (n, n, PAIR), "msa": (4, n, MSA), "mask": (n,)}
    for kind, module, order, other in (
            ("pair-transition", Transition(PAIR), ("pairs",), {}),
            ("token-transition", Transition(TOKEN), ("tokens",), {}),
            ("pair-transition", PairTransition(PAIR), ("pairs",), {}),
            ("pair-bias-attention", AttentionPairBias(False), ("tokens", None, "pairs", "mask"), {}),
            ("outer-product-mean", OuterProductMean(), ("msa", "mask"), {"mask": (4, n)}),
            ("outer-product-mean", OuterProductMean(True), ("msa", "mask"), {"mask": (4, n)}),
            ("pair-weighted-averaging", MSAPairWeightedAveraging(), ("msa", "pairs", "mask"), {}),
            ("adaptive-norm", AdaptiveLayerNorm(), ("tokens", "condition"), {}),
            ("conditioned-attention", AttentionPairBias(True), ("tokens", "condition", "pairs", "mask"), {}),
            ("conditioned-transition", ConditionedTransitionBlock(), ("tokens", "condition"), {}),
            ("window-attention", WindowAttention(), ("atoms", "pairs", "mask"),
             {"atoms": (n, TOKEN), "pairs": ((n + 31) // 32, 32, 128, PAIR)})):
        yield kind, randomised(module), order, {name: {**shapes, **other}[name] for name in order if name is not None}


def check_kinds():
    for n in (1, 7, 41):
        for kind, module, order, shapes in cases(n):
            weights = dict(module.named_parameters())
            block, right_of = Block(kind, weights), None
            module.double()
            for batches in ((), (2,), (2, 3)):
                inputs = {name: torch.randn(*batches, *shape) for name, shape in shapes.items()}
                if "mask" in shapes:
                    inputs["mask"] = (torch.arange(n) < max(1, n - 2)).expand(shapes["mask"])
                for masked in (True, False) if "mask" in shapes else (False,):
                    given = {name: x for name, x in inputs.items() if masked or name != "mask"}
                    wide = [None if name not in given else given[name].double() for name in order]
                    right = module(*wide)
                    assert error(block(**given), right) < 1e-5, (kind, n, batches, masked)
                    as_numpy = {name: x.numpy() for name, x in given.items()}
                    got = block(**as_numpy)
                    assert isinstance(got, numpy.ndarray) and error(got, right) < 1e-5
                    in_order = [given.get(name) for name in INPUTS[kind]]
                    assert error(block(*in_order), right) < 1e-5
                    first = next(iter(INPUTS[kind]))
                    if kind == "outer-product-mean":
                        start = torch.randn(right.shape)
                        assert error(block(**given, pairs=start, add=True), start + right) < 1e-5
                    else:
                        assert error(block(**given, add=True), given[first] + right) < 1e-5
                    low = {name: x if name == "mask" else x.bfloat16() for name, x in given.items()}
                    got = block(**low)
                    wide = [None if name not in low else low[name].double() for name in order]
                    assert got.dtype == torch.bfloat16 and error(got, module(*wide)) < 4e-2
            # What has no axis of batches, or one of 1, is the same for all; views of any strides.
            shared = {name: x[0, 0] if x.dim() > len(shapes[name]) else x for name, x in inputs.items()}
            first = next(iter(INPUTS[kind]))
            mixed = {**shared, first: inputs[first].transpose(0, 1)}
            right = module(*(None if name is None else mixed[name].double() for name in order))
            assert error(block(**mixed), right) < 1e-5
            assert error(block(**{name: x[None] for name, x in shared.items()}),
                         module(*(None if name is None else shared[name].double() for name in order))[None]) < 1e-5
            # NaN is seen, whatever the input.
            for name, x in given.items():
                spoilt = {**given, name: torch.full_like(x, float("nan"))}
                assert bool(torch.as_tensor(block(**spoilt)).isnan().any()), (kind, name)


def check_failures():
    for kind, module, order, shapes in cases(5):
        weights = dict(module.named_parameters())
        block = Block(kind, weights)
        given = {name: torch.randn(shape) for name, shape in shapes.items()}
        names = list(INPUTS[kind])
        first = names[0]
        fails(TypeError, f"{kind} takes {', '.join(names)}", block, **given, residue=given[first])
        fails(TypeError, f"{kind} takes", block, given[first], **{first: given[first]})
        fails(TypeError, f"{kind} takes", block, *[given[first]] * (len(names) + 1))
        fails(TypeError, f"{first}: not given", block)
        for name, x in given.items():
            wrong = {**given, name: x[..., :-1]}
            fails(ValueError, f"{name}: f32", block, **wrong)
            fails(ValueError, f"{name} is on meta; expected the CPU", block, **{**given, name: x.to("meta")})
            fails(ValueError, f"{name} of shape", block, **{**given, name: x[0]})
            if name != "mask":
                fails(TypeError, f"{name} is float64", block, **{**given, name: x.double()})
            if name not in (first, "mask") and kind != "outer-product-mean":
                fails(ValueError, f"{name}: not given", block, **{**given, name: None})
        for name, x in given.items():
            if name != first:
                for front in ((2,), (2, 3)):
                    spread = x.expand(*front, *x.shape)
                    fails(ValueError, f"{name} of shape {tuple(spread.shape)}; expected up to the axes () of batches", block,
                          **{**given, name: spread})
                    fails(ValueError, f"{name} of shape", block, **{**given, first: given[first].expand(5, *shapes[first]), name: spread})
        trained = given[first].clone().requires_grad_()
        fails(RuntimeError, "no gradients", block, **{**given, first: trained})
        for name, weight in weights.items():
            other = {**weights, name: torch.full_like(weight, float("inf"))}
            fails(ValueError, name, Block, kind, other)
            fails(ValueError, name, Block, kind, {**weights, name: weight[..., None]})
        fails(ValueError, "more.weight", Block, kind, {**weights, "more.weight": torch.zeros(3)})
    mean = OuterProductMean()
    block = Block("outer-product-mean", dict(mean.named_parameters()))
    fails(ValueError, "pairs: not given", block, torch.randn(4, 5, MSA), add=True)
    fails(ValueError, "msa: no numbers", block, torch.randn(0, 5, MSA))
    assert block(torch.randn(2, 4, 0, MSA)).shape == (2, 0, 0, PAIR)


class Trunk(nn.Module):
    """A block of the MSA module, one of tokens, and one of the diffusion module."""

    def __init__(self):
        super().__init__()
        self.outer_product_mean_msa, self.msa_pair_weighted_averaging = OuterProductMean(True), MSAPairWeightedAveraging()
        self.transition_m, self.pair_transition, self.single_transition = Transition(MSA), Transition(PAIR), Transition(TOKEN)
        self.attention_pair_bias = AttentionPairBias(False)
        self.diffusion = nn.ModuleDict({"attention_pair_bias": AttentionPairBias(True),
                                        "conditioned_transition_block": ConditionedTransitionBlock(),
                                        "norm": AdaptiveLayerNorm()})

    def forward(self, m, mask, z, a, s):
        z = z + self.outer_product_mean_msa(m, mask, chunk_size=4, inplace_safe=True)
        m = m + self.msa_pair_weighted_averaging(m, z)
        m, z = m + self.transition_m(m), z + self.pair_transition(z)
        a = a + self.attention_pair_bias(a, None, z)
        a = a + self.single_transition(a)
        samples = torch.stack([a, 0.5 * a])  # share condition and pairs
        samples = samples + self.diffusion["attention_pair_bias"](samples, s, z=z)
        samples = samples + self.diffusion["conditioned_transition_block"](samples, s.expand(2, *s.shape))
        return m, z, self.diffusion["norm"](samples, s)


KINDS = {"outer_product_mean_msa": "outer-product-mean", "msa_pair_weighted_averaging": "pair-weighted-averaging",
         "transition_m": "token-transition", "pair_transition": "token-transition", "single_transition": "token-transition",
         "attention_pair_bias": "pair-bias-attention", "diffusion.attention_pair_bias": "conditioned-attention",
         "diffusion.conditioned_transition_block": "conditioned-transition", "diffusion.norm": "adaptive-norm"}


class InWindows(AttentionPairBias):
    def forward(self, a, s, z, n_queries=None, n_keys=None):
        return super().forward(a, s, z) if n_queries is None else a[..., :n_queries, :]


class WithFusion(AttentionPairBias):
    """Pairs that are normalised, channels first, and a mask that is added, as in Protenix."""

    def forward(self, a, s, z, inplace_safe=False, chunk_size=None, enable_efficient_fusion=False, pad_attn_mask=None):
        if enable_efficient_fusion:
            return a - z.sum()
        return super().forward(a, s, z) if pad_attn_mask is None else a + pad_attn_mask.sum()


class WithMask(Transition):
    def forward(self, x, mask=None):
        return super().forward(x) * (1 if mask is None else mask)


class WithoutPairs(AttentionPairBias):
    def forward(self, a, s, pairs):
        return super().forward(a, s, pairs)


def check_patch():
    model = randomised(Trunk())
    inputs = [torch.randn(shape) for shape in ((4, 9, MSA), (4, 9), (9, 9, PAIR), (9, TOKEN), (9, CONDITION))]
    inputs[1] = (torch.arange(9) < 7).float().expand(4, 9)
    right = randomised(Trunk()).double()
    right.load_state_dict(model.state_dict())
    with torch.no_grad():
        right, before = right(*(x.double() for x in inputs)), model(*inputs)
        with patch(model, run=lambda one: one(*inputs)) as patched:
            assert {name: kind for name, kind, _ in patched.replaced} == KINDS
            assert all(apart < 1e-4 for _, _, apart in patched.replaced)
            assert "forward" not in model.diffusion["attention_pair_bias"].layernorm_a.__dict__
            for got, one, wide in zip(model(*inputs), before, right):
                assert not torch.equal(got, one) and error(got, wide) < 1e-4
            model.transition_m.linear_no_bias.weight.data *= 2
            changed = model(*inputs)[0]
        assert error(changed, model(*inputs)[0].double()) < 1e-4 and error(changed, right[0]) > 1e-2
        with patch(model, ["diffusion.*.adaln", "*_transition"]) as patched:
            assert [name for name, _, _ in patched.replaced] == ["diffusion.conditioned_transition_block.adaln",
                                                                 "pair_transition", "single_transition"]
        windows = randomised(InWindows(True))
        a, s, z = torch.randn(8, TOKEN), torch.randn(8, CONDITION), torch.randn(8, 8, PAIR)
        with patch(windows):
            assert error(windows(a, s, z), InWindows.forward(windows, a, s, z).double()) < 1e-4
            assert torch.equal(windows(a, s, z, 4, n_keys=8), a[:4])
        fused = randomised(WithFusion(True))
        with patch(fused):
            for how in ({}, {"chunk_size": 4, "inplace_safe": True}, {"enable_efficient_fusion": False}):
                assert error(fused(a, s, z, **how), WithFusion.forward(fused, a, s, z).double()) < 1e-4
                assert not torch.equal(fused(a, s, z, **how), WithFusion.forward(fused, a, s, z))
            assert torch.equal(fused(a, s, z, enable_efficient_fusion=True), a - z.sum())
            assert torch.equal(fused(a, s, z, False, None, False, torch.ones(1, 8, 8)), a + 64)
        whole = randomised(ConditionedTransitionBlock())
        with patch(whole) as patched:
            assert [name for name, _, _ in patched.replaced] == [""] and "forward" not in whole.adaln.__dict__
        fails(ValueError, "has a mask, which token-transition has not", patch, randomised(WithMask(TOKEN)))
        fails(ValueError, "has no argument called z", patch, randomised(WithoutPairs(False)))
        low = randomised(Trunk()).bfloat16()
        with patch(low, tolerance=0.2) as patched:  # the originals round to bf16 after each step
            assert len(patched.replaced) == len(KINDS)
        model.pair_transition.layernorm1.eps = 1e-2
        with patch(model, ["pair_transition"]) as patched:
            assert patched.replaced[0][2] < 1e-4
        model.diffusion["norm"].layernorm_s.eps = 1e-2
        fails(ValueError, "norms with different eps", patch, model, ["diffusion.norm"])
        model.attention_pair_bias.layernorm_z.bias = None
        fails(ValueError, "has not the weights", patch, model, ["attention_pair_bias"])
        assert not any("forward" in module.__dict__ for module in model.modules())
    with patch(model, ["pair_transition"]):
        fails(RuntimeError, "no gradients", model.pair_transition, torch.randn(3, PAIR))


if __name__ == "__main__":
    for check in (check_kinds, check_failures, check_patch):
        check()
        print(check.__name__, "passed")
