#pragma once

#include <cstdint>

#include "gpu/bwt/group_sort.hpp"
#include "gpu/bwt/suffix_text.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::bwt {

// A text, and for each suffix how far its jump goes.
//
// The jump of a suffix that does not end within its first word is told by that word alone: to the
// least of the short pieces that begin behind the first symbol and end with the word, in an order
// of pieces that is as good as random. In a run, a word of a short period, it is to the first
// suffix whose word no longer has the period: next[n - 1 - i] = n - 1 - that of suffix i.
struct JumpText {
  SuffixText text;
  const std::uint32_t* next = nullptr;
};

// Samples: the suffixes that the jump of a tied one leads to. sums[i]: samples up to position i.
struct Samples {
  const std::uint32_t* sums = nullptr;
  std::uint32_t* position = nullptr;  // of each sample
  std::uint32_t* jump = nullptr;      // the sample that its jump leads to; itself where it is alone
  std::uint32_t* spare_jump = nullptr;
};

// plain[n - 1 - i] = n - 1 - i where suffix i begins no run, else 0. The running maximum is
// JumpText::next.
void launch_plain(const SuffixText& text, std::uint32_t* plain, Stream& stream);
// keys[k] = the group above what orders the runs that begin with the same word, 0 where there is
// none; *n_runs = 1 where there is one.
void launch_run_keys(const JumpText& text, const std::uint32_t* items, const std::uint32_t* group,
                     std::uint32_t n_tied, int n_bits, std::uint64_t* keys, std::uint32_t* n_runs,
                     Stream& stream);
// marks[i] = 1 where the jump of one of the items leads.
void launch_mark_jumps(const JumpText& text, const std::uint32_t* items, std::uint32_t n_tied,
                       std::uint32_t* marks, Stream& stream);
// Lists the samples: positions, keys by their ranks, items, jumps to themselves.
void launch_list_samples(std::uint64_t n, const Samples& samples, const std::uint32_t* rank,
                         std::uint64_t* keys, std::uint32_t* items, Stream& stream);
// The jumps of those samples that tie.
void launch_first_jumps(const JumpText& text, const Samples& samples, const std::uint32_t* items,
                        std::uint32_t n_tied, Stream& stream);
// keys[k] = group[k] above the rank of the sample that the jump of items[k] leads to.
void launch_jump_keys(const Samples& samples, const std::uint32_t* items,
                      const std::uint32_t* group, const std::uint32_t* sample_rank,
                      std::uint32_t n_tied, int n_bits, std::uint64_t* keys, Stream& stream);
// spare_jump[items[k]] = two jumps.
void launch_double_jumps(const Samples& samples, const std::uint32_t* items, std::uint32_t n_tied,
                         Stream& stream);
// keys[k] = group[k] above the rank of the sample that the jump of suffix items[k] leads to.
void launch_last_keys(const JumpText& text, const Samples& samples, const std::uint32_t* items,
                      const std::uint32_t* group, const std::uint32_t* sample_rank,
                      std::uint32_t n_tied, int n_bits, std::uint64_t* keys, Stream& stream);

// Sorts suffixes that tie in their first word, where they are many: doubling sorts only samples of
// them, in a text of four letters one in 12, and one step gives the others their order from these.
//
// Equal words jump equally far, so suffixes that share a word compare as those that their jumps
// lead to, and t jumps as one of t times the length. Where the first words are runs of one period,
// the way to their ends tells: of the runs that a smaller symbol ends the shorter is the smaller,
// of the others the longer; runs of one length compare as what their jumps lead to.
//
// Memory: 52 bytes a sample.
// Source  own; sampling by what the text says: Kempa, Kociumaka, doi:10.1145/3313276.3316368;
//         minimizers: Roberts et al., doi:10.1093/bioinformatics/bth408
class JumpSorter {
 public:
  // tied: suffixes in groups of one first word, with their ranks in result. None ties afterwards.
  void sort(const SuffixText& text, GroupSorter& tied, const GroupSorter::Result& result,
            Stream& stream);

  int n_rounds() const { return n_rounds_; }
  std::uint64_t bytes() const;

 private:
  void find_next(const SuffixText& text, GroupSorter& tied, Stream& stream);
  bool sort_runs(const JumpText& text, GroupSorter& tied, const GroupSorter::Result& result,
                 Stream& stream);
  void list_samples(const JumpText& text, GroupSorter& tied, const std::uint32_t* rank,
                    Stream& stream);
  void sort_samples(const JumpText& text, Stream& stream);

  GroupSorter tied_samples_;
  Samples samples_;
  DeviceBuffer<std::uint32_t> position_, jump_[2], rank_, n_runs_;
  std::uint32_t n_samples_ = 0;
  int n_rounds_ = 0;
};

}  // namespace biogpu::gpu::bwt
