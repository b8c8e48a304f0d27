"""Energies and forces of atoms, through libbiogpu_potential.so (biogpu/potential.h)."""
import collections
import ctypes
import functools
import os
import threading

import numpy

from .installation import library_name
from .program import BiogpuError

VERSION = 1

Result = collections.namedtuple("Result", ["energy", "forces", "stress"])
Result.__doc__ = "energy in eV, forces [n, 3] in eV/A, stress [3, 3] in eV/A^3 with tension positive (None without a box)."


class _Atoms(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int64), ("atomic_numbers", ctypes.c_void_p), ("positions", ctypes.c_void_p),
                ("box", ctypes.c_void_p), ("charge", ctypes.c_void_p), ("neighbours", ctypes.c_void_p)]


@functools.lru_cache(maxsize=None)
def _open_library():
    name = library_name("BIOGPU_POTENTIAL_LIBRARY")
    library = ctypes.CDLL(name)
    library.biogpu_potential_error.restype = ctypes.c_char_p
    library.biogpu_potential_cutoff.restype = ctypes.c_double
    library.biogpu_potential_load_with_references.argtypes = [
        ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
    library.biogpu_potential_compute_with_charges.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Atoms), ctypes.c_void_p,
                                                              ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    for function in (library.biogpu_potential_free, library.biogpu_potential_cutoff):
        function.argtypes = [ctypes.c_void_p]
    library.biogpu_potential_free.restype = None
    library.biogpu_potential_atomic_number.argtypes = [ctypes.c_char_p]
    if library.biogpu_potential_version() != VERSION:
        raise RuntimeError(f"{name} has another version of the interface than {VERSION}")
    return library


def _numbers_of(atoms):
    """Atomic numbers, of numbers or of symbols."""
    atoms = numpy.asarray(atoms)
    if atoms.dtype.kind not in "US":
        return numpy.ascontiguousarray(atoms, dtype=numpy.int32)
    numbers = [_open_library().biogpu_potential_atomic_number(str(symbol).encode()) for symbol in atoms.astype(str)]
    if 0 in numbers:
        raise ValueError(f"'{atoms.astype(str)[numbers.index(0)]}' is no element")
    return numpy.array(numbers, dtype=numpy.int32)


class Potential:
    """A loaded model, for many calls; one call computes at a time.

    model            folder of the model
    device           "cpu", "gpu" or a GPU's number
    precision        "auto", "fp32" or "fp64"
    threads          of the CPU, 0 for all
    atom_references  whether the energies of free atoms that a checkpoint of torchmd-net has are added; None: as it says
    """

    def __init__(self, model, device="cpu", precision="auto", threads=0, atom_references=None):
        self.library = _open_library()
        self.lock = threading.Lock()  # a potential is used by one thread at a time
        self.process = os.getpid()
        self.pointer = ctypes.c_void_p()
        references = -1 if atom_references is None else int(bool(atom_references))
        self._check(self.library.biogpu_potential_load_with_references(
            os.fsencode(model), str(device).encode(), precision.encode(), threads, references, ctypes.byref(self.pointer)))

    def __del__(self):
        # A forked process has the memory of another one's threads.
        if getattr(self, "pointer", None) and self.process == os.getpid():
            self.library.biogpu_potential_free(self.pointer)
            self.pointer = None

    def _check(self, code):
        if code != 0:
            raise BiogpuError(f"biogpu: {self.library.biogpu_potential_error().decode()}", code)

    @property
    def cutoff(self):
        """Distance within which atoms see each other, in Angstrom."""
        return self.library.biogpu_potential_cutoff(self.pointer)

    def compute(self, atoms, positions, box=None, charge=None, partial_charges=None):
        """Energy, forces and stress. atoms: atomic numbers or symbols [n]; positions [n, 3] in Angstrom; box: vectors [3, 3] of a
        box that is periodic in all directions; charge: total; partial_charges [n]. Arrays of int32 and float64 are not copied."""
        numbers = _numbers_of(atoms)
        positions = _float64(positions, (len(numbers), 3), "positions")
        box = None if box is None else _float64(box, (3, 3), "box")
        charge = None if charge is None else numpy.array([charge], dtype=numpy.float64)
        partial = None if partial_charges is None else _float64(partial_charges, (len(numbers),), "partial_charges")
        energy, forces, virial = numpy.zeros(1), numpy.zeros((len(numbers), 3)), numpy.zeros((3, 3))
        system = _Atoms(len(numbers), numbers.ctypes.data, positions.ctypes.data, _address(box), _address(charge), None)
        with self.lock:
            self._check(self.library.biogpu_potential_compute_with_charges(
                self.pointer, ctypes.byref(system), _address(partial), energy.ctypes.data, forces.ctypes.data,
                None if box is None else virial.ctypes.data))
        return Result(float(energy[0]), forces, None if box is None else virial / abs(numpy.linalg.det(box)))


def _address(array):
    return None if array is None else array.ctypes.data


def _float64(values, shape, name):
    array = numpy.ascontiguousarray(values, dtype=numpy.float64)
    if array.shape != shape:
        raise ValueError(f"{name} of shape {array.shape}; expected {shape}")
    return array


def energy(atoms, positions, model, box=None, charge=None, partial_charges=None, **options):
    """Energy, forces and stress of one structure: Potential(model, **options).compute(...). Several structures want one Potential."""
    return Potential(model, **options).compute(atoms, positions, box, charge, partial_charges)
