// The JSONL files of a design from any bytes, the first of which says which file it is: an Error,
// or constraints under which every residue that is drawn has letters with probabilities.
#include <array>
#include <cmath>

#include "lib/models/proteinmpnn/inputs/design_inputs.hpp"
#include "lib/models/proteinmpnn/network/rule_table.hpp"
#include "lib/models/proteinmpnn/ops/draw_letter.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;
using namespace biogpu::models::proteinmpnn;

namespace {

structure::Structure make_structure() {
  structure::Structure structure;
  structure.name = "s";
  for (const char* name : {"A", "B"}) {
    structure::Chain& chain = structure.chains.emplace_back();
    chain.name = name;
    chain.sequence = "MXK";
    for (int i = 0; i < 3; ++i) {
      chain.backbone.emplace_back().fill(static_cast<float>(i));
      chain.labels.push_back(std::to_string(i));
    }
    chain.backbone[1].fill(NAN);
  }
  return structure;
}

std::string DesignRequest::*file_of(std::uint8_t kind) {
  constexpr std::array<std::string DesignRequest::*, 7> kFiles{
      &DesignRequest::chain_id_jsonl,    &DesignRequest::fixed_positions_jsonl,
      &DesignRequest::omit_aa_jsonl,     &DesignRequest::bias_aa_jsonl,
      &DesignRequest::bias_by_res_jsonl, &DesignRequest::tied_positions_jsonl,
      &DesignRequest::pssm_jsonl};
  return kFiles[kind % kFiles.size()];
}

void check(const Complex& complex, const Constraints& constraints) {
  const auto n = static_cast<std::size_t>(complex.n);
  fuzz::require(constraints.free.size() == n, "a residue without its flag");
  fuzz::require(constraints.omit_at.empty() || constraints.omit_at.size() == n * kLetterRow,
                "rows of omitted letters");
  const std::array<float, kLetterRow> logits{};
  RuleTable rules;
  rules.add(constraints);
  Sequence sequence;
  sequence.temperature = 0.1;
  for (std::size_t i = 0; i < n; ++i) {
    if (constraints.free[i] == 0) continue;
    const auto p =
        letter_probabilities(rules.rows(), sequence, static_cast<std::int64_t>(i), logits.data());
    double sum = 0;
    for (const double x : p) {
      fuzz::require(x >= 0, "a probability that is none");
      sum += x;
    }
    fuzz::require(std::isfinite(sum) && sum > 0, "no letter can be drawn");
  }
  for (const auto& group : constraints.tied)
    for (const std::int32_t i : group)
      fuzz::require(i >= 0 && static_cast<std::size_t>(i) < n, "a residue that is not there");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const structure::Structure structure = make_structure();
  if (n == 0) return 0;
  const fuzz::MemoryFile file(bytes + 1, n - 1);
  DesignRequest request;
  request.*file_of(bytes[0]) = file.path();
  request.pssm_multi = 1;
  request.pssm_bias = request.pssm_log_odds = true;
  fuzz::expect_error_of(file.path(), [&] {
    const DesignInputs inputs(request);
    const Complex complex = make_complex(structure, inputs.chains(structure), false, file.path());
    check(complex, inputs.constraints(complex));
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
