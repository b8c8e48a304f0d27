/* Potentials of biogpu for other programs: energy, forces and virial of atoms from a model's
 * folder.
 *
 * Link with -lbiogpu_potential. Lengths are in Angstrom, energies in eV, charges in elementary
 * charges. Functions that can fail return 0, or the exit code that `biogpu` would end with
 * (1 failed, 2 wrong use, 3 bad input, 4 no such device, 5 out of device memory, 137 out of
 * memory); biogpu_potential_error() then tells what went wrong. A potential is used by one thread
 * at a time; several potentials by as many threads.
 *
 * Arguments that may be NULL are named; for any other, NULL is wrong use, which functions without a
 * code answer with 0 and the message. A program may trap floating-point exceptions or set another
 * rounding: functions compute in the default environment and restore the caller's. The library
 * stays loaded after dlclose(), since its threads wait in it.
 */
#ifndef BIOGPU_POTENTIAL_H
#define BIOGPU_POTENTIAL_H

#include <stdint.h>

#if defined(__GNUC__)
#define BIOGPU_EXPORT __attribute__((visibility("default")))
#else
#define BIOGPU_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BIOGPU_POTENTIAL_VERSION 1

/* Of the library: BIOGPU_POTENTIAL_VERSION of the header that it was built with. */
BIOGPU_EXPORT int biogpu_potential_version(void);

typedef struct biogpu_potential biogpu_potential;

/* Reads a folder with config.json and model.safetensors. device: "cpu", "gpu" or a GPU's number;
 * precision: one that `biogpu infer energy --precision` has, or "auto"; n_threads: of the CPU, up
 * to 1024, 0 for all. *potential becomes NULL where it fails. The energies of free atoms that a
 * checkpoint of torchmd-net has (Atomref) are added unless the checkpoint says not to. */
BIOGPU_EXPORT int biogpu_potential_load(const char* folder, const char* device,
                                        const char* precision, int n_threads,
                                        biogpu_potential** potential);
/* The same with references: 1 adds the energies of free atoms, 0 leaves them out, -1 does what the
 * checkpoint says. Wrong use where the model has none that can be added or left out. */
BIOGPU_EXPORT int biogpu_potential_load_with_references(const char* folder, const char* device,
                                                        const char* precision, int n_threads,
                                                        int references,
                                                        biogpu_potential** potential);
/* NULL does nothing. */
BIOGPU_EXPORT void biogpu_potential_free(biogpu_potential* potential);

/* Of the calling thread's last call that failed: one line. Never NULL. */
BIOGPU_EXPORT const char* biogpu_potential_error(void);

/* Distance within which atoms see each other. */
BIOGPU_EXPORT double biogpu_potential_cutoff(const biogpu_potential* potential);
/* Whether results depend on the total charge, which is then needed. */
BIOGPU_EXPORT int biogpu_potential_needs_charge(const biogpu_potential* potential);
/* Whether the model knows an element. */
BIOGPU_EXPORT int biogpu_potential_has_element(const biogpu_potential* potential,
                                               int32_t atomic_number);

/* 8 of "O", in any case; 0 where it is no element. */
BIOGPU_EXPORT int32_t biogpu_potential_atomic_number(const char* symbol);

/* Pairs that are looked at, so that a program that has them need not have them found: every pair
 * within radius, which is at least the cutoff, both ways round. Atom i has neighbours
 * [starts[i], starts[i + 1]), sorted by their number and then by their shift; neighbour k is at the
 * position of its atom plus shifts[3 k], shifts[3 k + 1], shifts[3 k + 2] times the box vectors. */
typedef struct biogpu_neighbours {
  double radius;
  const int32_t* starts;     /* [n + 1] */
  const int32_t* neighbours; /* [starts[n]] */
  const int32_t* shifts;     /* [starts[n], 3]; NULL without a box */
} biogpu_neighbours;

typedef struct biogpu_atoms {
  int64_t n;
  const int32_t* atomic_numbers;       /* [n] */
  const double* positions;             /* [n, 3] */
  const double* box;                   /* [3, 3], rows a, b, c; NULL: no periodic box */
  const double* charge;                /* total; NULL: not known */
  const biogpu_neighbours* neighbours; /* NULL: they are found */
} biogpu_atoms;

/* forces [n, 3] and virial [3, 3], the slope of the energy by a strain e where positions and box
 * become x (1 + e), are left out where NULL. The stress is virial / volume, tension positive. */
BIOGPU_EXPORT int biogpu_potential_compute(biogpu_potential* potential, const biogpu_atoms* atoms,
                                           double* energy, double* forces, double* virial);

/* Whether the model needs the partial charges of atoms. */
BIOGPU_EXPORT int biogpu_potential_needs_partial_charges(const biogpu_potential* potential);
/* The same as biogpu_potential_compute with partial charges of atoms [n]; NULL: not known. */
BIOGPU_EXPORT int biogpu_potential_compute_with_charges(biogpu_potential* potential,
                                                        const biogpu_atoms* atoms,
                                                        const double* partial_charges,
                                                        double* energy, double* forces,
                                                        double* virial);

#ifdef __cplusplus
}
#endif

#endif
