#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/tensor/context.hpp"

namespace biogpu::ops {

// What a device can do at most, for shares of the roofline. 0: not known.
struct Roofline {
  double operations_per_s = 0;  // of the matrix cores in the context's precision
  double bytes_per_s = 0;       // of the memory, read and written
};

// That of a device by its name and the context's precision; measured rates of docs/benchmarks.
Roofline roofline_of(const std::string& device_name, tensor::Precision precision);

// One operation at one shape.
struct OpTiming {
  std::string op;     // "gemm + bias + gelu"
  std::string shape;  // "8192 x 1280 x 5120"
  double seconds = 0;
  double bytes = 0;       // that the operation has to move at least
  double operations = 0;  // multiplications and additions
  double error = 0;  // of sampled rows, relative to their root mean square, against the reference

  // Of the time that the roofline asks for; 0 where it is not known.
  double share(const Roofline& roofline) const;
};

struct OpBenchSettings {
  bool quick = false;         // shapes of the smallest model only, one run
  std::string only;           // operations whose name, as in OpTiming, contains it; empty: all
  double seconds_each = 0.2;  // of repeated runs, of which the mean is taken
  // Atoms of a batch, in molecules of up to kMaxBenchAtoms: instead of the shapes of models.
  std::vector<std::int64_t> atoms = {};
};
inline constexpr std::int64_t kMaxBenchAtoms = 4096;

class OpBench;
// The benches of operations that one model alone has, next to those of lib/ops.
using ModelBenches = std::vector<void (*)(OpBench& bench)>;

// Runs the context's operations over the shapes of ESM-2 and ProtBERT. Each result is compared with
// the reference in double precision before it is timed. Throws Error{usage} where no name contains
// settings.only.
std::vector<OpTiming> run_op_bench(tensor::Context& context, const OpBenchSettings& settings,
                                   const ModelBenches& of_models);

}  // namespace biogpu::ops
