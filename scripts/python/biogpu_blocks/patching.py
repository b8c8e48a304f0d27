"""Blocks of a loaded PyTorch model, computed by biogpu."""
import fnmatch
import inspect
import os

from . import arrays
from .blocks import Block, Context, INPUTS, PRECISIONS

# Arguments of triangle blocks that change what they return; all others choose how they compute it.
_IN_PLACE, _ADD_IN_PLACE = "inplace_safe", "_add_with_inplace"
# Of OpenFold3 since 0.5: calls with it are left to the original.
_SWAPS_BIAS = "transpose_bias"
_TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}
# Arguments of the other blocks that choose how they compute. Calls with any further one are left to the original.
_HOW = (_IN_PLACE, "chunk_size")
_CHECKED_TOKENS, _CHECKED_PADDING, _CHECKED_ROWS = 19, 4, 3


class Patched:
    """What patch() has replaced: `replaced` has (name, kind, largest difference) of each module, the difference in units of the
    root mean square of the original's output, or None where nothing was compared. restore() gives the originals back; so does
    the end of a `with`."""

    def __init__(self):
        self.replaced = []
        self._modules = []

    def restore(self):
        for module in self._modules:
            module.__dict__.pop("forward", None)
        self._modules = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.restore()


# What triangle multiplication of Boltz calls its weights; maps of both sides are in one.
_BOLTZ = {"norm_in": "layer_norm_in", "norm_out": "layer_norm_out", "p_in": "linear_ab_p", "g_in": "linear_ab_g",
          "p_out": "linear_z", "g_out": "linear_g"}


def _maps(*names):
    return {name + ".weight" for name in names}


def _norms(*names):
    return {f"{name}.{part}" for name in names for part in ("weight", "bias")}


def _adaptive(prefix):
    return {prefix + name for name in ("layernorm_s.weight", "linear_s.weight", "linear_s.bias", "linear_nobias_s.weight")}


_HEADS = {*_maps("linear_nobias_z", *(f"attention.linear_{part}" for part in "qkvgo")), "attention.linear_q.bias"}
# Weights that a module may have or not.
_OPTIONAL = {"attention.linear_g.bias", "attention.linear_o.bias", "linear_1.bias", "linear_2.bias"}
# Blocks of Protenix other than those of triangles, and outer product means of OpenFold: their weights, and for each argument
# the input that it is and a weight whose last axis has its width.
_OTHERS = {
    "token-transition": (
        {*_norms("layernorm1"), *_maps("linear_no_bias_a", "linear_no_bias_b", "linear_no_bias")},
        {"x": ("tokens", "layernorm1.weight")}),
    "pair-bias-attention": (
        {*_norms("layernorm_a", "layernorm_z"), *_HEADS},
        {"a": ("tokens", "layernorm_a.weight"), "z": ("pairs", "layernorm_z.weight")}),
    "outer-product-mean": (
        {*_norms("layer_norm", "linear_out"), *_maps("linear_1", "linear_2")},
        {"m": ("msa", "layer_norm.weight")}),
    "pair-weighted-averaging": (
        {*_norms("layernorm_m", "layernorm_z"), *_maps(*("linear_no_bias_" + part for part in ("mv", "mg", "z", "out")))},
        {"m": ("msa", "layernorm_m.weight"), "z": ("pairs", "layernorm_z.weight")}),
    "adaptive-norm": (
        _adaptive(""),
        {"a": ("tokens", "linear_s.bias"), "s": ("condition", "layernorm_s.weight")}),
    "conditioned-attention": (
        {*_adaptive("layernorm_a."), *_maps("layernorm_z"), *_HEADS, *_norms("linear_a_last")},
        {"a": ("tokens", "linear_a_last.bias"), "s": ("condition", "linear_a_last.weight"), "z": ("pairs", "layernorm_z.weight")}),
    "conditioned-transition": (
        {*_adaptive("adaln."), *_maps(*("linear_nobias_" + part for part in ("a1", "a2", "b"))), *_norms("linear_s")},
        {"a": ("tokens", "linear_s.bias"), "s": ("condition", "linear_s.weight")}),
}


def _other_kind(names):
    """The kind in _OTHERS that has weights of these names, or None."""
    return next((kind for kind, (needed, _) in _OTHERS.items() if needed <= names <= needed | _OPTIONAL), None)


def _parameters(module):
    """The module's weights under the names of the C library, or None where it is no block that biogpu has."""
    own = dict(module.named_parameters())
    if {name + ".weight" for name in _BOLTZ} <= own.keys():
        own = {".".join((_BOLTZ.get(name.split(".")[0], name.split(".")[0]), *name.split(".")[1:])): weight
               for name, weight in own.items()}
    if {"layer_norm_in.weight", "layer_norm_out.weight", "linear_z.weight", "linear_g.weight"} <= own.keys():
        for kind in "pg":
            for part in ("weight", "bias"):
                fused = own.pop(f"linear_ab_{kind}.{part}", None)
                if fused is not None:
                    half = fused.shape[0] // 2
                    own[f"linear_a_{kind}.{part}"], own[f"linear_b_{kind}.{part}"] = fused[:half], fused[half:]
        return own if "linear_a_p.weight" in own else None
    if {"layer_norm.weight", "mha.linear_q.weight", "mha.linear_o.weight"} <= own.keys():
        if "linear_z.weight" in own:  # OpenFold3's name
            own["linear.weight"] = own.pop("linear_z.weight")
        return own if "linear.weight" in own else None
    return own if _other_kind(own.keys()) else None


def _kind(module, name):
    """The kind of the block: its weights tell, or its attribute, or the end of its class's name."""
    weights = _parameters(module)
    if _other_kind(weights.keys()):
        return _other_kind(weights.keys())
    if "layer_norm.weight" in weights:
        attribute, ends, kinds = "starting", ("StartingNode", "EndingNode"), ("attention-start", "attention-end")
        if getattr(module, "inf", 1e9) != 1e9:
            raise ValueError(f"{name}: masks with {module.inf}; biogpu masks with 1e9")
    else:
        attribute, ends, kinds = "_outgoing", ("Outgoing", "Incoming"), ("product-out", "product-in")
    is_first = getattr(module, attribute, None)
    if not isinstance(is_first, bool):
        title = type(module).__name__
        if not title.endswith(ends):
            raise ValueError(f"{name}: {title} has no {attribute} that is true or false")
        is_first = title.endswith(ends[0])
    return "triangle-" + kinds[0 if is_first else 1]


def _eps(module, name):
    found = {child.eps for child_name, child in module.named_modules()
             if child_name.split(".")[-1].startswith(("layer_norm", "layernorm", "norm_")) and hasattr(child, "eps")} or {1e-5}
    if len(found) > 1:
        raise ValueError(f"{name}: norms with different eps: {sorted(found)}")
    return found.pop()


def _precision_of(weight):
    """That of the weight's type on a GPU."""
    kind = arrays.type_name(weight)
    if kind not in PRECISIONS:
        raise ValueError(f"weights are {kind}; expected {', '.join(PRECISIONS)} on a GPU, or the argument precision")
    return PRECISIONS[kind]


def _are_same(before, now):
    """Whether weights have the same numbers, in one wait for a GPU. Their addresses and versions do not tell."""
    def place(weights):
        return [(name, weight.dtype, weight.device, weight.shape) for name, weight in weights.items()]

    if place(before) != place(now):
        return False
    torch = arrays.namespace(next(iter(now.values())))
    return bool(torch.stack([(before[name] == weight).all() for name, weight in now.items()]).all())


def _is_default(value, parameter):
    """Whether an argument says nothing: None where it has no default."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return not value
    default = None if parameter.default is parameter.empty else parameter.default
    return value is default or (isinstance(value, (bool, int, float, str)) and value == default)


class _Forward:
    """forward() of a module, with its own arguments. The block is made again when weights have changed."""

    def __init__(self, module, name, precision, contexts):
        self.module, self.name, self.kind, self.eps = module, name, _kind(module, name), _eps(module, name)
        self.original = module.forward
        self.signature = inspect.signature(self.original)
        self.inputs = self._inputs()
        self.precision, self.contexts = precision, contexts
        self.loaded = self.block = self.process = None
        self.load()

    def _inputs(self):
        """For each argument of forward() the input of the block, and the weight whose last axis has its width, if any."""
        names = self.signature.parameters
        if self.kind in _OTHERS:
            inputs = dict(_OTHERS[self.kind][1])
            has_mask = "mask" in names
        else:
            width = "layer_norm.weight" if "attention" in self.kind else "layer_norm_in.weight"
            inputs, has_mask = {next(iter(names)): ("pairs", width)}, True
        if has_mask:
            inputs["mask"] = ("mask", None)
        for argument, (name, _) in inputs.items():
            if argument not in names:
                raise ValueError(f"{self.name}: forward{self.signature} has no argument called {argument}")
            if name not in INPUTS[self.kind]:
                raise ValueError(f"{self.name}: forward{self.signature} has a mask, which {self.kind} has not")
        return inputs

    def load(self):
        now = {name: parameter.detach() for name, parameter in self.module.named_parameters()}
        if self.process == os.getpid() and _are_same(self.loaded, now):
            return
        weights = {name: weight.detach() for name, weight in _parameters(self.module).items()}
        try:
            device = arrays.device_of_all(weights)
            precision = self.precision
            if precision is None:
                precision = "fp32" if device == "cpu" else _precision_of(next(iter(weights.values())))
            block = Block(self.kind, weights, eps=self.eps, precision=precision, context=self._context_of(device, precision))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        self.block, self.process = block, os.getpid()
        with arrays.namespace(next(iter(now.values()))).inference_mode(False):  # whose tensors have no deep copies outside
            self.loaded = {name: parameter.clone() for name, parameter in now.items()}

    def _context_of(self, device, precision):
        """One for all modules, until one of them has other weights: it gets a newer one, which the others take when theirs
        change. The memory of weights goes with the last block of a context, so that a few contexts exist at a time."""
        key = device, precision, os.getpid()
        context = self.contexts.get(key)
        if context is None or (self.block is not None and self.block.context is context):
            context = self.contexts[key] = Context(device, precision)
        return context

    def _is_left_to_original(self, given):
        if self.kind not in _OTHERS:
            return bool(given.get(_SWAPS_BIAS))
        return any(argument not in self.inputs and argument not in _HOW
                   and not _is_default(value, self.signature.parameters[argument]) for argument, value in given.items())

    def __call__(self, *arguments, **named):
        if arrays.namespace(next(self.module.parameters())).is_grad_enabled():
            raise RuntimeError(f"{self.name}: biogpu computes no gradients: call the model under torch.no_grad() or "
                               "torch.inference_mode()")
        bound = self.signature.bind(*arguments, **named)
        bound.apply_defaults()
        given = bound.arguments
        if self._is_left_to_original(given):
            return self.original(*arguments, **named)
        self.load()
        inputs = {name: given[argument] for argument, (name, _) in self.inputs.items()}
        adds = bool(given.get(_IN_PLACE)) and bool(given.get(_ADD_IN_PLACE))
        result = self.block(**inputs, add=adds)
        return inputs["pairs"].copy_(result) if adds else result


def _difference(before, after, name):
    """The largest difference in units of the root mean square of what was before."""
    before, after = before.detach().double(), after.detach().double()
    if before.shape != after.shape:
        raise ValueError(f"{name}: {tuple(before.shape)} before and {tuple(after.shape)} after")
    size = float((before ** 2).mean() ** 0.5)
    if not size > 0:
        raise ValueError(f"{name}: the original's output is zero, which compares nothing; load weights, or give check=False")
    return float((before - after).abs().max()) / size


def _compare(module, forward, name, seed):
    """The worse difference of a call without a mask and, where there is one, one with a mask that is right-padded."""
    like = next(module.parameters())
    torch = arrays.namespace(like)
    weights = _parameters(module)
    random = torch.Generator().manual_seed(seed)
    given = {argument: None for argument, parameter in forward.signature.parameters.items()
             if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD}
    seen = torch.arange(_CHECKED_TOKENS) < _CHECKED_TOKENS - _CHECKED_PADDING
    mask = seen[None]
    for argument, (name_in_block, width) in forward.inputs.items():
        if width is None:
            continue
        leading = {"pairs": (_CHECKED_TOKENS,), "msa": (_CHECKED_ROWS,)}.get(name_in_block, ())
        shape = (1, *leading, _CHECKED_TOKENS, weights[width].shape[-1])
        given[argument] = torch.randn(shape, generator=random).to(like)
    if forward.kind.startswith("triangle"):
        mask = (seen[:, None] & seen)[None]
    elif forward.kind == "outer-product-mean":
        mask = seen.expand(1, _CHECKED_ROWS, _CHECKED_TOKENS)
    worst = 0.0
    with torch.no_grad():
        for one in (None, mask.to(like)) if "mask" in forward.inputs else (None,):
            outputs = []
            for function in (forward.original, forward):
                copies = {argument: None if x is None else x.clone() for argument, x in given.items()}
                if "mask" in forward.inputs:
                    copies["mask"] = one
                outputs.append(function(**copies))
            worst = max(worst, _difference(*outputs, name))
    return worst


def _tensors(value, name="output"):
    if arrays.is_torch(value):
        yield name, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _tensors(one, f"{name}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from _tensors(one, f"{name}[{index}]")


def _limit(tolerance, x):
    return _TOLERANCE.get(arrays.type_name(x), 1e-4) if tolerance is None else tolerance


def patch(model, names=None, *, check=True, run=None, tolerance=None, precision=None, seed=1):
    """Lets a PyTorch model compute its blocks by biogpu, and compares outputs before and after. Returns a Patched.

    names      names of modules as model.named_modules() has them, with * and ? for any letters, each of which has to fit one;
               None: every module that has the weights of a block that biogpu has. Parts of a chosen module are not replaced
    check      compares each module on random inputs, without a mask and, where it takes one, with a right-padded one
    run        a function of the model that returns tensors, in lists, tuples or dicts: compares those of the whole model
    tolerance  largest difference in units of the root mean square: 1e-4 in fp32, 5e-2 in bf16, 1e-2 in fp16 unless given
    precision  that of the weights' type on a GPU and fp32 on the CPU unless given

    Where a difference is larger, or a module cannot be replaced, all originals are given back and ValueError says which.
    The modules stay where they are, with their weights: forward() of each is replaced. Weights that change later are read
    again: each call compares them with a copy, for which a GPU is waited for once. Arguments that choose how an original
    computes (chunk_size, use_lma ...) change nothing; calls with others that biogpu does not know are left to the original.
    """
    modules = {name: module for name, module in model.named_modules()}
    found = [name for name, module in modules.items() if _parameters(module) is not None]
    if names is None:
        chosen = found
    else:
        chosen = []
        for wanted in names:
            fitting = fnmatch.filter(modules, wanted)
            if not fitting:
                raise ValueError(f"no module is called {wanted}")
            refused = [name for name in fitting if name not in found]
            if refused and not any(letter in wanted for letter in "*?["):
                raise ValueError(f"{wanted}: {type(modules[wanted]).__name__} has not the weights of a block of biogpu")
            fitting = [name for name in fitting if name in found]
            if not fitting:
                raise ValueError(f"no module that fits {wanted} has the weights of a block of biogpu")
            chosen += [name for name in fitting if name not in chosen]
    if not chosen:
        raise ValueError("the model has no module with the weights of a block of biogpu")
    chosen = [name for name in chosen  # the model itself is called ""
              if not any(not other or name.startswith(other + ".") for other in chosen if other != name)]
    torch = arrays.namespace(next(model.parameters()))
    before = None
    if run is not None:
        with torch.no_grad():
            before = dict(_tensors(run(model)))
        if not before:
            raise ValueError("run returns no tensor")
    patched, contexts = Patched(), {}
    try:
        for name in chosen:
            module = modules[name]
            if "forward" in module.__dict__:
                raise ValueError(f"{name}: its forward is replaced already")
            forward = _Forward(module, name, precision, contexts)
            apart = _compare(module, forward, name, seed) if check else None
            limit = _limit(tolerance, next(module.parameters()))
            if apart is not None and not apart <= limit:
                raise ValueError(f"{name}: differs by {apart:.1e} of the root mean square from the original; expected at most "
                                 f"{limit:.1e}")
            module.forward = forward
            patched._modules.append(module)
            patched.replaced.append((name, forward.kind, apart))
        if before is not None:
            with torch.no_grad():
                after = dict(_tensors(run(model)))
            if before.keys() != after.keys():
                raise ValueError("run returns other tensors after patching")
            for name, value in before.items():
                apart = _difference(value, after[name], name)
                limit = _limit(tolerance, value)
                if not apart <= limit:
                    raise ValueError(f"{name} of the model differs by {apart:.1e} of the root mean square; expected at most "
                                     f"{limit:.1e}")
    except BaseException:
        patched.restore()
        raise
    return patched
