#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/qc/steps/decide.hpp"
#include "lib/qc/steps/filter.hpp"

namespace biogpu::qc {

// What a device's steps made of one read; positions are in the read as it came.
struct ReadNotes {
  int begin = 0;  // what is left: [begin, begin + length)
  int length = 0;
  int adapter_begin = 0;  // what was cut as an adapter
  int adapter_length = 0;
  int poly_x_length = 0;
  int poly_x = 0;        // index into "ATCG"
  int insert_size = -1;  // of a pair, with its first mate; -1: not known
  Verdict verdict = Verdict::passed;
  bool dropped = false;
  bool adapter_ahead = false;  // the adapter begins before the read: its head is what was cut
  bool cut_by_overlap = false;
  bool has_poly_x = false;
  bool corrected = false;
};

// A base that a device's steps replaced.
struct BaseChange {
  std::uint32_t read = 0;  // of pairs, 2 i or 2 i + 1
  int position = 0;        // in the read as it came
  char base = 0;
  char quality = 0;
};

// The same of a batch. Of pairs, read 2 i is the first mate and 2 i + 1 the second.
struct BatchNotes {
  bool complete = false;  // false: the batch is still to be computed, on the CPU
  std::vector<ReadNotes> reads;
  std::vector<BaseChange> changes;
};

// The read as the steps left it. `original` is the read as it came.
Mate mate_of(const ReadNotes& notes, const Mate& original);

// The same in the words of trim_single and trim_pair. adapter: the one looked for in this mate;
// the bases must have been changed already.
MateNotes mate_notes(const ReadNotes& notes, const Mate& original, std::string_view adapter);
PairNotes pair_notes(const ReadNotes* notes, const Mate& original1, const Mate& original2,
                     const Options& options);

}  // namespace biogpu::qc
