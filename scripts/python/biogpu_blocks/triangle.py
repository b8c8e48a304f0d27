"""Triangle attention and triangle multiplication, called as cuEquivariance's functions of these names."""
import collections
import math
import os
import threading

import numpy

from . import arrays, library
from .blocks import Block, kept_types, precision_of, shared_context


def triangle_attention(q, k, v, bias, mask=None, scale=None, return_aux=False, *, kv_lengths=None):
    """softmax over keys of (scale q.k + bias) times v, with a logit of -1e9 where a key is masked.

    q [B, N, H, Q, D]; k, v [B, N, H, K, D]; bias [B, 1, H, Q, K]; mask [B, N, 1, 1, K], not 0 where a key is seen; or
    kv_lengths [B, N, 1, 1, 1], how many keys of each row are seen, for masks that are right-padded. An axis B of 1 may be left
    out. scale: 1/sqrt(D) unless it is given. A row without any key weighs all equally. Returns [B, N, H, Q, D] of q's type.

    D and the numbers of queries and keys are any. return_aux is refused: the sums that a backward pass needs are not kept.
    """
    if return_aux:
        raise NotImplementedError("return_aux: biogpu keeps no sums for a backward pass")
    if mask is not None and kv_lengths is not None:
        raise ValueError("both mask and kv_lengths are given; expected one of them")
    arrays.refuse_gradients(q, k, v, bias)
    if len(q.shape) not in (4, 5):
        raise ValueError(f"q of shape {tuple(q.shape)}; expected [B, N, H, Q, D]")
    precision, device = precision_of(q), arrays.device_of(q)
    kept = kept_types(q, precision)
    for name, x in (("k", k), ("kv_lengths", kv_lengths)):
        arrays.require_place(x, name, device)
    if kv_lengths is not None:
        mask = _mask_of(kv_lengths, k)
    passed = {name: None if x is None else arrays.floats(x, name, kept)
              for name, x in (("q", q), ("k", k), ("v", v), ("bias", bias))}
    passed["mask"] = None if mask is None else arrays.is_set(mask)
    x = passed["q"]
    functions = arrays.namespace(x)
    out = functions.empty(x.shape, dtype=x.dtype, **({"device": x.device} if arrays.is_torch(x) else {}))
    passed["out"] = out
    if scale is None:
        scale = 1 / math.sqrt(max(1, x.shape[-1]))
    elif scale == 0:  # which the library takes for the default
        passed["q"], scale = functions.zeros_like(x), 1.0
    context = shared_context(device, precision)
    context.call("attention", context.pointer, lambda tensors: library.AttentionCall(**tensors, scale=scale), x, passed)
    return arrays.as_type_of(out, q)


def _mask_of(lengths, k):
    n_keys = k.shape[-2]
    functions = arrays.namespace(k)
    lowest, highest = (int(lengths.min()), int(lengths.max())) if 0 not in lengths.shape else (0, 0)
    if lowest < 0 or highest > n_keys or lengths.shape[-1] != 1:
        raise ValueError(f"kv_lengths of shape {tuple(lengths.shape)} from {lowest} to {highest}; expected [B, N, 1, 1, 1] of "
                         f"0 to {n_keys}")
    keys = functions.arange(n_keys, **({"device": k.device} if arrays.is_torch(k) else {}))
    return keys < lengths


# Blocks of the last weights. Weights are compared, not their addresses: a program may change them.
_MAX_BLOCKS = 32
_blocks = collections.OrderedDict()
_blocks_lock = threading.Lock()


def _forget_blocks():
    """In a forked process: the blocks belong to the other one, a thread of which may have held the lock."""
    global _blocks_lock
    _blocks_lock = threading.Lock()
    _blocks.clear()


os.register_at_fork(after_in_child=_forget_blocks)


def _block_of(kind, weights, eps, device, precision):
    copies = {name: arrays.host_copy(weight) for name, weight in weights.items()}
    numbers = tuple((name, copy.shape, copy.tobytes()) for name, copy in copies.items())
    key = (os.getpid(), kind, eps, device, precision, numbers)
    with _blocks_lock:
        if key in _blocks:
            _blocks.move_to_end(key)
            return _blocks[key]
        # A context of its own, whose memory goes with the block.
        block = _blocks[key] = Block(kind, copies, eps=eps, device=device, precision=precision)
        while len(_blocks) > _MAX_BLOCKS:
            _blocks.popitem(last=False)
        return block


def triangle_multiplicative_update(x, direction="outgoing", mask=None, norm_in_weight=None, norm_in_bias=None,
                                   p_in_weight=None, p_in_bias=None, g_in_weight=None, g_in_bias=None, norm_out_weight=None,
                                   norm_out_bias=None, p_out_weight=None, p_out_bias=None, g_out_weight=None, g_out_bias=None,
                                   eps=1e-5, precision=None):
    """Triangle multiplication of pairs x [..., N, N, C], without the residual.

    direction: "outgoing" or "incoming"; mask [..., N, N]. p_in_weight and g_in_weight [2 D, C]: the maps of both sides and
    their gates, the first side in the first half; p_out_weight [C, D], g_out_weight [C, C]; norms [C] and [D], ones and zeros
    where they are not given. Biases are optional. D may differ from C, and both are any.

    precision: that of x's type on a GPU, fp32 on the CPU, unless a name of biogpu ("fp64", "tf32") is given. The blocks of the
    last 32 sets of weights are kept.
    """
    if direction not in ("outgoing", "incoming"):
        raise ValueError(f"direction {direction!r}; expected 'outgoing' or 'incoming'")
    needed = {"p_in_weight": p_in_weight, "g_in_weight": g_in_weight, "p_out_weight": p_out_weight,
              "g_out_weight": g_out_weight}
    missing = [name for name, weight in needed.items() if weight is None]
    if missing:
        raise ValueError(f"{', '.join(missing)}: not given")
    arrays.refuse_gradients(x, *needed.values(), norm_in_weight, norm_in_bias, norm_out_weight, norm_out_bias, p_in_bias,
                            g_in_bias, p_out_bias, g_out_bias)
    width, sides = x.shape[-1], p_in_weight.shape[0]
    if sides % 2 != 0 or tuple(g_in_weight.shape) != tuple(p_in_weight.shape):
        raise ValueError(f"p_in_weight {tuple(p_in_weight.shape)}, g_in_weight {tuple(g_in_weight.shape)}; expected [2 D, C]")
    half = sides // 2
    weights = {}
    for name, n, weight, bias in (("layer_norm_in", width, norm_in_weight, norm_in_bias),
                                  ("layer_norm_out", half, norm_out_weight, norm_out_bias)):
        weights[name + ".weight"] = numpy.ones(n, numpy.float32) if weight is None else weight
        weights[name + ".bias"] = numpy.zeros(n, numpy.float32) if bias is None else bias
    weights.update({"linear_a_p.weight": p_in_weight[:half], "linear_b_p.weight": p_in_weight[half:],
                    "linear_a_g.weight": g_in_weight[:half], "linear_b_g.weight": g_in_weight[half:],
                    "linear_z.weight": p_out_weight, "linear_g.weight": g_out_weight})
    if any(bias is not None for bias in (p_in_bias, g_in_bias, g_out_bias)):
        p, g = (numpy.zeros(sides, numpy.float32) if bias is None else bias for bias in (p_in_bias, g_in_bias))
        for name, bias in (("p", p), ("g", g)):
            if tuple(bias.shape) != (sides,):
                raise ValueError(f"{name}_in_bias of shape {tuple(bias.shape)}; expected [{sides}]")
            weights[f"linear_a_{name}.bias"], weights[f"linear_b_{name}.bias"] = bias[:half], bias[half:]
        weights["linear_g.bias"] = numpy.zeros(width, numpy.float32) if g_out_bias is None else g_out_bias
    if p_out_bias is not None:
        weights["linear_z.bias"] = p_out_bias
    if precision is None:
        precision = precision_of(x)
    kind = "triangle-product-out" if direction == "outgoing" else "triangle-product-in"
    return _block_of(kind, weights, eps, arrays.device_of(x), precision)(x, mask)

