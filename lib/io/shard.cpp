#include "lib/io/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "lib/core/error.hpp"
#include "lib/io/file_kind.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io {
namespace {

// Where part i of n, from 0, begins: the first parts are one larger where n does not divide it.
std::uint64_t part_begin(std::uint64_t size, std::uint64_t i, std::uint64_t n) {
  return size / n * i + std::min(i, size % n);
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, shard.index);
  bool good = error == std::errc{} && slash != end && *slash == '/';
  if (good) {
    const auto [rest, second_error] = std::from_chars(slash + 1, end, shard.count);
    good = second_error == std::errc{} && rest == end && shard.index >= 1 &&
           shard.index <= shard.count;
  }
  if (!good)
    throw Error(ErrorCode::usage, fmt::format("--shard '{}'; expected part/parts, as 2/7", text));
  return shard;
}

RecordRange shard_range(const Shard& shard, std::uint64_t n_records, std::uint64_t unit) {
  const std::uint64_t n_units = n_records / unit + (n_records % unit != 0 ? 1 : 0);
  const auto edge = [&](std::uint64_t i) {
    return std::min(n_records, unit * part_begin(n_units, i, shard.count));
  };
  return {edge(shard.index - 1), edge(shard.index)};
}

void require_file_for_shard(const std::string& path) {
  if (passes_once(path))
    throw Error(ErrorCode::usage,
                fmt::format("--shard counts the records first, and {} passes once; give a file",
                            input::label_of(path)));
}

std::uint64_t count_records(const std::string& path, int n_threads, bool words) {
  require_file_for_shard(path);
  SequenceReader reader(path, n_threads, words);
  SequenceBatch batch;
  while (reader.read_any(batch)) continue;
  return reader.n_records();
}

std::vector<RecordRange> shard_files(const std::vector<std::string>& paths, const Shard& shard,
                                     int n_threads, bool words) {
  std::vector<std::uint64_t> ends;
  ends.reserve(paths.size());
  std::uint64_t total = 0;
  for (const std::string& path : paths)
    ends.push_back(total += count_records(path, n_threads, words));
  const RecordRange whole = shard_range(shard, total);
  std::vector<RecordRange> ranges;
  ranges.reserve(ends.size());
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    ranges.push_back(
        {std::clamp(whole.begin, begin, end) - begin, std::clamp(whole.end, begin, end) - begin});
    begin = end;
  }
  return ranges;
}

SequenceReader open_shard(const std::string& path, const Shard& shard, int n_threads) {
  if (shard.is_whole()) return SequenceReader(path, n_threads);
  const RecordRange range = shard_files({path}, shard, n_threads).front();
  SequenceReader reader(path, n_threads);
  reader.select(range);
  return reader;
}

}  // namespace biogpu::io
