#!/usr/bin/env bash
# Programs that use libbiogpu_potential: the example in C, the calculator of ASE, the source for LAMMPS.
library=$(realpath "$4")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

crystals=$source_dir/tests/data/models/tensornet/matgl
charges=$source_dir/tests/data/models/tensornet/charges
mkdir -p include/biogpu
cp "$source_dir/lib/c_api/potential.h" include/biogpu/

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
# What is linked in is hidden.
check "exports its functions alone" bash -c "[ \$(nm -D --defined-only '$library' | grep -c ' T biogpu_potential_') -eq 11 ] &&
  ! nm -D --defined-only '$library' | grep -v ' T biogpu_potential_'"

if python3 -c "import ase" 2>/dev/null; then
  check "ASE" env BIOGPU_POTENTIAL_LIBRARY="$library" PYTHONPATH="$source_dir/scripts/ase" python3 - "$crystals" "$energy" "$charges" <<'END'
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
