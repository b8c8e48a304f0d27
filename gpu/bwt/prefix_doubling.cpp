// The rounds of the suffix sort: what runs when, and which buffer holds what.
#include "gpu/bwt/prefix_doubling.hpp"

#include <bit>

namespace biogpu::gpu::bwt {
namespace {

// Of the text's suffixes one tied in so many calls for jumps: fewer cost less in rounds of doubling
// than the passes over the whole text that list the samples.
constexpr std::uint64_t kFewTied = 16;

}  // namespace

void SuffixSorter::sort(const SuffixText& text) {
  text_ = text;
  n_rounds_ = 0;
  if (text.n == 0) return;
  words_.reserve(text.n_words() + 2);
  tied_.reserve(text.n);
  rank_.reserve(text.n + 1);
  sa_.reserve(text.n);
  Event begin;
  Event end;
  begin.record(stream_);
  stream_.copy_to_device(words_.data(), text.words, text.n_words() * sizeof(std::uint64_t));
  stream_.fill(words_.data() + text.n_words(), 0, 2 * sizeof(std::uint64_t));
  text_.words = words_.data();
  first_round();
  if (tied_.n_tied() > text.n / kFewTied) {
    jumps_.sort(text_, tied_, {rank_.data(), sa_.data()}, stream_);
    n_rounds_ += jumps_.n_rounds();
  }
  double_ranks();
  end.record(stream_);
  end.synchronize();
  seconds_ = end.seconds_since(begin);
  device_bytes_ = words_.bytes() + tied_.bytes() + jumps_.bytes() + rank_.bytes() + sa_.bytes();
}

void SuffixSorter::first_round() {
  const auto n = static_cast<std::uint32_t>(text_.n);
  launch_first_keys(text_, tied_.keys(), tied_.items(), stream_);
  tied_.sort_first(n, 64, stream_);
  launch_first_heads(text_, tied_.keys(), tied_.items(), tied_.heads(), stream_);
  stream_.fill(rank_.data() + n, 0, sizeof(std::uint32_t));
  tied_.settle_first({rank_.data(), sa_.data()}, stream_);
}

void SuffixSorter::double_ranks() {
  const int n_bits = static_cast<int>(std::bit_width(text_.n + 1));
  for (std::uint64_t h = text_.word_symbols; tied_.n_tied() > 0; h *= 2, ++n_rounds_) {
    launch_round_keys(tied_.items(), tied_.groups(), rank_.data(), tied_.n_tied(),
                      static_cast<std::uint32_t>(h), n_bits, tied_.keys(), stream_);
    tied_.split(2 * n_bits, {rank_.data(), sa_.data()}, stream_);
  }
}

void SuffixSorter::copy_suffix_array(std::uint32_t* sa) {
  if (text_.n == 0) return;
  queue_copy(0, text_.n, sa);
  stream_.synchronize();
}

void SuffixSorter::queue_copy(std::uint64_t begin, std::uint64_t n, std::uint32_t* sa) {
  stream_.copy_to_host(sa, sa_.data() + begin, n * sizeof(std::uint32_t));
}

std::uint32_t SuffixSorter::copy_transform(std::uint32_t* bwt) {
  if (text_.n == 0) return 0;
  std::uint32_t* const primary = tied_.heads();
  std::uint32_t* const device_bwt = tied_.scratch();
  const auto n = static_cast<std::uint32_t>(text_.n);
  launch_find_primary(sa_.data(), n, primary, stream_);
  launch_transform(text_, sa_.data(), primary, device_bwt, stream_);
  std::uint32_t row = 0;
  stream_.copy_to_host(bwt, device_bwt, (n + std::size_t{15}) / 16 * sizeof(std::uint32_t));
  stream_.copy_to_host(&row, primary, sizeof row);
  stream_.synchronize();
  return row;
}

}  // namespace biogpu::gpu::bwt
