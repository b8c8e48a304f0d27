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

    def call(self, name, handle, structure, like, /, *, passed, **options):
        """Calls biogpu_block_NAME for arrays by their names, with memory for its workspace on the device of `like`."""
        described = {key: arrays.Passed(x, key, self.device) for key, x in passed.items()}
        call = structure(**{key: one.tensor for key, one in described.items()}, **options)
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


class Block(_Handle):
    """A block with its weights.

    kind       as `biogpu lab list` has it: triangle-product-out, triangle-product-in, triangle-attention-start,
               triangle-attention-end
    weights    arrays by the names that a checkpoint of Protenix or OpenFold has for them within the block
    eps        of the norms, above 0
    device     "cpu", "gpu" or a GPU's number, where pairs have to be; that of the weights unless given
    precision  of products and attention: "auto", "fp32", "fp64" (CPU; slow), "tf32", "bf16", "fp16" (GPU)
    """

    def __init__(self, kind, weights, *, eps=1e-5, device=None, precision="auto", context=None):
        if not ctypes.c_float(eps).value > 0:
            raise ValueError(f"eps {eps}; expected more than 0, in fp32 too")
        if context is None:
            context = Context(arrays.device_of_all(weights) if device is None else device, precision)
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

    def __del__(self):
        if getattr(self, "_pointer", None) and self._process == os.getpid():
            library.library().biogpu_block_free(self._pointer)

    def __call__(self, pairs, mask=None, *, add=False):
        """The update of pairs [..., N, N, c], of their type; pairs plus the update with `add`.

        mask [..., N, N] has a 1 for each pair and 0 for padding; axes in front of the last two are repeated as in NumPy.
        """
        if self._process != os.getpid():
            raise RuntimeError("the block was made before fork(), by another process: make it again in this one")
        arrays.refuse_gradients(pairs, mask)
        if len(pairs.shape) < 3:
            raise ValueError(f"pairs of shape {tuple(pairs.shape)}; expected [..., N, N, c]")
        functions = arrays.namespace(pairs)
        x = arrays.floats(pairs, "pairs", kept_types(pairs, self._precision))
        x = x.reshape((math.prod(x.shape[:-3]), *x.shape[-3:]))
        out = functions.empty(x.shape, dtype=x.dtype, **({"device": x.device} if arrays.is_torch(x) else {}))
        if mask is not None:
            mask = arrays.namespace(mask).broadcast_to(mask, pairs.shape[:-1]).reshape(x.shape[:-1])
            mask = mask.float() if arrays.is_torch(mask) else mask.astype("float32")
        if 0 not in x.shape:
            self.context.call("run", self._pointer, library.BlockCall, x, passed={"pairs": x, "mask": mask, "out": out},
                               add_pairs=int(add))
        return arrays.as_type_of(out, pairs).reshape(pairs.shape)
