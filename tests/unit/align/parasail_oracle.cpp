#include "tests/unit/align/parasail_oracle.hpp"

#include <parasail.h>

#include <memory>
#include <stdexcept>

namespace biogpu::align::test {

struct Oracle::Impl {
  Options options;
  const parasail_matrix_t* matrix = nullptr;
  parasail_matrix_t* own_matrix = nullptr;
  parasail_function_t* function = nullptr;
  parasail_function_t* statistics = nullptr;
};

namespace {
using ResultPtr = std::unique_ptr<parasail_result_t, decltype(&parasail_result_free)>;
}  // namespace

std::string parasail_mode(const Options& options) {
  if (options.mode == Mode::global) return "nw";
  if (options.mode == Mode::local) return "sw";
  const FreeEnds& ends = options.free_ends;
  const auto letter = [](bool begin, bool end) { return begin && end ? "x" : begin ? "b" : "e"; };
  const bool query = ends.query_begin || ends.query_end;
  const bool target = ends.target_begin || ends.target_end;
  if (ends.query_begin && ends.query_end && ends.target_begin && ends.target_end) return "sg";
  std::string name = "sg";
  if (query) name += std::string("_q") + letter(ends.query_begin, ends.query_end);
  if (target) name += std::string("_d") + letter(ends.target_begin, ends.target_end);
  return name;
}

Oracle::Oracle(const Options& options, bool dna, int match, int mismatch) : impl_(new Impl) {
  impl_->options = options;
  if (dna) impl_->own_matrix = parasail_matrix_create("ACGT", match, mismatch);
  impl_->matrix = dna ? impl_->own_matrix : parasail_matrix_lookup("blosum62");
  const std::string name = parasail_mode(options) + "_trace";
  impl_->function = parasail_lookup_function(name.c_str());
  impl_->statistics = parasail_lookup_function((parasail_mode(options) + "_stats").c_str());
  if (impl_->matrix == nullptr || impl_->function == nullptr || impl_->statistics == nullptr)
    throw std::runtime_error("Parasail has no " + name);
}

Oracle::~Oracle() {
  if (impl_->own_matrix != nullptr) parasail_matrix_free(impl_->own_matrix);
  delete impl_;
}

OracleAlignment Oracle::align(const std::string& query, const std::string& target) const {
  const auto m = static_cast<int>(query.size());
  const auto n = static_cast<int>(target.size());
  const Scoring& s = impl_->options.scoring;
  const ResultPtr result(
      impl_->function(query.c_str(), m, target.c_str(), n, s.gap_open, s.gap_extend, impl_->matrix),
      &parasail_result_free);
  OracleAlignment alignment;
  alignment.score = parasail_result_get_score(result.get());
  const bool local = impl_->options.mode == Mode::local;
  if (local && alignment.score <= 0) return {};
  alignment.query_end = parasail_result_get_end_query(result.get());
  alignment.target_end = parasail_result_get_end_ref(result.get());
  const std::unique_ptr<parasail_cigar_t, decltype(&parasail_cigar_free)> cigar(
      parasail_result_get_cigar(result.get(), query.c_str(), m, target.c_str(), n, impl_->matrix),
      &parasail_cigar_free);
  int first = 0;
  const auto is_gap = [&](int k) {
    const char op = parasail_cigar_decode_op(cigar->seq[k]);
    return op == 'I' || op == 'D';
  };
  while (local && first < cigar->len && is_gap(first)) ++first;
  alignment.cigar.assign(cigar->seq + first, cigar->seq + cigar->len);
  const ResultPtr statistics(impl_->statistics(query.c_str(), m, target.c_str(), n, s.gap_open,
                                               s.gap_extend, impl_->matrix),
                             &parasail_result_free);
  alignment.matches = parasail_result_get_matches(statistics.get());
  alignment.similar = parasail_result_get_similar(statistics.get());
  alignment.length = parasail_result_get_length(statistics.get());
  return alignment;
}

std::int32_t Oracle::banded_score(const std::string& query, const std::string& target,
                                  int band) const {
  const Scoring& s = impl_->options.scoring;
  const ResultPtr result(parasail_nw_banded(query.c_str(), static_cast<int>(query.size()),
                                            target.c_str(), static_cast<int>(target.size()),
                                            s.gap_open, s.gap_extend, band, impl_->matrix),
                         &parasail_result_free);
  return parasail_result_get_score(result.get());
}

}  // namespace biogpu::align::test
