#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/char_buffer.hpp"
#include "lib/qc/input/fastq_chunk.hpp"
#include "lib/qc/steps/trim_result.hpp"

namespace biogpu::qc {

// fastp hands reads to its workers in packs of so many; some of its numbers depend on it.
inline constexpr std::size_t kPackRecords = 1000;

// What a run writes beside its reports. Single reads and interleaved pairs go to out1.
enum class Output : unsigned { out1, out2, unpaired1, unpaired2, merged, failed, overlapped };
inline constexpr std::size_t kOutputs = 7;

// Where a pack ends in the texts of the outputs, and what --split counts of it.
struct PackEnd {
  std::array<std::size_t, kOutputs> text{};
  std::array<std::size_t, kOutputs> compressed{};  // the same in the compressed texts
  std::uint64_t n_records = 0;
  std::uint64_t n_passed = 0;
};

// Consecutive records on their way through the pipeline; a multiple of kPackRecords but for the
// last. Buffers keep their memory between uses.
struct Batch {
  FastqChunk chunk1;
  FastqChunk chunk2;               // empty for single reads and interleaved pairs
  std::uint64_t first_record = 0;  // reads or pairs before this batch
  std::size_t n_records = 0;       // reads or pairs
  std::uint64_t turn = 0;          // batches before this one

  std::vector<std::uint64_t> keys;         // [n_records][tables] of DuplicateHash
  std::vector<std::uint8_t> is_duplicate;  // [n_records], with --dedup
  bool on_device = false;  // a device ran the steps, with these results, and counts the statistics
  std::vector<TrimResult> results;  // by read; of pairs, 2 i and 2 i + 1
  std::vector<BaseChange> changes;
  std::vector<FastaCut> fasta_cuts;  // of the device; by read, in the order in which they were made
  std::array<io::CharBuffer, kOutputs> text;
  std::array<io::CharBuffer, kOutputs> compressed;  // the same as gzip, where the output is
  std::vector<PackEnd> packs;
  // Where these go in the files, once it is known, and whether the worker writes them.
  std::array<std::uint64_t, kOutputs> offset{};
  bool written = false;
  // With -p: the reads that count as after filtering, by mate, with the pack that each is of.
  struct Kept {
    std::uint64_t pack;
    std::string_view sequence;
  };
  std::array<std::vector<Kept>, 2> kept;
  io::CharBuffer kept_text;
  // Profile fastp-1: what was cut off as adapters, with the pack of the read, and its text. Which
  // of many texts it counts depends on their order.
  struct Cut {
    std::uint64_t pack;
    std::size_t mate;
    std::size_t length;
  };
  std::vector<Cut> cuts;
  io::CharBuffer cut_text;

  // What the steps left of the records that were here before.
  void clear_results() {
    for (io::CharBuffer& one : text) one.clear();
    packs.clear();
    for (std::vector<Kept>& one : kept) one.clear();
    kept_text.clear();
    cuts.clear();
    cut_text.clear();
  }

  io::CharBuffer& output(Output which) { return text[static_cast<std::size_t>(which)]; }
};

}  // namespace biogpu::qc
