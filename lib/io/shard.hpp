#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/sequence_reader.hpp"

namespace biogpu::io {

// Part `index` of `count`, from 1, of an input cut between records: runs of consecutive records, as
// even as they go, so that what the parts give, one after the other, is what the whole gives.
struct Shard {
  std::uint32_t index = 1;
  std::uint32_t count = 1;

  bool is_whole() const { return count == 1; }
};

// "2/7". Throws Error{usage}.
Shard parse_shard(const std::string& text);

// The part of n_records that is a shard's; its edges are multiples of unit, but for the last.
RecordRange shard_range(const Shard& shard, std::uint64_t n_records, std::uint64_t unit = 1);

// How many records a file has; reads all of it. words: see SequenceReader. Throws Error{usage} for
// standard input and pipes, which pass once, and the errors of SequenceReader.
std::uint64_t count_records(const std::string& path, int n_threads, bool words = false);

// Throws Error{usage} as count_records() does.
void require_file_for_shard(const std::string& path);

// The shard of several files one after the other: its range in each of them.
std::vector<RecordRange> shard_files(const std::vector<std::string>& paths, const Shard& shard,
                                     int n_threads, bool words = false);

// A reader of a file's shard.
SequenceReader open_shard(const std::string& path, const Shard& shard, int n_threads);

}  // namespace biogpu::io
