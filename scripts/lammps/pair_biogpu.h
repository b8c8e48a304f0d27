/* pair_style biogpu: potentials of biogpu in LAMMPS (metal units). See docs/commands/infer.md. */
#ifdef PAIR_CLASS
// clang-format off
PairStyle(biogpu,PairBiogpu);
// clang-format on
#else

#ifndef LMP_PAIR_BIOGPU_H
#define LMP_PAIR_BIOGPU_H

#include <biogpu/potential.h>
#include <pair.h>

#include <vector>

namespace LAMMPS_NS {

//   pair_style biogpu FOLDER [cpu | gpu | NUMBER] [auto | fp32 | fp64] [charge Q]
//   pair_coeff * * ELEMENT ...        the element of each atom type
class PairBiogpu : public Pair {
 public:
  explicit PairBiogpu(class LAMMPS* lammps);
  ~PairBiogpu() override;
  void compute(int eflag, int vflag) override;
  void settings(int n_arguments, char** arguments) override;
  void coeff(int n_arguments, char** arguments) override;
  void init_style() override;
  double init_one(int i, int j) override;

 private:
  void allocate();

  biogpu_potential* potential_ = nullptr;
  bool has_charge_ = false;
  double charge_ = 0;
  std::vector<int32_t> elements_;  // atomic number of each type, from 1
};

}  // namespace LAMMPS_NS

#endif
#endif
