#include "apps/biogpu/align/input/encode.hpp"

#include <algorithm>

#include "lib/core/complement.hpp"
namespace biogpu::app {
void EncodedSet::assign(const RecordSpan& records, const align::ClassEncoder& encoder) {
  begin.resize(records.size() + 1);
  begin[0] = 0;
  std::size_t i = 0;
  records.for_sequences([&](std::string_view text) {
    begin[i + 1] = begin[i] + text.size();
    ++i;
  });
  residues.resize(begin[i]);
  std::uint8_t* to = residues.data();
  records.for_sequences([&](std::string_view text) {
    encoder.encode(text.data(), text.size(), to);
    to += text.size();
  });
}

void EncodedSet::append(std::string_view text, const align::ClassEncoder& encoder) {
  const std::size_t at = residues.size();
  residues.resize(at + text.size());
  encoder.encode(text.data(), text.size(), residues.data() + at);
  begin.push_back(residues.size());
}

void EncodedQueries::assign(const RecordSpan& records, const align::ClassEncoder& encoder,
                            bool with_reverse) {
  n_queries_ = records.size();
  set_.assign(records, encoder);
  reverse_.clear();
  if (!with_reverse) return;
  records.for_sequences([&](std::string_view text) {
    const std::size_t at = reverse_.size();
    reverse_.resize(at + text.size());
    std::transform(text.rbegin(), text.rend(), reverse_.begin() + static_cast<std::ptrdiff_t>(at),
                   complement_iupac);
    set_.append(std::string_view(reverse_).substr(at), encoder);
  });
}

std::string_view EncodedQueries::reverse_text(std::uint32_t query) const {
  // The forward sequences come first and have the same lengths in the same order.
  const std::uint64_t at = set_.begin[query];
  return std::string_view(reverse_).substr(at, set_.begin[query + 1] - at);
}

}  // namespace biogpu::app
