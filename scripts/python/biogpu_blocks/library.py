"""The C library: its structures and functions (biogpu/block.h)."""
import ctypes
import functools

from biogpu.installation import library_name

VERSION = 2
F32, F16, BF16, U8 = range(4)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("n_axes", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 5), ("stride", ctypes.c_int64 * 5)]


class Weight(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", Tensor)]


_PLACE = [("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t), ("stream", ctypes.c_void_p)]


class AttentionCall(ctypes.Structure):
    _fields_ = [*((name, Tensor) for name in ("q", "k", "v", "bias", "mask", "out")), ("scale", ctypes.c_float), *_PLACE]


class Input(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", Tensor)]


class BlockCall(ctypes.Structure):
    _fields_ = [("inputs", ctypes.POINTER(Input)), ("n_inputs", ctypes.c_int32), ("add", ctypes.c_int32), ("out", Tensor),
                *_PLACE]


@functools.lru_cache(maxsize=None)
def library():
    name = library_name("BIOGPU_BLOCK_LIBRARY")
    opened = ctypes.CDLL(name)
    opened.biogpu_block_error.restype = ctypes.c_char_p
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)
    arguments = {
        "open": [text, text, ctypes.c_int, ctypes.POINTER(pointer)],
        "close": [pointer],
        "device": [pointer],
        "make": [pointer, text, ctypes.POINTER(Weight), ctypes.c_int, ctypes.c_float, ctypes.POINTER(pointer)],
        "free": [pointer],
        "attention": [pointer, ctypes.POINTER(AttentionCall)],
        "attention_workspace": [pointer, ctypes.POINTER(AttentionCall), size],
        "run": [pointer, ctypes.POINTER(BlockCall)],
        "workspace": [pointer, ctypes.POINTER(BlockCall), size],
    }
    for function, types in arguments.items():
        getattr(opened, "biogpu_block_" + function).argtypes = types
    opened.biogpu_block_device.restype = text
    opened.biogpu_block_close.restype = opened.biogpu_block_free.restype = None
    if opened.biogpu_block_version() != VERSION:
        raise RuntimeError(f"{name} has another version of the interface than {VERSION}")
    return opened


def check(code):
    """Raises what a call's code tells: ValueError for wrong use and bad weights, MemoryError, else RuntimeError."""
    if code != 0:
        kind = {2: ValueError, 3: ValueError, 5: MemoryError, 137: MemoryError}.get(code, RuntimeError)
        raise kind(f"biogpu: {library().biogpu_block_error().decode()}")
