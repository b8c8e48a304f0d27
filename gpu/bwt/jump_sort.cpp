// The steps of a sort by jumps: what runs when, and which buffer holds what.
#include "gpu/bwt/jump_sort.hpp"

#include <bit>
#include <utility>

#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::bwt {
namespace {

int bits_below(std::uint64_t n) { return static_cast<int>(std::bit_width(n + 1)); }

}  // namespace

void JumpSorter::sort(const SuffixText& text, GroupSorter& tied, const GroupSorter::Result& result,
                      Stream& stream) {
  n_rounds_ = 0;
  const JumpText jumps{text, tied.scratch()};
  find_next(text, tied, stream);
  if (sort_runs(jumps, tied, result, stream)) {
    if (tied.n_tied() == 0) return;
    find_next(text, tied, stream);
  }
  list_samples(jumps, tied, result.rank, stream);
  sort_samples(jumps, stream);
  const int n_bits = bits_below(n_samples_);
  launch_last_keys(jumps, samples_, tied.items(), tied.groups(), rank_.data(), tied.n_tied(),
                   n_bits, tied.keys(), stream);
  tied.finish(bits_below(text.n) + n_bits, result.sa, stream);
  ++n_rounds_;
}

// JumpText::next, which lies where the next step of the suffixes overwrites it.
void JumpSorter::find_next(const SuffixText& text, GroupSorter& tied, Stream& stream) {
  launch_plain(text, tied.scratch(), stream);
  tied.max_scratch(static_cast<std::uint32_t>(text.n), stream);
}

// False where no suffix begins a run.
bool JumpSorter::sort_runs(const JumpText& text, GroupSorter& tied,
                           const GroupSorter::Result& result, Stream& stream) {
  n_runs_.reserve(1);
  const int n_bits = bits_below(text.text.n);
  stream.fill(n_runs_.data(), 0, sizeof(std::uint32_t));
  launch_run_keys(text, tied.items(), tied.groups(), tied.n_tied(), n_bits, tied.keys(),
                  n_runs_.data(), stream);
  if (download(stream, n_runs_.data()) == 0) return false;
  tied.split(2 * n_bits, result, stream);
  ++n_rounds_;
  return true;
}

void JumpSorter::list_samples(const JumpText& text, GroupSorter& tied, const std::uint32_t* rank,
                              Stream& stream) {
  const std::uint64_t n = text.text.n;
  std::uint32_t* const marks = tied.heads();
  stream.fill(marks, 0, n * sizeof(std::uint32_t));
  launch_mark_jumps(text, tied.items(), tied.n_tied(), marks, stream);
  tied.sum_heads(static_cast<std::uint32_t>(n), stream);
  n_samples_ = download(stream, marks + n - 1);
  tied_samples_.reserve(n_samples_);
  position_.reserve(n_samples_);
  jump_[0].reserve(n_samples_);
  jump_[1].reserve(n_samples_);
  rank_.reserve(n_samples_);
  samples_ = {marks, position_.data(), jump_[0].data(), jump_[1].data()};
  launch_list_samples(n, samples_, rank, tied_samples_.keys(), tied_samples_.items(), stream);
  tied_samples_.sort_first(n_samples_, bits_below(n), stream);
  launch_heads(tied_samples_.keys(), nullptr, n_samples_, tied_samples_.heads(), stream);
  tied_samples_.settle_first({rank_.data(), nullptr}, stream);
}

void JumpSorter::sort_samples(const JumpText& text, Stream& stream) {
  const int n_bits = bits_below(n_samples_);
  GroupSorter& tied = tied_samples_;
  if (tied.n_tied() > 0) launch_first_jumps(text, samples_, tied.items(), tied.n_tied(), stream);
  for (; tied.n_tied() > 0; ++n_rounds_) {
    launch_jump_keys(samples_, tied.items(), tied.groups(), rank_.data(), tied.n_tied(), n_bits,
                     tied.keys(), stream);
    tied.split(2 * n_bits, {rank_.data(), nullptr}, stream);
    if (tied.n_tied() == 0) continue;
    launch_double_jumps(samples_, tied.items(), tied.n_tied(), stream);
    std::swap(samples_.jump, samples_.spare_jump);
  }
}

std::uint64_t JumpSorter::bytes() const {
  return tied_samples_.bytes() + position_.bytes() + jump_[0].bytes() + jump_[1].bytes() +
         rank_.bytes();
}

}  // namespace biogpu::gpu::bwt
