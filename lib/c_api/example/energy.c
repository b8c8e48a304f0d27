/* Energy and forces of two atoms: the use of biogpu/potential.h in C.
 *
 *   cc energy.c -lbiogpu_potential -o energy && ./energy FOLDER ATOMIC_NUMBER DISTANCE
 */
#include <biogpu/potential.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(void) {
  fprintf(stderr, "energy: %s\n", biogpu_potential_error());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: energy FOLDER ATOMIC_NUMBER DISTANCE\n");
    return 2;
  }
  biogpu_potential* potential = NULL;
  if (biogpu_potential_load(argv[1], "cpu", "auto", 1, &potential) != 0) return fail();

  const int32_t element = atoi(argv[2]);
  const int32_t numbers[2] = {element, element};
  const double positions[6] = {0, 0, 0, atof(argv[3]), 0, 0};
  const double charge = 0;
  biogpu_atoms atoms = {2, numbers, positions, NULL, &charge, NULL};
  double energy = 0, forces[6], virial[9], listed = 0;
  if (biogpu_potential_compute(potential, &atoms, &energy, forces, virial) != 0) return fail();

  /* The same with a list of neighbours of the program's own. */
  const int32_t starts[3] = {0, 1, 2}, others[2] = {1, 0};
  const biogpu_neighbours neighbours = {biogpu_potential_cutoff(potential), starts, others, NULL};
  atoms.neighbours = &neighbours;
  if (biogpu_potential_compute(potential, &atoms, &listed, NULL, NULL) != 0) return fail();

  printf("energy %.8f eV\nforce %.8f eV/A\nvirial %.8f eV\nsame with a list: %s\n", energy,
         forces[3], virial[0], energy == listed ? "yes" : "no");
  biogpu_potential_free(potential);
  return 0;
}
