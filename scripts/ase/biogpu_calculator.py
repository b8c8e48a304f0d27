"""Potentials of biogpu as a calculator of ASE (https://wiki.fysik.dtu.dk/ase), through libbiogpu_potential.so.

    from biogpu_calculator import BiogpuCalculator
    atoms.calc = BiogpuCalculator("matpes-pbe", device="cpu")
    atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()

The library is looked for in BIOGPU_POTENTIAL_LIBRARY, next to this file's installation, and by the system's loader.
The total charge is atoms.info["charge"] or the argument charge, partial charges are atoms.arrays["partial_charges"].

A calculator can be copied, pickled and sent to other processes: copies share the loaded model, one computes at a time, and
a pickled one loads the model again where it is used first.
"""
import ctypes
import functools
import math
import os
import pathlib
import threading

import numpy
from ase.calculators.calculator import Calculator, PropertyNotImplementedError, all_changes
from ase.stress import full_3x3_to_voigt_6_stress

VERSION = 1


class _Atoms(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int64), ("atomic_numbers", ctypes.c_void_p), ("positions", ctypes.c_void_p),
                ("box", ctypes.c_void_p), ("charge", ctypes.c_void_p), ("neighbours", ctypes.c_void_p)]


@functools.lru_cache(maxsize=None)
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
    library.biogpu_potential_load_with_references.argtypes = [
        ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
    library.biogpu_potential_compute_with_charges.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Atoms), ctypes.c_void_p,
                                                              ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    for function in (library.biogpu_potential_free, library.biogpu_potential_cutoff):
        function.argtypes = [ctypes.c_void_p]
    library.biogpu_potential_free.restype = None
    if library.biogpu_potential_version() != VERSION:
        raise RuntimeError(f"{name} has another version of the interface than {VERSION}")
    return library


class _Potential:
    """A loaded model, freed with the last calculator that has it."""

    def __init__(self, model, device, precision, threads, atom_references):
        self.library = _open_library()
        self.lock = threading.Lock()  # a potential is used by one thread at a time
        self.process = os.getpid()
        self.pointer = ctypes.c_void_p()
        references = -1 if atom_references is None else int(bool(atom_references))
        self.check(self.library.biogpu_potential_load_with_references(
            os.fsencode(model), device.encode(), precision.encode(), threads, references, ctypes.byref(self.pointer)))

    def __del__(self):
        # A forked process has the memory of another one's threads.
        if getattr(self, "pointer", None) and self.process == os.getpid():
            self.library.biogpu_potential_free(self.pointer)
            self.pointer = None

    def check(self, code):
        if code != 0:
            raise RuntimeError(f"biogpu: {self.library.biogpu_potential_error().decode()}")


class BiogpuCalculator(Calculator):
    """Energy, forces and, in a periodic box, stress; eV and Angstrom.

    model            folder of the model
    device           "cpu", "gpu" or a GPU's number
    precision        "auto", "fp32" or "fp64"
    threads          of the CPU, 0 for all
    charge           total charge of atoms whose info has none
    atom_references  whether the energies of free atoms that a checkpoint of torchmd-net has are added; None: as it says
    """

    implemented_properties = ["energy", "free_energy", "forces", "stress"]
    default_parameters = {"model": None, "device": "cpu", "precision": "auto", "threads": 0, "charge": None,
                          "atom_references": None}
    discard_results_on_any_change = True
    _loaded_with = ("model", "device", "precision", "threads", "atom_references")

    def __init__(self, model, device="cpu", precision="auto", threads=0, charge=None, atom_references=None, *, label=None,
                 atoms=None, directory="."):
        self._potential = None
        super().__init__(label=label, atoms=atoms, directory=directory, model=model, device=device, precision=precision,
                         threads=threads, charge=charge, atom_references=atom_references)

    def set(self, **parameters):
        """Changes parameters, by their names above; what was computed with others is forgotten."""
        unknown = sorted(set(parameters) - set(self.default_parameters))
        if unknown:
            raise TypeError(f"BiogpuCalculator has no parameter {', '.join(unknown)}; it has "
                            f"{', '.join(self.default_parameters)}")
        wanted = {**self.parameters, **parameters}
        # As a path that other processes find too.
        wanted["model"] = os.path.abspath(os.fspath(wanted["model"]))
        wanted["device"] = str(wanted["device"])
        charge = wanted["charge"]
        if charge is not None and not math.isfinite(charge):
            raise ValueError(f"the charge is {charge}; expected a number of elementary charges")
        arguments = {key: wanted[key] for key in self._loaded_with}
        if self._potential is None or arguments != {key: self.parameters.get(key) for key in self._loaded_with}:
            self._potential = _Potential(**arguments)
        return super().set(**{key: wanted[key] for key in parameters})

    def _loaded(self):
        """The model, in this process."""
        if self._potential is None or self._potential.process != os.getpid():
            self._potential = _Potential(**{key: self.parameters[key] for key in self._loaded_with})
        return self._potential

    def __copy__(self):
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied.parameters = type(self.parameters)(self.parameters)
        copied.results = dict(self.results)
        copied.atoms = None if self.atoms is None else self.atoms.copy()
        return copied

    def __deepcopy__(self, memo):
        copied = self.__copy__()
        memo[id(self)] = copied
        copied.results = {key: numpy.copy(value) if isinstance(value, numpy.ndarray) else value
                          for key, value in self.results.items()}
        return copied

    def __getstate__(self):
        return {**self.__dict__, "_potential": None}

    @property
    def cutoff(self):
        """Distance within which atoms see each other, in Angstrom."""
        potential = self._loaded()
        return potential.library.biogpu_potential_cutoff(potential.pointer)

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
        charge = atoms.info.get("charge", self.parameters["charge"])
        charges = numpy.array([0.0 if charge is None else charge], dtype=numpy.float64)
        energy, forces, virial = numpy.zeros(1), numpy.zeros((len(atoms), 3)), numpy.zeros((3, 3))
        system = _Atoms(len(atoms), numbers.ctypes.data, positions.ctypes.data, box.ctypes.data if periodic else None,
                        None if charge is None else charges.ctypes.data, None)
        partial = atoms.arrays.get("partial_charges")
        if partial is not None:
            partial = numpy.ascontiguousarray(partial, dtype=numpy.float64)
            if partial.shape != (len(atoms),):
                raise ValueError(f"partial_charges of shape {partial.shape}; expected one number an atom")
        potential = self._loaded()
        with potential.lock:
            potential.check(potential.library.biogpu_potential_compute_with_charges(
                potential.pointer, ctypes.byref(system), None if partial is None else partial.ctypes.data,
                energy.ctypes.data, forces.ctypes.data, virial.ctypes.data if periodic else None))
        self.results = {"energy": float(energy[0]), "free_energy": float(energy[0]), "forces": forces}
        if periodic:
            self.results["stress"] = full_3x3_to_voigt_6_stress(virial / atoms.get_volume())
