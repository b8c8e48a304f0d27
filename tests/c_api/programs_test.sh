#!/usr/bin/env bash
# Programs that use libbiogpu_potential: the example in C, the calculator of ASE, the source for LAMMPS.
library=$(realpath "$4")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

crystals=$source_dir/tests/data/models/tensornet/matgl
charges=$source_dir/tests/data/models/tensornet/charges
mkdir -p include/biogpu
cp "$source_dir/lib/c_api/potential.h" "$source_dir/lib/c_api/block.h" include/biogpu/

# In C, against the command.
check "compiles as C99" cc -std=c99 -Wall -Wextra -Werror -pedantic -Iinclude "$source_dir/lib/c_api/example/energy.c" \
  "$library" "-Wl,-rpath,$(dirname "$library")" -o energy
printf '2\n\nSi 0 0 0\nSi 2.3 0 0\n' >pair.xyz
run infer energy -q --device cpu --forces --model "$crystals" pair.xyz
energy=$(tail -1 out.txt | cut -f 3)
./energy "$crystals" 14 2.3 >printed.txt
check "the energy of the command" grep -qx "energy $energy eV" printed.txt
check "and its force" grep -qE "force -?$(tail -1 out.txt | cut -f 4) eV/A" printed.txt
check "the same with a list of neighbours" grep -q "with a list: yes" printed.txt
check "an element that it does not know" bash -c "! ./energy '$crystals' 92 2 2>message.txt"
check "is one line" grep -q "^energy: atom 1 is U" message.txt
check "the other example compiles as C99" cc -std=c99 -Wall -Wextra -Werror -pedantic -Iinclude \
  "$source_dir/lib/c_api/example/attention.c" "$library" "-Wl,-rpath,$(dirname "$library")" -o attention
./attention 7 2 >printed.txt
check "attends to tokens" grep -qE "^range -[0-9.]+ to [0-9.]+$" printed.txt
./attention 7 3 >other.txt
check "and to others with more padding" bash -c "! cmp -s printed.txt other.txt"
check "too much padding" bash -c "! ./attention 7 8 2>message.txt && grep -q '^attention: expected' message.txt"
check "a block with its weights compiles as C99" cc -std=c99 -Wall -Wextra -Werror -pedantic -Iinclude \
  "$source_dir/lib/c_api/example/pair_bias_block.c" "$library" "-Wl,-rpath,$(dirname "$library")" -o pair_bias_block
./pair_bias_block 7 2 >printed.txt
check "prints a token, as the page has it" grep -qxF "$(grep -m 1 "^first token" "$source_dir/docs/call_blocks.md")" printed.txt
./pair_bias_block 7 3 >other.txt
check "and another with more padding" bash -c "! cmp -s printed.txt other.txt"
check "more padding than tokens" bash -c "! ./pair_bias_block 7 8 2>message.txt && grep -q '^pair_bias_block: expected' message.txt"
# What is linked in is hidden.
check "exports its functions alone" bash -c "[ \$(nm -D --defined-only '$library' | grep -c ' T biogpu_potential_') -eq 12 ] &&
  [ \$(nm -D --defined-only '$library' | grep -c ' T biogpu_block_') -eq 11 ] &&
  ! nm -D --defined-only '$library' | grep -v ' T biogpu_\(potential\|block\)_'"

# A program that unloads the library while threads of oneTBB wait in it.
cat >unload.c <<'END'
#include <biogpu/potential.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  if (count != 3 || library == NULL) return 1;
  int (*load)(const char*, const char*, const char*, int, biogpu_potential**);
  int (*compute)(biogpu_potential*, const biogpu_atoms*, double*, double*, double*);
  void (*release)(biogpu_potential*);
  *(void**)&load = dlsym(library, "biogpu_potential_load");
  *(void**)&compute = dlsym(library, "biogpu_potential_compute");
  *(void**)&release = dlsym(library, "biogpu_potential_free");
  biogpu_potential* potential;
  enum { kAtoms = 300 };
  int32_t numbers[kAtoms];
  double positions[3 * kAtoms], energy;
  for (int i = 0; i < kAtoms; ++i) {
    numbers[i] = 14;
    for (int k = 0; k < 3; ++k) positions[3 * i + k] = k == 0 ? 2.3 * i : 0.1 * (i % 7);
  }
  const biogpu_atoms atoms = {kAtoms, numbers, positions, NULL, NULL, NULL};
  if (load(words[2], "cpu", "auto", 4, &potential) != 0) return 2;
  if (compute(potential, &atoms, &energy, NULL, NULL) != 0) return 3;
  release(potential);
  dlclose(library);
  usleep(300000);
  puts("unloaded");
  return 0;
}
END
check "compiles a program that unloads" cc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude unload.c -ldl -o unload
for _ in 1 2 3; do
  check "ends well after dlclose" bash -c "./unload '$library' '$crystals' 2>unload.err | grep -qx unloaded"
  check "writes nothing to standard error" test ! -s unload.err
done

python=python3
"$python" -c "import ase" 2>/dev/null || python=${BIOGPU_TORCH_PYTHON:-python3}
if "$python" -c "import ase" 2>/dev/null; then
  references=$source_dir/tests/data/models/tensornet/so3_old_rows
  check "ASE" env BIOGPU_POTENTIAL_LIBRARY="$library" PYTHONPATH="$source_dir/scripts/ase:$source_dir/scripts/python" \
    PYTHONDONTWRITEBYTECODE=1 "$python" - "$crystals" "$energy" "$charges" "$references" <<'END'
import copy
import gc
import multiprocessing
import pickle
import sys
import numpy
from ase import Atoms
from ase.build import bulk
from biogpu_calculator import BiogpuCalculator
calculator = BiogpuCalculator(sys.argv[1], precision="fp64")
pair = Atoms("Si2", [[0, 0, 0], [2.3, 0, 0]], calculator=calculator)
assert abs(pair.get_potential_energy() - float(sys.argv[2])) < 1e-5
crystal = bulk("Si")
crystal.rattle(0.05, seed=1)
crystal.calc = calculator
forces, stress = crystal.get_forces(), crystal.get_stress(voigt=False)
step, energies = 1e-4, {}
for sign in (1, -1):
    moved = crystal.copy()
    moved.positions[1, 2] += sign * step
    moved.calc = calculator
    energies[sign] = moved.get_potential_energy()
assert abs(forces[1, 2] + (energies[1] - energies[-1]) / (2 * step)) < 1e-5
for sign in (1, -1):
    bent = crystal.copy()
    strain = numpy.eye(3)
    strain[0, 0] += sign * step
    bent.set_cell(crystal.cell.array @ strain, scale_atoms=True)
    bent.calc = calculator
    energies[sign] = bent.get_potential_energy()
assert abs(stress[0, 0] - (energies[1] - energies[-1]) / (2 * step * crystal.get_volume())) < 1e-6
ion = Atoms("OH", [[0, 0, 0], [0.97, 0, 0]], info={"charge": 0}, calculator=BiogpuCalculator(sys.argv[3]))
neutral = ion.get_potential_energy()
assert not ion.calc.check_state(ion)
ion.info["charge"] = -1
assert ion.calc.check_state(ion) == ["charge"]
assert abs(ion.get_potential_energy() - neutral) > 1e-4
ion.info["charge"] = 0
assert ion.get_potential_energy() == neutral

# Parameters that change, and names that are none.
def fails(kind, function):
    try:
        function()
    except kind:
        return True
    return False

del ion.info["charge"]
ion.calc = BiogpuCalculator(sys.argv[3], threads=1, charge=-1)
charged = ion.get_potential_energy()
assert ion.calc.set(charge=0) == {"charge": 0} and ion.get_potential_energy() == neutral
assert ion.calc.set(charge=0) == {} and ion.calc.results
ion.calc.set(charge=-1)
assert ion.get_potential_energy() == charged
ion.calc.set(precision="fp64", threads=2)
assert ion.get_potential_energy() != charged and abs(ion.get_potential_energy() - charged) < 1e-4
assert fails(TypeError, lambda: BiogpuCalculator(sys.argv[1], thread=1))
assert fails(TypeError, lambda: BiogpuCalculator(sys.argv[1], presicion="fp64"))
assert fails(TypeError, lambda: ion.calc.set(chrage=1))
assert fails(ValueError, lambda: ion.calc.set(charge=float("nan")))
before = ion.get_potential_energy()
assert fails(RuntimeError, lambda: ion.calc.set(precision="fp8")) and ion.get_potential_energy() == before

# Energies of free atoms: as the checkpoint says, left out, added.
pair = Atoms("OH", [[0, 0, 0], [0, 0, 1.4]])
energies = {}
for which in (None, True, False):
    pair.calc = BiogpuCalculator(sys.argv[4], atom_references=which)
    energies[which] = pair.get_potential_energy()
assert energies[None] == energies[True] and abs(energies[True] - energies[False]) > 1e-3
pair.calc.set(atom_references=None)
assert pair.get_potential_energy() == energies[None]

# Copies outlive what they were copied from, and change alone.
first = BiogpuCalculator(sys.argv[3], threads=1, charge=0)
copies = [copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))]
del first
gc.collect()
for one in copies:
    water = Atoms("OH", [[0, 0, 0], [0.97, 0, 0]], calculator=one)
    assert abs(water.get_potential_energy() - neutral) < 1e-9
    one.set(charge=-1)
    assert abs(water.get_potential_energy() - charged) < 1e-9
    water.rattle(0.05, seed=2)
    forces = water.get_forces()
    for other in (copy.deepcopy(water), pickle.loads(pickle.dumps(water))):
        assert other.calc is not one and (other.get_forces() == forces).all()
        other.rattle(0.1, seed=3)
        assert abs(other.get_forces() - forces).max() > 1e-3 and (water.get_forces() == forces).all()
copies[0].set(charge=0)
assert copies[1].parameters["charge"] == -1

def energy_of(atoms):
    return atoms.get_potential_energy()

with multiprocessing.get_context("fork").Pool(2) as pool:
    atoms = [Atoms("OH", [[0, 0, 0], [0.97, 0, 0.01 * i]], calculator=copies[0]) for i in range(4)]
    assert pool.map(energy_of, atoms) == [energy_of(one) for one in atoms]
END
else
  echo "SKIPPED: no ASE for the calculator"
fi
headers=/usr/include/lammps
if [ -e $headers/pair.h ] && command -v mpicxx >/dev/null; then
  check "LAMMPS" mpicxx -std=c++17 -fsyntax-only -I"$source_dir/scripts/lammps" -Iinclude -I$headers \
    "$source_dir/scripts/lammps/pair_biogpu.cpp"
else
  echo "SKIPPED: no headers of LAMMPS"
fi
finish
