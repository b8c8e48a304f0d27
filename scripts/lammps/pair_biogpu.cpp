// pair_style biogpu. One process computes the whole box: a model's messages go further than the
// ghost atoms of a domain. Threads of the library or a GPU share the work.
#include <pair_biogpu.h>

#include <atom.h>
#include <comm.h>
#include <domain.h>
#include <error.h>
#include <memory.h>
#include <update.h>
#include <utils.h>

#include <cstring>
#include <string>

using namespace LAMMPS_NS;

PairBiogpu::PairBiogpu(LAMMPS* lammps) : Pair(lammps) {
  single_enable = 0;
  restartinfo = 0;
  one_coeff = 1;
  manybody_flag = 1;
  no_virial_fdotr_compute = 1;
}

PairBiogpu::~PairBiogpu() {
  biogpu_potential_free(potential_);
  if (!allocated) return;
  memory->destroy(setflag);
  memory->destroy(cutsq);
}

void PairBiogpu::allocate() {
  const int n = atom->ntypes + 1;
  allocated = 1;
  memory->create(setflag, n, n, "pair:setflag");
  memory->create(cutsq, n, n, "pair:cutsq");
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) setflag[i][j] = 0;
}

void PairBiogpu::settings(int n_arguments, char** arguments) {
  if (n_arguments < 1)
    error->all(FLERR,
               "pair_style biogpu: expected FOLDER [DEVICE [PRECISION]] [charge Q] "
               "[atom_references on|off]");
  std::string device = "cpu", precision = "auto";
  int n_words = 0, references = -1;
  for (int i = 1; i < n_arguments; ++i) {
    if (std::strcmp(arguments[i], "charge") == 0) {
      if (++i == n_arguments) error->all(FLERR, "pair_style biogpu: charge without a number");
      has_charge_ = true;
      charge_ = utils::numeric(FLERR, arguments[i], false, lmp);
    } else if (std::strcmp(arguments[i], "atom_references") == 0) {
      const std::string which = ++i < n_arguments ? arguments[i] : "";
      if (which != "on" && which != "off")
        error->all(FLERR, "pair_style biogpu: atom_references is neither on nor off");
      references = which == "on" ? 1 : 0;
    } else if (n_words < 2) {
      (n_words++ == 0 ? device : precision) = arguments[i];
    } else {
      error->all(FLERR, "pair_style biogpu: an argument too many");
    }
  }
  biogpu_potential_free(potential_);
  potential_ = nullptr;
  if (biogpu_potential_load_with_references(arguments[0], device.c_str(), precision.c_str(), 0,
                                            references, &potential_) != 0)
    error->all(FLERR, biogpu_potential_error());
}

void PairBiogpu::coeff(int n_arguments, char** arguments) {
  if (n_arguments != 2 + atom->ntypes || std::strcmp(arguments[0], "*") != 0 ||
      std::strcmp(arguments[1], "*") != 0)
    error->all(FLERR, "pair_coeff of biogpu: expected * * and the element of each type");
  if (!allocated) allocate();
  elements_.assign(1, 0);
  for (int i = 2; i < n_arguments; ++i) {
    elements_.push_back(biogpu_potential_atomic_number(arguments[i]));
    if (!biogpu_potential_has_element(potential_, elements_.back()))
      error->all(FLERR, "pair_coeff of biogpu: an element that the model does not know");
  }
  for (int i = 1; i <= atom->ntypes; ++i)
    for (int j = i; j <= atom->ntypes; ++j) setflag[i][j] = 1;
}

void PairBiogpu::init_style() {
  if (comm->nprocs != 1) error->all(FLERR, "pair_style biogpu runs in one process");
  if (std::strcmp(update->unit_style, "metal") != 0)
    error->all(FLERR, "pair_style biogpu needs units metal");
  const int n_periodic = domain->xperiodic + domain->yperiodic + domain->zperiodic;
  if (n_periodic != 0 && n_periodic != 3)
    error->all(FLERR, "pair_style biogpu needs a box that is periodic in all directions or none");
}

double PairBiogpu::init_one(int, int) { return biogpu_potential_cutoff(potential_); }

void PairBiogpu::compute(int eflag, int vflag) {
  ev_init(eflag, vflag);
  if (eflag_atom || vflag_atom)
    error->all(FLERR, "pair_style biogpu has no energies and virials of single atoms");
  const int n = atom->nlocal;
  std::vector<int32_t> numbers(n);
  std::vector<double> positions(3 * n), forces(3 * n);
  for (int i = 0; i < n; ++i) {
    numbers[i] = elements_[atom->type[i]];
    for (int d = 0; d < 3; ++d) positions[3 * i + d] = atom->x[i][d];
  }
  const double box[9] = {domain->xprd, 0,          0,           domain->xy, domain->yprd, 0,
                         domain->xz,   domain->yz, domain->zprd};
  const biogpu_atoms atoms = {n,
                              numbers.data(),
                              positions.data(),
                              domain->xperiodic ? box : nullptr,
                              has_charge_ ? &charge_ : nullptr,
                              nullptr};
  double energy = 0, strain[9] = {};
  const double* const charges = atom->q_flag ? atom->q : nullptr;
  if (biogpu_potential_compute_with_charges(potential_, &atoms, charges, &energy, forces.data(),
                                            strain) != 0)
    error->all(FLERR, biogpu_potential_error());
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) atom->f[i][d] += forces[3 * i + d];
  if (eflag_global) eng_vdwl += energy;
  // The sum of x f, in the order xx yy zz xy xz yz.
  const int order[6] = {0, 4, 8, 1, 2, 5};
  if (vflag_global)
    for (int k = 0; k < 6; ++k) virial[k] -= strain[order[k]];
}
