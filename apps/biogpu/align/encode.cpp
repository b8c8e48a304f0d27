#include "apps/biogpu/align/encode.hpp"

#include <algorithm>
#include <array>

namespace biogpu::app {
namespace {

constexpr std::array<char, 256> make_complements() {
  std::array<char, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) table[byte] = static_cast<char>(byte);
  constexpr std::string_view kFrom = "ACGTURYKMBVDHSWNacgturykmbvdhswn";
  constexpr std::string_view kTo = "TGCAAYRMKVBHDSWNtgcaayrmkvbhdswn";
  for (std::size_t i = 0; i < kFrom.size(); ++i)
    table[static_cast<unsigned char>(kFrom[i])] = kTo[i];
  return table;
}
constexpr std::array<char, 256> kComplement = make_complements();

}  // namespace

char complement(char base) { return kComplement[static_cast<unsigned char>(base)]; }

void EncodedSet::assign(const io::SequenceBatch& batch, std::size_t first, std::size_t n,
                        const align::Scoring& scoring) {
  begin.resize(n + 1);
  begin[0] = 0;
  for (std::size_t i = 0; i < n; ++i) begin[i + 1] = begin[i] + batch.sequence(first + i).size();
  residues.resize(begin[n]);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view text = batch.sequence(first + i);
    std::transform(text.begin(), text.end(),
                   residues.begin() + static_cast<std::ptrdiff_t>(begin[i]),
                   [&](char c) { return scoring.class_of[static_cast<unsigned char>(c)]; });
  }
}

void EncodedSet::append(std::string_view text, const align::Scoring& scoring) {
  for (const char c : text) residues.push_back(scoring.class_of[static_cast<unsigned char>(c)]);
  begin.push_back(residues.size());
}

void EncodedQueries::assign(const io::SequenceBatch& batch, std::size_t first, std::size_t n,
                            const align::Scoring& scoring, bool with_reverse) {
  n_queries_ = n;
  set_.assign(batch, first, n, scoring);
  reverse_.clear();
  if (!with_reverse) return;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view text = batch.sequence(first + i);
    const std::size_t at = reverse_.size();
    reverse_.resize(at + text.size());
    std::transform(text.rbegin(), text.rend(), reverse_.begin() + static_cast<std::ptrdiff_t>(at),
                   complement);
    set_.append(std::string_view(reverse_).substr(at), scoring);
  }
}

std::string_view EncodedQueries::reverse_text(std::uint32_t query) const {
  // The forward sequences come first and have the same lengths in the same order.
  const std::uint64_t at = set_.begin[query];
  return std::string_view(reverse_).substr(at, set_.begin[query + 1] - at);
}

}  // namespace biogpu::app
