#include "lib/kmer/database/jellyfish/bloom_counter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/json_fields.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"
#include "lib/kmer/key/bit_matrix.hpp"
#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kPerByte = 5;
constexpr std::uint8_t kMaxByte = 242;  // 3^5 - 1: each of the five is 2
constexpr std::uint64_t kMaxHashes = 64;
constexpr std::uint64_t kMaxCounters = std::uint64_t{1} << 48;
constexpr std::array<unsigned, kPerByte> kWeights{1, 3, 9, 27, 81};

std::uint64_t bytes_for_counters(std::uint64_t n) { return n / kPerByte + (n % kPerByte != 0); }

std::uint64_t product(const std::vector<BitProduct::ByteTable>& tables, const std::uint64_t* key,
                      std::size_t n_words) {
  std::uint64_t sum = 0;
  for (std::size_t table = 0; table < tables.size(); ++table)
    sum ^= tables[table][key[n_words - 1 - table / 8] >> 8 * (table % 8) & 0xff];
  return sum;
}

Json matrix_json(const std::vector<std::uint64_t>& columns) {
  return {{"c", columns.size()}, {"columns", columns}, {"identity", false}, {"r", 64}};
}

}  // namespace

BloomCounter::BloomCounter(int k, bool canonical, std::uint64_t n_kmers, double false_positives)
    : k_(k), canonical_(canonical) {
  const double log_of_rate = -std::log(false_positives);
  const auto per_kmer =
      static_cast<std::uint64_t>(std::lrint(log_of_rate / (std::numbers::ln2 * std::numbers::ln2)));
  n_hashes_ = static_cast<std::uint64_t>(std::lrint(log_of_rate / std::numbers::ln2));
  if (__builtin_mul_overflow(n_kmers, per_kmer, &n_counters_) || n_counters_ == 0 ||
      n_counters_ > kMaxCounters || n_hashes_ == 0)
    throw Error(ErrorCode::usage,
                fmt::format("a Bloom counter for {} k-mers with a false positive rate of {} is not "
                            "possible",
                            n_kmers, false_positives));
  const auto n_columns = static_cast<std::size_t>(2 * k);
  const std::vector<std::uint64_t> drawn = jellyfish_draws(2 * n_columns);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto begin = drawn.begin() + static_cast<std::ptrdiff_t>(i * n_columns);
    columns_[i].assign(begin, begin + static_cast<std::ptrdiff_t>(n_columns));
    tables_[i] = BitProduct::make_tables(columns_[i]);
  }
  bytes_.resize(bytes_for_counters(n_counters_));
}

BloomCounter BloomCounter::read(const std::string& path) {
  io::input::RawFile file(path);
  const std::string& label = file.label();
  if (!is_jellyfish(file.peek(kDigits + 1)))
    throw_bad_input(label, "is no Bloom counter; expected a file of 'biogpu kmer bc' or Jellyfish");
  const Json json = parse_jellyfish_json(read_jellyfish_header(file), label);
  const JsonFields fields(json, label);
  const std::string format = fields.text("format");
  if (format != "bloomcounter")
    throw_bad_input(
        label, fmt::format("has the format '{}'; expected a Bloom counter of 'biogpu kmer bc' or "
                           "Jellyfish",
                           shortened(format)));
  BloomCounter counter;
  const std::uint64_t key_bits = fields.number("key_len", 2, 2 * kMaxK);
  if (key_bits % 2 != 0) fields.throw_bad_input("key_len", "an even number");
  counter.k_ = static_cast<int>(key_bits / 2);
  counter.canonical_ = fields.flag("canonical");
  counter.n_counters_ = fields.number("size", 1, kMaxCounters);
  counter.n_hashes_ = fields.number("nb_hashes", 1, kMaxHashes);
  for (std::size_t i = 0; i < 2; ++i) {
    counter.columns_[i] =
        fields.fields(i == 0 ? "matrix1" : "matrix2").numbers("columns", key_bits, UINT64_MAX);
    counter.tables_[i] = BitProduct::make_tables(counter.columns_[i]);
  }
  counter.read_bytes(file);
  return counter;
}

// Memory for what is there: the header's number alone is not worth it. A pipe's grows as it is
// read.
void BloomCounter::read_bytes(io::input::RawFile& file) {
  const std::uint64_t n_bytes = bytes_for_counters(n_counters_);
  const auto cut_short = [&] {
    throw_bad_input(file.label(), "the file ends inside its counters; it may be cut short");
  };
  constexpr std::uint64_t kStep = 16u << 20;
  std::uint64_t step = kStep;
  if (file.file_bytes() > 0) {
    if (file.file_bytes() - std::min(file.file_bytes(), file.bytes_read()) < n_bytes) cut_short();
    step = n_bytes;
  }
  while (bytes_.size() < n_bytes) {
    const std::size_t before = bytes_.size();
    const auto n = static_cast<std::size_t>(std::min(step, n_bytes - before));
    bytes_.resize(before + n);
    if (file.read(reinterpret_cast<char*>(bytes_.data()) + before, n) < n) cut_short();
    std::uint8_t most = 0;
    for (std::size_t i = before; i < before + n; ++i) most = std::max(most, bytes_[i]);
    if (most > kMaxByte)
      throw_bad_input(file.label(),
                      fmt::format("has a byte of {} among its counters; five counters from 0 "
                                  "to 2 make at most {}; the file may be damaged",
                                  most, kMaxByte));
  }
}

template <class Visit>
void BloomCounter::visit(const std::uint64_t* key, Visit&& each) const {
  const auto n_words = static_cast<std::size_t>(words_for(k_));
  const std::uint64_t base = product(tables_[0], key, n_words) % n_counters_;
  const std::uint64_t step = product(tables_[1], key, n_words) % n_counters_;
  for (std::uint64_t i = 0; i < n_hashes_; ++i) {
    const std::uint64_t at = (base + i * step) % n_counters_;
    each(at / kPerByte, kWeights[at % kPerByte]);
  }
}

int BloomCounter::count(const std::uint64_t* key) const {
  unsigned smallest = 2;
  visit(key, [&](std::uint64_t at, unsigned weight) {
    smallest = std::min(smallest, bytes_[at] / weight % 3);
  });
  return static_cast<int>(smallest);
}

void BloomCounter::add(const std::uint64_t* key, std::uint64_t n) {
  visit(key, [&](std::uint64_t at, unsigned weight) {
    const unsigned before = bytes_[at] / weight % 3;
    const auto more = static_cast<unsigned>(std::min<std::uint64_t>(n, 2 - before));
    bytes_[at] = static_cast<std::uint8_t>(bytes_[at] + more * weight);
  });
}

void BloomCounter::write(const Header& header, io::OutputFile& out) const {
  const Json json = {{"alignment", 8},
                     {"canonical", canonical_},
                     {"cmdline", header.command},
                     {"exe_path", header.program},
                     {"format", "bloomcounter"},
                     {"hostname", header.host},
                     {"key_len", 2 * k_},
                     {"matrix1", matrix_json(columns_[0])},
                     {"matrix2", matrix_json(columns_[1])},
                     {"nb_hashes", n_hashes_},
                     {"pwd", header.folder},
                     {"size", n_counters_},
                     {"time", header.time}};
  out.write(pad_jellyfish_header(json.dump(-1, ' ', false, Json::error_handler_t::replace)));
  out.write({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
}

}  // namespace biogpu::kmer
