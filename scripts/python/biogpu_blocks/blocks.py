"""Contexts of the C library, and blocks with their weights."""
import contextlib
import ctypes
import functools
import math
import os
import sys
import threading

from . import arrays, library

_threads = 0
PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def set_threads(n):
    """Threads of the CPU that contexts and blocks get that are made later; 0, the default: all."""
    global _threads
    _threads = int(n)
    _context_of.cache_clear()


class _Handle:
    """What the library owns has no copies: a copied model shares it."""

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Context(_Handle):
    """A device. One call at a time; not used by a forked process, which has no threads of it."""

    def __init__(self, device, precision):
        self.lock = threading.Lock()
        self.pointer = ctypes.c_void_p()
        self.process = os.getpid()
        with _current_device_kept(device != "cpu"):
            library.check(library.library().biogpu_block_open(str(device).encode(), precision.encode(), _threads,
                                                              ctypes.byref(self.pointer)))
        self.device = library.library().biogpu_block_device(self.pointer).decode()  # "cpu", or a GPU's number

    def __del__(self):
        if getattr(self, "pointer", None) and self.process == os.getpid():
            library.library().biogpu_block_close(self.pointer)

    @contextlib.contextmanager
    def alone(self):
        """For calls of the library: one at a time, after which PyTorch's current GPU is what it was."""
        with self.lock, _current_device_kept(self.device != "cpu"):
            yield

    def call(self, name, handle, structure, like, passed):
        """Calls biogpu_block_NAME with structure(tensors) of arrays by their names, with memory for its workspace on the device
        of `like`."""
        described = {key: arrays.Passed(x, key, self.device) for key, x in passed.items()}
        call = structure({key: one.tensor for key, one in described.items()})
        functions = library.library()
        n_bytes = ctypes.c_size_t()
        measure = "workspace" if name == "run" else name + "_workspace"
        with self.alone():
            library.check(getattr(functions, "biogpu_block_" + measure)(handle, ctypes.byref(call), ctypes.byref(n_bytes)))
            memory, call.workspace = arrays.workspace_like(like, n_bytes.value)
            call.workspace_bytes, call.stream = n_bytes.value, arrays.stream_of(like)
            library.check(getattr(functions, "biogpu_block_" + name)(handle, ctypes.byref(call)))
        del memory  # PyTorch gives memory of a stream to work that is queued behind it


def _current_device_kept(on_gpu):
    """The library makes its GPU the thread's current one; PyTorch gets its own back."""
    torch = sys.modules.get("torch")
    if not on_gpu or torch is None or not torch.cuda.is_available():
        return contextlib.nullcontext()
    return torch.cuda.device(torch.cuda.current_device())


@functools.lru_cache(maxsize=None)
def _context_of(device, precision, process):
    return Context(device, precision)


def shared_context(device, precision):
    return _context_of(device, precision, os.getpid())


def precision_of(x):
    """That of the array's type on a GPU; the CPU has fp32."""
    return "fp32" if arrays.device_of(x) == "cpu" else PRECISIONS.get(arrays.type_name(x), "fp32")


def kept_types(x, precision):
    """Types of 16 bits that a context of the precision takes."""
    return [kind for kind, name in PRECISIONS.items() if name == precision and kind != "float32"]


# The inputs of each kind, with the axes that they have behind those of batches. The first is the one that is updated, but for
# outer-product-mean, which updates its pairs.
_OF_PAIRS = {"pairs": 3, "mask": 2}
_OF_TOKENS = {"tokens": 2, "condition": 2}
INPUTS = {
    "triangle-product-out": _OF_PAIRS,
    "triangle-product-in": _OF_PAIRS,
    "triangle-attention-start": _OF_PAIRS,
    "triangle-attention-end": _OF_PAIRS,
    "pair-transition": {"pairs": 3},
    "token-transition": {"tokens": 2},
    "pair-bias-attention": {"tokens": 2, "pairs": 3, "mask": 1},
    "outer-product-mean": {"msa": 3, "mask": 2, "pairs": 3},
    "pair-weighted-averaging": {"msa": 3, "pairs": 3, "mask": 1},
    "adaptive-norm": _OF_TOKENS,
    "conditioned-attention": {**_OF_TOKENS, "pairs": 3, "mask": 1},
    "conditioned-transition": _OF_TOKENS,
    "window-attention": {"atoms": 2, "pairs": 4, "mask": 1},
}


class Block(_Handle):
    """A block with its weights.

    kind       as `biogpu lab list` has it: one of biogpu_blocks.INPUTS, which has the inputs of each
    weights    arrays by the names that a checkpoint of Protenix or OpenFold has for them within the block
    eps        of the norms, above 0
    device     "cpu", "gpu" or a GPU's number, where inputs have to be; that of the weights unless given
    precision  of products and attention: "auto", "fp32", "fp64" (CPU; slow), "tf32", "bf16", "fp16" (GPU)
    """

    def __init__(self, kind, weights, *, eps=1e-5, device=None, precision="auto", context=None):
        if not ctypes.c_float(eps).value > 0:
            raise ValueError(f"eps {eps}; expected more than 0, in fp32 too")
        if context is None:
            context = Context(arrays.device_of_all(weights) if device is None else device, precision)
        self.kind = kind
        self.context = context
        self._precision = precision
        self._pointer = ctypes.c_void_p()
        self._process = os.getpid()
        copies = {name: arrays.host_copy(weight) for name, weight in weights.items()}
        passed = [arrays.Passed(copy, name, "cpu") for name, copy in copies.items()]
        listed = (library.Weight * len(copies))(*(library.Weight(name.encode(), one.tensor)
                                                  for name, one in zip(copies, passed)))
        with self.context.alone():
            library.check(library.library().biogpu_block_make(self.context.pointer, kind.encode(), listed, len(copies), eps,
                                                              ctypes.byref(self._pointer)))
        # Of the pairs that an outer product mean updates, which need not be given.
        self._pair_width = copies["linear_out.weight"].shape[0] if kind == "outer-product-mean" else None

    def __del__(self):
        if getattr(self, "_pointer", None) and self._process == os.getpid():
            library.library().biogpu_block_free(self._pointer)

    def __call__(self, *given, add=False, **named):
        """The update of the first input, of its shape and type; the input plus the update with `add`.

        Inputs are given in the order of biogpu_blocks.INPUTS[kind] or by name. Axes in front of the first one's own are batches:
        those of the others are repeated as in NumPy. A mask has a 1 for each token or pair and 0 for padding, and may be left
        out. For outer-product-mean the update is that of the pairs, which are needed only with `add`; it has the type of msa.
        """
        if self._process != os.getpid():
            raise RuntimeError("the block was made before fork(), by another process: make it again in this one")
        names = INPUTS[self.kind]
        if len(given) > len(names) or not named.keys() <= set(list(names)[len(given):]):
            raise TypeError(f"{self.kind} takes {', '.join(names)}, each once; given: {len(given)} without a name, and "
                            f"{', '.join(named) or 'none by name'}")
        inputs = {name: x for name, x in {**dict(zip(names, given)), **named}.items() if x is not None}
        first_name = next(iter(names))
        if first_name not in inputs:
            raise TypeError(f"{first_name}: not given")
        arrays.refuse_gradients(*inputs.values())
        for name, x in inputs.items():
            if len(x.shape) < names[name]:
                raise ValueError(f"{name} of shape {tuple(x.shape)}; expected {names[name]} axes, behind any of batches")
        first = inputs[first_name]
        batches, own = tuple(first.shape[:-names[first_name]]), tuple(first.shape[-names[first_name]:])
        if self._pair_width is not None:
            own = (own[1], own[1], self._pair_width)
        kept = kept_types(first, self._precision)
        passed = {}
        for name, x in inputs.items():
            if name == "mask":
                x = x.float() if arrays.is_torch(x) else x.astype("float32")
            else:
                x = arrays.floats(x, name, kept)
            passed[name] = arrays.with_batches(x, name, batches, names[name])
        x = passed[first_name]
        passed["out"] = out = arrays.namespace(x).empty((math.prod(batches), *own), dtype=x.dtype,
                                                        **({"device": x.device} if arrays.is_torch(x) else {}))

        def structure(tensors):
            result = tensors.pop("out")
            listed = (library.Input * len(tensors))(*(library.Input(name.encode(), one) for name, one in tensors.items()))
            return library.BlockCall(inputs=listed, n_inputs=len(tensors), add=int(add), out=result)

        if 0 not in out.shape:
            self.context.call("run", self._pointer, structure, x, passed)
        return arrays.as_type_of(out, first).reshape((*batches, *own))
