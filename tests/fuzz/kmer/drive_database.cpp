#include "tests/fuzz/kmer/drive_database.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/kmer/combine.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/database/reader.hpp"
#include "tests/fuzz/support/memory_file.hpp"

namespace biogpu::fuzz {
namespace {

using Key = std::vector<std::uint64_t>;
using Counts = std::map<Key, std::uint64_t>;

// What reads the file may refuse it, by name.
template <class Function>
bool accepts(const std::string& path, Function&& function) {
  try {
    function();
    return true;
  } catch (const Error& error) {
    const std::string_view what = error.what();
    require(error.code() == ErrorCode::bad_input, "an error of another kind");
    require(what.starts_with(path + ": "), "an error without its file");
    require(what.find('\n') == std::string_view::npos && what.size() < 1000, "a long message");
    return false;
  }
}

void add(const kmer::CountBlock& block, Counts& to) {
  const auto n_words = static_cast<std::size_t>(block.n_words);
  require(block.keys.size() == n_words * block.size(), "keys and counts differ in number");
  for (std::size_t i = 0; i < block.size(); ++i) {
    std::uint64_t& count = to[Key(block.key(i), block.key(i) + n_words)];
    if (__builtin_add_overflow(count, block.counts[i], &count)) count = UINT64_MAX;
  }
}

void check_header(const kmer::Header& header) {
  require(header.k >= 1 && header.k <= kmer::kMaxK, "k out of range");
  require(header.counter_bytes >= 1 && header.counter_bytes <= 8, "counter_len out of range");
  if (header.format == kmer::Format::jellyfish)
    require(!kmer::styled_header(header).empty(), "a header without text");
}

}  // namespace

void drive_database(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  const std::string path = file.path();
  Counts read;
  int k = 0;
  const bool is_read = accepts(path, [&] {
    kmer::DatabaseReader reader(path);
    k = reader.header().k;
    check_header(reader.header());
    for (kmer::CountBlock block; reader.read(block);) add(block, read);
  });
  accepts(path, [&] {
    const auto lookup = kmer::Lookup::open(path);
    std::uint64_t count = 0;
    for (const auto& [key, unused] : read) lookup->find(key.data(), {&count, 1});
    const Key absent(8, 0);
    lookup->find(absent.data(), {&count, 1});
  });
  if (!is_read) return;
  Counts combined;
  const bool is_combined = accepts(path, [&] {
    const auto other = [](const kmer::Header& first) {
      return kmer::order_for_size(first.k, 1u << 10);
    };
    kmer::Combiner combiner({path}, other, {});
    const auto keep = [](const kmer::Combiner::Counts& of) { return std::optional(of.counts[0]); };
    for (kmer::CountBlock block; combiner.read(block, keep);) add(block, combined);
  });
  require(!is_combined || combined.size() == read.size(), "combining loses k-mers");
}

void repair_jellyfish_length(std::string& content) {
  constexpr std::size_t kDigits = 9;
  if (content.size() <= kDigits) return;
  std::size_t depth = 0;
  std::size_t at = kDigits;
  for (bool in_string = false; at < content.size(); ++at) {
    const char c = content[at];
    if (c == '"' && content[at - 1] != '\\') in_string = !in_string;
    if (in_string) continue;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) break;
  }
  const std::string digits = std::to_string(std::min(at + 1, content.size()) - kDigits);
  content.replace(0, kDigits, std::string(kDigits - digits.size(), '0') + digits);
}

}  // namespace biogpu::fuzz
