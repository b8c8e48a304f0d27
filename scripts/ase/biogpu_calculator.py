"""Potentials of biogpu as a calculator of ASE (https://wiki.fysik.dtu.dk/ase), through libbiogpu_potential.so.

    from biogpu_calculator import BiogpuCalculator
    atoms.calc = BiogpuCalculator("matpes-pbe", device="cpu")
    atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()

The library is looked for in BIOGPU_POTENTIAL_LIBRARY, next to this file's installation, and by the system's loader.
The total charge is atoms.info["charge"] or the argument charge, partial charges are atoms.arrays["partial_charges"].
"""
import ctypes
import os
import pathlib

import numpy
from ase.calculators.calculator import Calculator, PropertyNotImplementedError, all_changes
from ase.stress import full_3x3_to_voigt_6_stress

VERSION = 1


class _Atoms(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int64), ("atomic_numbers", ctypes.c_void_p), ("positions", ctypes.c_void_p),
                ("box", ctypes.c_void_p), ("charge", ctypes.c_void_p), ("neighbours", ctypes.c_void_p)]


def _open_library():
    names = [os.environ.get("BIOGPU_POTENTIAL_LIBRARY", ""),
             str(pathlib.Path(__file__).resolve().parents[3] / "lib" / "libbiogpu_potential.so")]
    for name in names:
        if name and os.path.exists(name):
            break
    else:
        name = "libbiogpu_potential.so.1"
    library = ctypes.CDLL(name)
    library.biogpu_potential_error.restype = ctypes.c_char_p
    library.biogpu_potential_cutoff.restype = ctypes.c_double
    library.biogpu_potential_load.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
                                              ctypes.POINTER(ctypes.c_void_p)]
    library.biogpu_potential_compute_with_charges.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Atoms), ctypes.c_void_p,
                                                              ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    for function in (library.biogpu_potential_free, library.biogpu_potential_cutoff):
        function.argtypes = [ctypes.c_void_p]
    library.biogpu_potential_free.restype = None
    if library.biogpu_potential_version() != VERSION:
        raise RuntimeError(f"{name} has another version of the interface than {VERSION}")
    return library


class BiogpuCalculator(Calculator):
    """Energy, forces and, in a periodic box, stress; eV and Angstrom."""

    implemented_properties = ["energy", "free_energy", "forces", "stress"]

    def __init__(self, model, device="cpu", precision="auto", threads=0, charge=None, **parameters):
        super().__init__(**parameters)
        self._library = _open_library()
        self._charge = charge
        self._potential = ctypes.c_void_p()
        self._check(self._library.biogpu_potential_load(os.fsencode(model), device.encode(), precision.encode(),
                                                        threads, ctypes.byref(self._potential)))

    def __del__(self):
        if getattr(self, "_potential", None):
            self._library.biogpu_potential_free(self._potential)
            self._potential = None

    def _check(self, code):
        if code != 0:
            raise RuntimeError(f"biogpu: {self._library.biogpu_potential_error().decode()}")

    @property
    def cutoff(self):
        """Distance within which atoms see each other, in Angstrom."""
        return self._library.biogpu_potential_cutoff(self._potential)

    def check_state(self, atoms, tol=1e-15):
        """What has changed since the last calculation; ASE itself does not look at these charges."""
        changes = super().check_state(atoms, tol=tol)
        if self.atoms is not None and atoms.info.get("charge") != self.atoms.info.get("charge"):
            changes.append("charge")
        partial = [x.arrays.get("partial_charges", ()) for x in (atoms, self.atoms) if x is not None]
        if len(partial) == 2 and not numpy.array_equal(*partial):
            changes.append("partial_charges")
        return changes

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        super().calculate(atoms, properties, system_changes)
        atoms = self.atoms
        periodic = bool(atoms.pbc.all())
        if atoms.pbc.any() and not periodic:
            raise ValueError("periodic in some directions; expected all or none")
        if "stress" in properties and not periodic:
            raise PropertyNotImplementedError("a stress needs a periodic box")
        numbers = numpy.ascontiguousarray(atoms.numbers, dtype=numpy.int32)
        positions = numpy.ascontiguousarray(atoms.positions, dtype=numpy.float64)
        box = numpy.ascontiguousarray(atoms.cell.array, dtype=numpy.float64)
        charge = atoms.info.get("charge", self._charge)
        charges = numpy.array([0.0 if charge is None else charge], dtype=numpy.float64)
        energy, forces, virial = numpy.zeros(1), numpy.zeros((len(atoms), 3)), numpy.zeros((3, 3))
        system = _Atoms(len(atoms), numbers.ctypes.data, positions.ctypes.data, box.ctypes.data if periodic else None,
                        None if charge is None else charges.ctypes.data, None)
        partial = atoms.arrays.get("partial_charges")
        if partial is not None:
            partial = numpy.ascontiguousarray(partial, dtype=numpy.float64)
            if partial.shape != (len(atoms),):
                raise ValueError(f"partial_charges of shape {partial.shape}; expected one number an atom")
        self._check(self._library.biogpu_potential_compute_with_charges(
            self._potential, ctypes.byref(system), None if partial is None else partial.ctypes.data,
            energy.ctypes.data, forces.ctypes.data, virial.ctypes.data if periodic else None))
        self.results = {"energy": float(energy[0]), "free_energy": float(energy[0]), "forces": forces}
        if periodic:
            self.results["stress"] = full_3x3_to_voigt_6_stress(virial / atoms.get_volume())
