"""Potentials of biogpu as a calculator of ASE (https://wiki.fysik.dtu.dk/ase), through libbiogpu_potential.so.

    from biogpu_calculator import BiogpuCalculator
    atoms.calc = BiogpuCalculator("matpes-pbe", device="cpu")
    atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()

The package biogpu beside it looks for the library in BIOGPU_POTENTIAL_LIBRARY, in its installation, and by the system's loader.
The total charge is atoms.info["charge"] or the argument charge, partial charges are atoms.arrays["partial_charges"].

A calculator can be copied, pickled and sent to other processes: copies share the loaded model, one computes at a time, and
a pickled one loads the model again where it is used first.
"""
import math
import os

import numpy
from ase.calculators.calculator import Calculator, PropertyNotImplementedError, all_changes
from ase.stress import full_3x3_to_voigt_6_stress
from biogpu.potential import Potential


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
            self._potential = Potential(**arguments)
        return super().set(**{key: wanted[key] for key in parameters})

    def _loaded(self):
        """The model, in this process."""
        if self._potential is None or self._potential.process != os.getpid():
            self._potential = Potential(**{key: self.parameters[key] for key in self._loaded_with})
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
        return self._loaded().cutoff

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
        box = atoms.cell.array if periodic else None
        computed = self._loaded().compute(atoms.numbers, atoms.positions, box, atoms.info.get("charge", self.parameters["charge"]),
                                          atoms.arrays.get("partial_charges"))
        self.results = {"energy": computed.energy, "free_energy": computed.energy, "forces": computed.forces}
        if periodic:
            self.results["stress"] = full_3x3_to_voigt_6_stress(computed.stress)
