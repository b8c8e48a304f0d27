#!/usr/bin/env python3
"""Compares the package biogpu_blocks with PyTorch in double precision, on NumPy arrays and PyTorch tensors of the CPU.

usage: BIOGPU_BLOCK_LIBRARY=.../libbiogpu_potential.so PYTHONPATH=scripts/python tests/c_api/python_blocks_check.py
"""
import copy
import os
import signal
import threading

import numpy
import torch
from biogpu_blocks import arrays, blocks, patching, triangle, Block, patch, set_threads, triangle_attention, triangle_multiplicative_update
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
set_threads(2)


def error(got, right):
    """The largest difference in units of the root mean square of what is right."""
    got = torch.as_tensor(numpy.asarray(got.float() if isinstance(got, torch.Tensor) else got)).double()
    assert got.shape == right.shape, (got.shape, right.shape)
    return float((got - right).abs().max() / (right ** 2).mean().sqrt())


def fails(kind, words, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as problem:
        assert words in str(problem), f"{problem} does not say {words!r}"
        return True
    raise AssertionError(f"no {kind.__name__} that says {words!r}")


def plain_attention(q, k, v, bias, mask=None, scale=None):
    q, k, v, bias = (x.double() for x in (q, k, v, bias))
    logits = (scale if scale is not None else q.shape[-1] ** -0.5) * q @ k.transpose(-1, -2) + bias
    if mask is not None:
        logits = torch.where(mask.bool(), logits, torch.full_like(logits, -1e9))
    return logits.softmax(-1) @ v


def plain_product(x, direction, mask, w, eps=1e-5):
    w = {name: None if value is None else value.double() for name, value in w.items()}
    width, half = x.shape[-1], w["p_in_weight"].shape[0] // 2
    n = nn.functional.layer_norm(x.double(), (width,), w["norm_in_weight"], w["norm_in_bias"], eps)
    sides = nn.functional.linear(n, w["p_in_weight"], w.get("p_in_bias"))
    sides = sides * nn.functional.linear(n, w["g_in_weight"], w.get("g_in_bias")).sigmoid()
    if mask is not None:
        sides = sides * mask.double()[..., None]
    a, b = sides[..., :half], sides[..., half:]
    sums = torch.einsum("...ikd,...jkd->...ijd" if direction == "outgoing" else "...kid,...kjd->...ijd", a, b)
    sums = nn.functional.layer_norm(sums, (half,), w["norm_out_weight"], w["norm_out_bias"], eps)
    y = nn.functional.linear(sums, w["p_out_weight"], w.get("p_out_bias"))
    return y * nn.functional.linear(n, w["g_out_weight"], w.get("g_out_bias")).sigmoid()


def random_weights(width, half, has_bias):
    w = {"norm_in_weight": 1 + 0.2 * torch.randn(width), "norm_in_bias": 0.2 * torch.randn(width),
         "norm_out_weight": 1 + 0.2 * torch.randn(half), "norm_out_bias": 0.2 * torch.randn(half)}
    for name, n_out, n_in in (("p_in", 2 * half, width), ("g_in", 2 * half, width), ("p_out", width, half),
                              ("g_out", width, width)):
        w[name + "_weight"] = torch.randn(n_out, n_in) / n_in ** 0.5
        if has_bias:
            w[name + "_bias"] = 0.3 * torch.randn(n_out)
    return w


def check_attention():
    for batch, lines, heads, queries, keys, d in ((1, 5, 2, 5, 5, 8), (2, 3, 4, 7, 7, 32), (2, 1, 1, 1, 9, 3),
                                                  (1, 17, 4, 17, 17, 5)):
        q = torch.randn(batch, lines, heads, queries, d)
        k, v = torch.randn(2, batch, lines, heads, keys, d)
        bias = torch.randn(batch, 1, heads, queries, keys)
        lengths = torch.randint(0, keys + 1, (batch, lines, 1, 1, 1), dtype=torch.int32)
        lengths[0, 0] = 0  # a row without keys
        padded = torch.arange(keys) < lengths
        ragged = torch.rand(batch, lines, 1, 1, keys) < 0.6
        for mask in (None, padded, ragged):
            for scale in (None, 0.4, 0.0):
                right = plain_attention(q, k, v, bias, mask, scale)
                assert error(triangle_attention(q, k, v, bias, mask, scale), right) < 1e-5
                as_numpy = [x.numpy() for x in (q, k, v, bias)]
                got = triangle_attention(*as_numpy, mask=None if mask is None else mask.numpy(), scale=scale)
                assert isinstance(got, numpy.ndarray) and error(got, right) < 1e-5
        right = plain_attention(q, k, v, bias, padded)
        assert error(triangle_attention(q, k, v, bias, kv_lengths=lengths), right) < 1e-5
        assert error(triangle_attention(*as_numpy, kv_lengths=lengths.numpy()), right) < 1e-5
        assert error(triangle_attention(q, k, v, bias, padded.float()), right) < 1e-5
        # Views: heads behind queries in memory, another batch axis.
        turned = [x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v)]
        assert error(triangle_attention(*turned, bias, padded), right) < 1e-5
        # 16 bits: rounded inputs, results rounded to their type.
        for kind, limit in ((torch.bfloat16, 4e-2), (torch.float16, 6e-3)):
            low = [x.to(kind) for x in (q, k, v)]
            got = triangle_attention(*low, bias, padded)
            assert got.dtype == kind and error(got, plain_attention(*low, bias, padded)) < limit
    four = [x[0] for x in (q, k, v)]
    assert error(triangle_attention(*four, bias[0], padded[0]), right[0]) < 1e-5
    read_only = q.numpy().copy()
    read_only.setflags(write=False)
    assert error(triangle_attention(read_only, *as_numpy[1:], mask=padded.numpy()), right) < 1e-5
    assert triangle_attention(q[:, :0], k[:, :0], v[:, :0], bias).shape == (batch, 0, heads, queries, d)

    fails(NotImplementedError, "return_aux", triangle_attention, q, k, v, bias, return_aux=True)
    fails(ValueError, "both mask and kv_lengths", triangle_attention, q, k, v, bias, padded, kv_lengths=lengths)
    fails(ValueError, "kv_lengths", triangle_attention, q, k, v, bias, kv_lengths=lengths + keys + 1)
    fails(ValueError, "k: f32", triangle_attention, q, k[..., :2], v, bias)
    fails(ValueError, "bias: f32", triangle_attention, q, k, v, bias[:, :, :1])
    fails(ValueError, "expected [B, N, H, Q, D]", triangle_attention, q[0, 0], k, v, bias)
    fails(TypeError, "float64", triangle_attention, q.double(), k, v, bias)
    fails(RuntimeError, "no gradients", triangle_attention, q.clone().requires_grad_(), k, v, bias)
    fails(ValueError, "a stride of -", triangle_attention, as_numpy[0][..., ::-1, :], *as_numpy[1:])


def check_product():
    for tokens, width, half in ((5, 12, 7), (1, 8, 8), (9, 32, 16)):
        x = torch.randn(2, tokens, tokens, width)
        seen = torch.arange(tokens) < max(1, tokens - 2)
        padded = (seen[:, None] & seen).expand(2, tokens, tokens)
        ragged = torch.rand(2, tokens, tokens) < 0.7
        for has_bias in (False, True):
            w = random_weights(width, half, has_bias)
            as_numpy = {name: value.numpy() for name, value in w.items()}
            for direction in ("outgoing", "incoming"):
                for mask in (None, padded, ragged):
                    right = plain_product(x, direction, mask, w)
                    got = triangle_multiplicative_update(x, direction, mask, **w)
                    assert error(got, right) < 2e-5, (tokens, width, has_bias, direction, error(got, right))
                    numpy_mask = None if mask is None else mask.numpy()
                    got = triangle_multiplicative_update(x.numpy(), direction, numpy_mask, **as_numpy)
                    assert isinstance(got, numpy.ndarray) and error(got, right) < 2e-5
                turned = x.permute(0, 2, 1, 3)
                right = plain_product(turned, direction, padded, w)
                assert error(triangle_multiplicative_update(turned, direction, padded, **w), right) < 2e-5
                assert error(triangle_multiplicative_update(turned[0], direction, padded[0], **w), right[0]) < 2e-5
                low = x.bfloat16()
                got = triangle_multiplicative_update(low, direction, padded, **w)
                assert got.dtype == torch.bfloat16 and error(got, plain_product(low, direction, padded, w)) < 4e-2
        only = {**w, "p_in_bias": None, "g_out_bias": None, "norm_in_bias": None}
        assert error(triangle_multiplicative_update(x, **only), plain_product(x, "outgoing", None, only)) < 2e-5
        right = plain_product(x, "outgoing", None, w, eps=0.1)
        assert error(triangle_multiplicative_update(x, **w, eps=0.1), right) < 2e-5
        right = plain_product(x, "outgoing", None, w)
        assert error(triangle_multiplicative_update(x, **w, precision="fp64"), right) < 1e-6

    # Weights that change in place are not taken for the old ones.
    w["p_out_weight"].data[0, 0] += 1
    assert error(triangle_multiplicative_update(x, **w), plain_product(x, "outgoing", None, w)) < 2e-5
    for _ in range(40):  # more sets of weights than are kept
        w["p_out_weight"].mul_(1.01)
        got = triangle_multiplicative_update(x, **w)
    assert error(got, plain_product(x, "outgoing", None, w)) < 2e-5
    fails(ValueError, "direction", triangle_multiplicative_update, x, "sideways", **w)
    fails(ValueError, "g_in_weight: not given", triangle_multiplicative_update, x, **{**w, "g_in_weight": None})
    fails(ValueError, "linear_z.weight", triangle_multiplicative_update, x, **{**w, "p_out_weight": w["p_out_weight"][:, :3]})
    fails(ValueError, "pairs: f32", triangle_multiplicative_update, x[:, :, :-1], **w)
    fails(TypeError, "float64", triangle_multiplicative_update, x.double(), **w)
    trained = {**w, "p_in_weight": nn.Parameter(w["p_in_weight"])}
    fails(RuntimeError, "no gradients", triangle_multiplicative_update, x, **trained)
    fails(ValueError, "a precision of GPUs", triangle_multiplicative_update, x, **w, precision="bf16")

    # Several threads, each with calls of its own.
    results = {}
    w = random_weights(16, 16, True)
    x = torch.randn(4, 7, 7, 16)
    right = [plain_product(one, "incoming", None, w) for one in x]

    def work(index):
        for _ in range(5):
            results[index] = error(triangle_multiplicative_update(x[index], "incoming", **w), right[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and max(results.values()) < 2e-5


def exit_code_of_fork(function):
    """That of a forked process which calls the function; it may take a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            function()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# Modules with the names and arguments of Protenix and OpenFold, their forward passes written anew.
class TriangleMultiplicativeUpdate(nn.Module):
    def __init__(self, width, half, outgoing, has_bias, fused=False):
        super().__init__()
        self._outgoing, self.half = outgoing, half
        self.layer_norm_in, self.layer_norm_out = nn.LayerNorm(width), nn.LayerNorm(half)
        names = ("linear_ab_p", "linear_ab_g") if fused else ("linear_a_p", "linear_a_g", "linear_b_p", "linear_b_g")
        for name in names:
            setattr(self, name, nn.Linear(width, 2 * half if fused else half, bias=has_bias))
        self.linear_g, self.linear_z = nn.Linear(width, width, bias=has_bias), nn.Linear(half, width, bias=has_bias)

    def forward(self, z, mask=None, inplace_safe=False, _add_with_inplace=False):
        n = self.layer_norm_in(z)
        if hasattr(self, "linear_ab_p"):
            a, b = (self.linear_ab_p(n) * self.linear_ab_g(n).sigmoid()).split(self.half, -1)
        else:
            a = self.linear_a_p(n) * self.linear_a_g(n).sigmoid()
            b = self.linear_b_p(n) * self.linear_b_g(n).sigmoid()
        if mask is not None:
            a, b = a * mask[..., None], b * mask[..., None]
        x = torch.einsum("...ikd,...jkd->...ijd" if self._outgoing else "...kid,...kjd->...ijd", a, b)
        update = self.linear_z(self.layer_norm_out(x)) * self.linear_g(n).sigmoid()
        return z.add_(update) if inplace_safe and _add_with_inplace else update


# Boltz's names, whose class tells the direction.
class TriangleMultiplicationIncoming(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm_in, self.norm_out = nn.LayerNorm(width, eps=1e-3), nn.LayerNorm(width, eps=1e-3)
        self.p_in, self.g_in = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.p_out, self.g_out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x, mask, use_kernels=False):
        n = self.norm_in(x)
        a, b = (self.p_in(n) * self.g_in(n).sigmoid() * (1 if mask is None else mask[..., None])).chunk(2, -1)
        return self.p_out(self.norm_out(torch.einsum("bkid,bkjd->bijd", a, b))) * self.g_out(n).sigmoid()


class Attention(nn.Module):
    def __init__(self, width, heads, d, has_bias):
        super().__init__()
        self.heads = heads
        for name in "qkv":
            setattr(self, "linear_" + name, nn.Linear(width, heads * d, bias=False))
        self.linear_g, self.linear_o = nn.Linear(width, heads * d, bias=has_bias), nn.Linear(heads * d, width, bias=has_bias)


class TriangleAttention(nn.Module):
    def __init__(self, width, heads, d, starting, has_bias, bias_name="linear"):
        super().__init__()
        self.starting, self.inf, self.bias_name = starting, 1e9, bias_name
        self.layer_norm = nn.LayerNorm(width)
        setattr(self, bias_name, nn.Linear(width, heads, bias=False))
        self.mha = Attention(width, heads, d, has_bias)

    def forward(self, x, mask=None, chunk_size=None, inplace_safe=False, transpose_bias=False):
        if not self.starting:
            x, mask = x.transpose(-2, -3), None if mask is None else mask.transpose(-1, -2)
        n, mha = self.layer_norm(x), self.mha
        bias = getattr(self, self.bias_name)(n).movedim(-1, -3)
        bias = bias.transpose(-1, -2) if transpose_bias else bias
        q, k, v = (getattr(mha, "linear_" + name)(n).unflatten(-1, (mha.heads, -1)).transpose(-2, -3) for name in "qkv")
        logits = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias.unsqueeze(-4)
        if mask is not None:
            logits = logits + 1e9 * (mask[..., :, None, None, :] - 1)
        o = (logits.softmax(-1) @ v).transpose(-2, -3).flatten(-2)
        y = mha.linear_o(mha.linear_g(n).sigmoid() * o)
        return y if self.starting else y.transpose(-2, -3)


class PairBlock(nn.Module):
    def __init__(self, width, has_bias, openfold3):
        super().__init__()
        bias_name = "linear_z" if openfold3 else "linear"
        self.tri_mul_out = TriangleMultiplicativeUpdate(width, width - 3, True, has_bias, openfold3)
        self.tri_mul_in = TriangleMultiplicativeUpdate(width, width - 3, False, has_bias)
        self.tri_att_start = TriangleAttention(width, 3, 5, True, has_bias, bias_name)
        self.tri_att_end = TriangleAttention(width, 3, 5, False, has_bias, bias_name)
        self.pair_transition = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width))

    def forward(self, z, mask):
        z = self.tri_mul_out(z, mask=mask, inplace_safe=True, _add_with_inplace=True)
        z = z + self.tri_mul_in(z, mask)
        z = z + self.tri_att_start(z, mask=mask, chunk_size=4)
        z = z + self.tri_att_end(z, mask, None, inplace_safe=True)
        return z + self.pair_transition(z)


def check_swapped_bias():
    """What OpenFold3 0.5 asks for around the ending node is the original's."""
    model = nn.Module()
    model.end = TriangleAttention(16, 3, 5, True, True, "linear_z")
    z = torch.randn(1, 9, 9, 16)
    with torch.no_grad():
        own, swapped = model.end(z), model.end(z, None, transpose_bias=True)
        assert (own - swapped).abs().max() > 1e-3
        with patch(model):
            assert torch.equal(model.end(z, None, transpose_bias=True), swapped)
            assert 0 < (model.end(z) - own).abs().max() < 1e-5


def check_patch():
    for has_bias, openfold3 in ((False, False), (True, False), (True, True)):
        model = nn.Module()
        model.blocks = nn.ModuleList([PairBlock(16, has_bias, openfold3) for _ in range(2)])
        for parameter in model.parameters():
            parameter.data += 0.2 * torch.randn_like(parameter)
        z = torch.randn(1, 13, 13, 16)
        seen = (torch.arange(13) < 10).float()
        mask = (seen[:, None] * seen)[None]

        def run(one):
            x = z.clone()
            for block in one.blocks:
                x = block(x, mask.to(x.dtype))
            return {"pairs": [x]}

        double = nn.Module()
        double.blocks = nn.ModuleList([PairBlock(16, has_bias, openfold3) for _ in range(2)]).double()
        double.load_state_dict(model.state_dict())
        with torch.no_grad():
            kept, z32 = z, run(model)["pairs"][0]
            z = z.double()
            right = run(double)["pairs"][0]
            z = kept
            names = set(model.state_dict())
            with patch(model, run=run) as patched:
                assert [name for name, _, _ in patched.replaced] == [
                    f"blocks.{i}.{part}" for i in range(2)
                    for part in ("tri_mul_out", "tri_mul_in", "tri_att_start", "tri_att_end")]
                assert all(apart is not None and apart < 1e-4 for _, _, apart in patched.replaced)
                got = run(model)["pairs"][0]
                assert not torch.equal(got, z32) and error(got, z32.double()) < 1e-4
                # Rows of padding see no key: in double precision their logits differ behind the -1e9.
                assert error(got[:, :10, :10], right[:, :10, :10]) < 1e-4
                assert set(model.state_dict()) == names
                # Weights that change are read again.
                model.blocks[0].tri_mul_in.linear_z.weight.mul_(2)
                changed = run(model)["pairs"][0]
                assert error(changed, z32.double()) > 1e-2
                fails(ValueError, "replaced already", patch, model)
            assert torch.equal(run(model)["pairs"][0], run(model)["pairs"][0])
            assert error(changed, run(model)["pairs"][0].double()) < 1e-4
            with patch(model, ["blocks.1.tri_*", "blocks.0.tri_att_end"], check=False) as patched:
                assert len(patched.replaced) == 5 and all(apart is None for _, _, apart in patched.replaced)
            fails(ValueError, "no module is called blocks.7", patch, model, ["blocks.7"])
            fails(ValueError, "has not the weights", patch, model, ["blocks.0.pair_transition"])
            fails(ValueError, "no module that fits blocks.?.pair", patch, model, ["blocks.?.pair*"])
            fails(ValueError, "expected at most", patch, model, tolerance=1e-12)
            model.blocks[1].tri_att_end.starting = None
            fails(ValueError, "blocks.1.tri_att_end", patch, model)
            assert not any("forward" in module.__dict__ for module in model.modules())
            model.blocks[1].tri_att_end.starting = True  # of another kind than its neighbour
            with patch(model):
                pass
            model.blocks[1].tri_att_end.mha.linear_o.weight.zero_()
            if has_bias:
                model.blocks[1].tri_att_end.mha.linear_o.bias.zero_()
            fails(ValueError, "output is zero", patch, model)
        with patch(model, check=False):
            fails(RuntimeError, "no gradients", model.blocks[0], z, mask)
        boltz = nn.ModuleDict({"tri_mul_in": TriangleMultiplicationIncoming(12)})
        with patch(boltz) as patched, torch.no_grad():
            assert patched.replaced[0][:2] == ("tri_mul_in", "triangle-product-in")
            x, forward = torch.randn(2, 6, 6, 12), boltz["tri_mul_in"].forward
            got = boltz["tri_mul_in"](x, None, use_kernels=True)
            assert error(got, forward.original(x, None).double()) < 1e-4
        low = nn.Module()
        low.blocks = nn.ModuleList([PairBlock(16, has_bias, openfold3)]).bfloat16()
        with patch(low) as patched:
            assert len(patched.replaced) == 4


class WithPairMask(TriangleMultiplicativeUpdate):
    def forward(self, z, pair_mask=None):
        return super().forward(z, pair_mask)


def check_changed_weights():
    model = nn.Module()
    model.blocks = nn.ModuleList([PairBlock(16, True, False) for _ in range(2)])
    z, mask = torch.randn(1, 7, 7, 16), torch.ones(1, 7, 7)

    def run(one, original=False):
        x = z.clone()
        for block in one.blocks:
            kept = {}
            for module in block.modules() if original else ():
                if "forward" in module.__dict__:
                    kept[module] = module.__dict__.pop("forward")
            x = block(x, mask)
            for module, forward in kept.items():
                module.forward = forward
        return x

    def contexts(one):
        return {module.forward.block.context for module in one.modules() if "forward" in module.__dict__}

    def is_right(one):
        got = run(one)
        return error(got, run(one, original=True).double()) < 1e-4

    with torch.no_grad(), patch(model):
        assert is_right(model) and len(contexts(model)) == 1
        before = run(model)
        # Changes that PyTorch's versions and addresses do not tell.
        linear = model.blocks[1].tri_att_start.mha.linear_o
        for scale in (0.5, 3, -1):
            linear.weight.data.copy_(scale * linear.weight.data)
            assert is_right(model) and error(run(model), before.double()) > 1e-3
            assert len(contexts(model)) == 2  # what held the former weights is gone
        for _ in range(3):
            old = linear.weight.data_ptr()
            linear.weight = None
            linear.weight = nn.Parameter(torch.randn(16, 15))
            assert is_right(model), linear.weight.data_ptr() == old
        model.blocks[0].tri_mul_in.layer_norm_in.weight.data[3] = 2.5
        assert is_right(model)
        for parameter in model.parameters():
            parameter.data *= 1.125
        assert is_right(model) and len(contexts(model)) == 2
        model.double().float()
        assert is_right(model)
        # Copies are models of their own.
        twin, before = copy.deepcopy(model), run(model)
        assert torch.equal(run(twin), before) and is_right(twin)
        twin.blocks[0].tri_mul_out.linear_g.bias.data += 0.75
        assert is_right(twin) and not torch.equal(run(twin), before) and torch.equal(run(model), before)
        del twin
        assert torch.equal(run(model), before)

        def in_child():
            assert torch.equal(run(model), before)

        assert exit_code_of_fork(in_child) == 0
    with torch.inference_mode():
        frozen = nn.Module()
        frozen.blocks = nn.ModuleList([PairBlock(16, False, False)])
        with patch(frozen):
            assert is_right(frozen)
            frozen.blocks[0].tri_att_end.linear.weight.mul_(-2)
            assert is_right(frozen)
        patch(model)
    twin = copy.deepcopy(model)
    with torch.no_grad():
        assert is_right(twin)

    with torch.no_grad():
        one = nn.ModuleDict({"tri_mul_out": WithPairMask(8, 8, True, False)})
        fails(ValueError, "tri_mul_out: forward(z, pair_mask=None) has no argument called mask", patch, one, check=False)
        one = nn.ModuleDict({"tri_mul_out": TriangleMultiplicativeUpdate(8, 8, True, False)})
        fails(ValueError, "expected at most 0.0e+00", patch, one, tolerance=0)
        one["tri_mul_out"].layer_norm_in.eps = one["tri_mul_out"].layer_norm_out.eps = 0
        fails(ValueError, "tri_mul_out: eps 0; expected more than 0", patch, one, check=False)
    fails(ValueError, "weights are float64; expected float32, float16, bfloat16 on a GPU", patching._precision_of,
          torch.ones(3).double())


def check_block():
    module = TriangleAttention(12, 2, 5, True, True)
    block = Block("triangle-attention-start", dict(module.named_parameters()))
    z = torch.randn(3, 2, 6, 6, 12)
    mask = torch.rand(6, 6) < 0.7
    with torch.no_grad():
        right = module.double()(z.double(), mask.expand(3, 2, 6, 6).double())
        assert error(block(z, mask), right) < 1e-5
        assert error(block(z, mask, add=True), right + z) < 1e-5
    for twin in (copy.copy(block), copy.deepcopy(block), copy.deepcopy({"block": block})["block"]):
        assert error(twin(z, mask), right) < 1e-5
        del twin
    assert error(block(z, mask), right) < 1e-5
    for shape in ((0, 0, 12), (2, 0, 0, 12), (0, 4, 4, 12), (2, 0, 3, 3, 12)):
        assert block(torch.zeros(shape), torch.zeros(shape[:-1])).shape == shape
        assert block(numpy.zeros(shape, "float32")).shape == shape
    w = random_weights(12, 4, False)
    assert triangle_multiplicative_update(torch.zeros(1, 0, 0, 12), **w).shape == (1, 0, 0, 12)
    nothing = torch.zeros(1, 0, 2, 0, 5)
    assert triangle_attention(nothing, nothing, nothing, torch.zeros(1, 1, 2, 0, 0)).shape == nothing.shape
    fails(ValueError, "eps 0; expected more than 0", Block, "triangle-attention-start", {}, eps=0)
    fails(ValueError, "eps 1e-50; expected more than 0", triangle_multiplicative_update, z, eps=1e-50, **w)

    # A forked process makes its own blocks, whatever the other's threads held.
    right = triangle_multiplicative_update(z, **w)

    def in_child():
        fails(RuntimeError, "made before fork()", block, z)
        assert torch.equal(triangle_multiplicative_update(z, **w), right)

    with triangle._blocks_lock:
        assert exit_code_of_fork(in_child) == 0
    assert torch.equal(triangle_multiplicative_update(z, **w), right)
    fails(ValueError, "kind triangle; expected", Block, "triangle", {})
    fails(ValueError, "layer_norm.weight", Block, "triangle-attention-start", {})


class Elsewhere:
    """An array that DLPack says to be on a GPU."""
    shape, dtype = (3, 3, 12), numpy.dtype("float32")

    def __dlpack_device__(self):
        return 2, 1

    def __dlpack__(self, **_):
        raise AssertionError("the address of an array on another device is asked for")


def check_devices():
    """Arrays on other devices than the call's are refused by their names."""
    q, k, v = torch.randn(3, 1, 4, 2, 4, 8)
    given = {"q": q, "k": k, "v": v, "bias": torch.randn(1, 1, 2, 4, 4), "mask": torch.ones(1, 4, 1, 1, 4)}
    for name in ("k", "v", "bias", "mask"):
        fails(ValueError, f"{name} is on meta; expected the CPU", triangle_attention, **{**given, name: given[name].to("meta")})
    del given["mask"]
    fails(ValueError, "kv_lengths is on meta; expected the CPU", triangle_attention, **given,
          kv_lengths=torch.ones(1, 4, 1, 1, 1, device="meta"))
    fails(ValueError, "on meta; expected one on the CPU", triangle_attention, **{**given, "q": q.to("meta")})
    fails(ValueError, "Elsewhere on GPU 1", arrays.device_of, Elsewhere())
    fails(ValueError, "bias is on GPU 1; expected the CPU", triangle_attention, **{**given, "bias": Elsewhere()})
    fails(ValueError, "x is on GPU 1; expected GPU 0", arrays.Passed, Elsewhere(), "x", "0")
    fails(ValueError, "x is on the CPU; expected GPU 2", arrays.Passed, q, "x", "2")
    fails(ValueError, "x is on the CPU; expected GPU 2", arrays.Passed, q.numpy(), "x", "2")

    module = TriangleAttention(12, 2, 5, True, True)
    weights = dict(module.named_parameters())
    block, z = Block("triangle-attention-start", weights), torch.randn(3, 3, 12)
    assert block.context.device == "cpu"
    fails(ValueError, "pairs is on meta; expected the CPU", block, z.to("meta"))
    fails(ValueError, "mask is on meta; expected the CPU", block, z, torch.ones(3, 3, device="meta"))
    mask = torch.rand(3, 3) < 0.7
    with torch.no_grad():
        right = module.double()(z.double(), mask.double())
    assert error(block(z, mask.numpy()), right) < 1e-5
    assert error(block(z.numpy(), mask), right) < 1e-5
    spread = {**weights, "linear.weight": weights["linear.weight"].detach().to("meta")}
    fails(ValueError, "on meta", Block, "triangle-attention-start", spread)
    try:
        context = blocks.Context("gpu", "fp32")
    except RuntimeError as why:
        return print("a GPU's contexts: SKIPPED,", why)
    assert context.device.isdigit(), context.device
    named = Block("triangle-attention-start", weights, device=int(context.device))
    for block in (Block("triangle-attention-start", weights, context=context), named):
        fails(ValueError, f"pairs is on the CPU; expected GPU {context.device}", block, z)

    # Calls for a GPU give PyTorch its current one back.
    calls, of_torch = [], {name: getattr(torch.cuda, name) for name in ("is_available", "current_device", "device")}

    class Kept:
        def __init__(self, index):
            self.index = index

        def __enter__(self):
            calls.append(("from", self.index))

        def __exit__(self, *_):
            calls.append(("to", self.index))

    try:
        torch.cuda.is_available, torch.cuda.current_device, torch.cuda.device = lambda: True, lambda: 5, Kept
        context = blocks.Context("gpu", "fp32")
        Block("triangle-attention-start", weights, context=context)
        fails(ValueError, "kind", Block, "triangle", {}, context=context)
        assert calls == [("from", 5), ("to", 5)] * 3, calls
        Block("triangle-attention-start", weights)(z)
        assert len(calls) == 6, calls
    finally:
        for name, value in of_torch.items():
            setattr(torch.cuda, name, value)


if __name__ == "__main__":
    for check in (check_attention, check_product, check_swapped_bias, check_patch, check_changed_weights, check_block,
                  check_devices):
        check()
        print(check.__name__, "passed")
