"""Arrays of NumPy and PyTorch as the C library takes them: their memory by DLPack, or by the buffer protocol."""
import ctypes
import math
import sys

import numpy

from . import library

# Kinds of devices in DLPack: the host's memory, pinned too; memory of GPUs.
_HOST, _GPUS = (1, 3, 11), (2, 10, 13)
_TYPES = {(2, 32): library.F32, (2, 16): library.F16, (4, 16): library.BF16, (1, 8): library.U8}
_BUFFER_TYPES = {"f": library.F32, "e": library.F16, "B": library.U8}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("n_axes", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
                ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


_python = ctypes.pythonapi
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
_python.PyBuffer_Release.argtypes = [ctypes.POINTER(_Buffer)]
_STRIDES_AND_FORMAT = 0x10 | 0x8 | 0x4  # PyBUF_STRIDES | PyBUF_FORMAT


def is_torch(x):
    return hasattr(x, "detach")


def namespace(x):
    """The module that has functions for arrays of this kind."""
    return sys.modules["torch"] if is_torch(x) else numpy


def place_of(x):
    """Where the array is: "cpu", a GPU's number, or the name of another device."""
    if is_torch(x):
        kind = x.device.type
        return kind if kind == "cpu" else str(x.device.index or 0) if kind == "cuda" else str(x.device)
    if isinstance(x, numpy.ndarray) or not hasattr(x, "__dlpack_device__"):
        return "cpu"
    kind, number = x.__dlpack_device__()
    return "cpu" if kind in _HOST else str(number) if kind in _GPUS else f"device {number} of DLPack's kind {kind}"


def shown(place):
    return "the CPU" if place == "cpu" else f"GPU {place}" if place.isdigit() else place


def require_place(x, name, place):
    """Addresses of one device mean nothing, or something else, to another."""
    if x is not None and place_of(x) != place:
        raise ValueError(f"{name} is on {shown(place_of(x))}; expected {shown(place)}")


def _fill(array, data, kind, shape, strides):
    array.data, array.type, array.n_axes = data, kind, len(shape)
    if len(shape) > 5:
        raise ValueError(f"an array of {len(shape)} axes; expected up to 5")
    for axis, (extent, stride) in enumerate(zip(shape, strides)):
        array.shape[axis], array.stride[axis] = extent, stride


class Passed:
    """An array that is passed to a call on a device: `tensor`, valid as long as this object is."""

    def __init__(self, x, name, place):
        self.tensor = library.Tensor()
        self._keep = x
        if x is None:
            return
        require_place(x, name, place)
        if is_torch(x) or not isinstance(x, numpy.ndarray):
            self._by_dlpack(x.detach() if is_torch(x) else x, name)
        else:
            self._by_buffer(x, name)

    def _by_dlpack(self, x, name):
        if not hasattr(x, "__dlpack__"):
            raise TypeError(f"{name} is {type(x).__name__}; expected an array that has __dlpack__, or one of NumPy")
        self._keep = (x, x.__dlpack__(stream=-1) if x.__dlpack_device__()[0] in _GPUS else x.__dlpack__())
        dl = _DLTensor.from_address(_python.PyCapsule_GetPointer(self._keep[1], b"dltensor"))
        kind = _TYPES.get((dl.code, dl.bits))
        if kind is None or dl.lanes != 1:
            raise TypeError(f"{name} has numbers of {dl.bits} bits and kind {dl.code}; expected float32, float16, bfloat16")
        shape = [dl.shape[axis] for axis in range(dl.n_axes)]
        if dl.strides:
            strides = [dl.strides[axis] for axis in range(dl.n_axes)]
        else:
            strides = [int(numpy.prod(shape[axis + 1:])) for axis in range(dl.n_axes)]
        _fill(self.tensor, (dl.data or 0) + dl.byte_offset or None, kind, shape, strides)

    def _by_buffer(self, x, name):
        view = _Buffer()
        _python.PyObject_GetBuffer(x, ctypes.byref(view), _STRIDES_AND_FORMAT)
        try:
            kind = _BUFFER_TYPES.get(view.format.decode())
            strides = [view.strides[axis] for axis in range(view.ndim)]
            if kind is None or any(stride % view.itemsize for stride in strides):
                raise TypeError(f"{name} is {x.dtype}; expected float32 or float16, in whole steps")
            _fill(self.tensor, view.buf, kind, [view.shape[axis] for axis in range(view.ndim)],
                  [stride // view.itemsize for stride in strides])
        finally:
            _python.PyBuffer_Release(ctypes.byref(view))


def type_name(x):
    return str(x.dtype).rsplit(".", 1)[-1]


def floats(x, name, keep=()):
    """The array in fp32, or as it is where it is of a type in `keep`."""
    kind = type_name(x)
    if kind in ("float32", *keep):
        return x
    if kind not in ("float16", "bfloat16"):
        raise TypeError(f"{name} is {kind}; expected float32, float16 or bfloat16")
    return x.float() if is_torch(x) else x.astype(numpy.float32)


def is_set(x):
    """A mask as bytes: 1 where it is not 0."""
    return (x != 0).byte() if is_torch(x) else (x != 0).astype(numpy.uint8)


def with_batches(x, name, batches, n_axes):
    """The array with one axis for those of batches, which are repeated as in NumPy, in front of its last n_axes; without one
    where it is the same for all."""
    own = tuple(x.shape[-n_axes:])
    if math.prod(x.shape[:-n_axes]) == 1:
        return x.reshape(own)
    given = tuple(x.shape[:-n_axes])
    if len(given) > len(batches) or any(one not in (1, all_of) for one, all_of in zip(reversed(given), reversed(batches))):
        raise ValueError(f"{name} of shape {tuple(x.shape)}; expected up to the axes {batches} of batches, in front of {own}")
    return namespace(x).broadcast_to(x, (*batches, *own)).reshape((math.prod(batches), *own))


def as_type_of(x, like):
    return x.to(like.dtype) if is_torch(x) else x.astype(like.dtype, copy=False)


def host_copy(x):
    """A copy in fp32 in the host's memory."""
    if is_torch(x):
        x = x.detach().float().cpu().numpy()
    return numpy.array(x, dtype=numpy.float32, order="C")


def device_of(x):
    """What biogpu_block_open() calls the array's device."""
    place = place_of(x)
    if place != "cpu" and not (place.isdigit() and is_torch(x)):
        raise ValueError(f"{type(x).__name__} on {shown(place)}; expected one on the CPU, or a PyTorch tensor on a GPU")
    return place


def device_of_all(weights):
    """That of all weights; the CPU where there is none."""
    devices = sorted({device_of(weight) for weight in weights.values()}) or ["cpu"]
    if len(devices) > 1:
        raise ValueError(f"weights on {' and '.join(map(shown, devices))}; expected one device")
    return devices[0]


def stream_of(x):
    """The stream that the calling program queues its work for this array in."""
    if device_of(x) == "cpu":
        return None
    return namespace(x).cuda.current_stream(x.device).cuda_stream or None


def workspace_like(x, n_bytes):
    """Memory on the array's device, and the first address in it that is a multiple of 256."""
    if is_torch(x):
        memory = x.new_empty(n_bytes + 256, dtype=namespace(x).uint8)
        first = memory.data_ptr()
    else:
        memory = numpy.empty(n_bytes + 256, numpy.uint8)
        first = memory.ctypes.data
    return memory, (first + 255) // 256 * 256


def refuse_gradients(*arrays):
    for x in arrays:
        if x is not None and is_torch(x) and x.requires_grad and namespace(x).is_grad_enabled():
            raise RuntimeError("biogpu computes no gradients: call it under torch.no_grad() or torch.inference_mode()")
