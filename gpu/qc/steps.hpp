#pragma once

#include <cstdint>

#include "gpu/qc/reads.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::qc {

// A sliding window: passes when its qualities, Phred + 33, sum up to `least`.
struct WindowRule {
  int window = 0;  // bases; 0: not asked for
  int least = 0;
  int quality = 0;  // of one base, Phred + 33
};

struct TrimRule {
  int front = 0;
  int tail = 0;
  int max_length = 0;  // 0: none
  int umi_length = 0;  // bases of the UMI that this mate begins with; 0: none
};

struct AdapterText {
  std::uint32_t begin = 0;  // in StepRules::adapter_text
  std::int32_t length = 0;  // 0: none
};

// The options of the steps, as kernels need them; pointers are device memory.
struct StepRules {
  TrimRule trim[2];  // by mate
  int umi_skip = 0;
  WindowRule cut_front, cut_tail, cut_right;
  int poly_g_min = 0;  // 0: off
  int poly_x_min = 0;  // 0: off

  bool trims_adapters = true;
  AdapterText adapter[2];                       // by mate
  const char* adapter_text = nullptr;           // of all adapters
  const AdapterText* fasta_adapters = nullptr;  // [n_fasta_adapters], tried in turn
  std::uint32_t n_fasta_adapters = 0;
  int fasta_match_require = 4;
  // fastp 1's own: adapters with one base more or less, mates that overlap with one, reads that are
  // left so short behind an adapter (below 0: none), adapters of the list that count.
  bool gapped_adapters = false;
  bool gapped_overlap = false;
  int dimer_max_len = -1;
  bool counts_fasta_adapters = false;

  bool corrects = false;
  int overlap_require = 30;
  const std::int16_t* max_differing = nullptr;  // [kMaxLength + 1] by length of the overlap

  bool filters_quality = true;
  int qualified = 15 + 33;  // Phred + 33
  int unqualified_percent = 40;
  int average_quality = 0;
  int n_base_limit = 5;
  bool filters_length = true;
  int length_required = 15;
  int length_limit = 0;                       // 0: none
  const std::int16_t* min_changes = nullptr;  // [kMaxLength + 1] by length; nullptr: no filter
};

struct StepsArgs {
  Reads reads;
  StepRules rules;
  TrimResult* results = nullptr;       // [n_reads]
  BaseChange* changes = nullptr;       // in any order
  std::uint32_t* n_changes = nullptr;  // [1]
  FastaCut* cuts = nullptr;            // in any order; with counts_fasta_adapters
  std::uint32_t* n_cuts = nullptr;     // [1]
};

// Everything from the UMI's cut to the filters, for every read or pair.
void launch_steps(const StepsArgs& args, Stream& stream);

}  // namespace biogpu::gpu::qc
