#include "lib/kmer/database/jellyfish_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lib/core/error.hpp"
#include "lib/kmer/database/refuse.hpp"

namespace biogpu::kmer {
namespace {

using Json = nlohmann::json;  // its keys are sorted, as Jellyfish's are

constexpr std::size_t kAlignment = 8;
constexpr int kMaxReprobe = 126;

// Probe distances of Jellyfish's table: 1, then triangular numbers.
std::uint64_t reprobe(std::uint64_t i) { return i == 0 ? 1 : i * (i + 1) / 2; }

std::vector<std::uint64_t> reprobes_up_to(int limit) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i <= static_cast<std::uint64_t>(limit); ++i) all.push_back(reprobe(i));
  return all;
}

// The limit that a table of this size gets.
int reprobe_limit(const KeyOrder& order, int asked) {
  if (order.size_bits() == 2 * order.k()) return 0;  // every k-mer has a slot of its own
  int limit = asked;
  while (limit > 0 && reprobe(static_cast<std::uint64_t>(limit)) >= std::uint64_t{1}
                                                                        << order.size_bits())
    --limit;
  return limit;
}

Json matrix_json(const KeyOrder& order) {
  Json matrix = {{"r", order.size_bits()}, {"c", 2 * order.k()}};
  matrix["identity"] = order.is_identity();
  if (!order.is_identity()) matrix["columns"] = order.matrix().columns;
  return matrix;
}

// Jellyfish's own lexicographic order names the whole key space as its size.
KeyOrder parse_order(const Json& header, int k, const std::string& label) {
  const std::uint64_t size = header.at("size");
  if (!std::has_single_bit(size)) refuse(label, fmt::format("size {} is no power of two", size));
  const int size_bits = std::countr_zero(size);
  if (!header.contains("matrix1")) refuse(label, "the header has no matrix1");
  const Json& matrix = header.at("matrix1");
  if (matrix.at("r").get<int>() != size_bits || matrix.at("c").get<int>() != 2 * k)
    refuse(label,
           fmt::format("matrix1 has {} rows and {} columns; expected {} and {}",
                       matrix.at("r").get<int>(), matrix.at("c").get<int>(), size_bits, 2 * k));
  if (matrix.value("identity", false)) return KeyOrder::jellyfish(k, size_bits, true);
  BitMatrix bits{size_bits, matrix.at("columns").get<std::vector<std::uint64_t>>()};
  if (bits.columns.size() != static_cast<std::size_t>(2 * k))
    refuse(label, fmt::format("matrix1 has {} columns; expected {}", bits.columns.size(), 2 * k));
  return KeyOrder::of_matrix(k, bits);
}

Header header_of(const Json& json, const std::string& label) {
  Header header;
  const std::string format = json.at("format");
  if (format == "text/sorted") {
    header.format = Format::jellyfish_text;
  } else if (format != "binary/sorted") {
    refuse(label, fmt::format("has Jellyfish's format '{}'; expected binary/sorted or text/sorted",
                              format));
  }
  const int key_bits = json.at("key_len");
  if (key_bits < 2 || key_bits > 2 * kMaxK || key_bits % 2 != 0)
    refuse(label,
           fmt::format("key_len is {}; expected an even number up to {}", key_bits, 2 * kMaxK));
  header.k = key_bits / 2;
  header.canonical = json.value("canonical", false);
  header.counter_bytes = json.value("counter_len", 4);
  if (header.counter_bytes < 1 || header.counter_bytes > 8)
    refuse(label, fmt::format("counter_len is {}; expected 1 to 8", header.counter_bytes));
  header.order = parse_order(json, header.k, label);
  header.max_reprobe = json.value("max_reprobe", kMaxReprobe);
  header.command = json.value("cmdline", std::vector<std::string>());
  header.program = json.value("exe_path", "");
  header.host = json.value("hostname", "");
  header.folder = json.value("pwd", "");
  header.time = json.value("time", "");
  return header;
}

using FourLetters = std::array<char, 4>;

// The four bases of a byte, the first in its highest pair.
constexpr std::array<FourLetters, 256> make_four_letters() {
  std::array<FourLetters, 256> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte)
    for (std::size_t i = 0; i < 4; ++i) all[byte][i] = "ACGT"[byte >> (6 - 2 * i) & 3];
  return all;
}
constexpr std::array<FourLetters, 256> kFourLetters = make_four_letters();

void write_letters(const std::uint64_t* key, int k, char* to) {
  const auto n_words = static_cast<std::size_t>(words_for(k));
  const auto bits = [&](std::size_t from_end) {
    return key[n_words - 1 - from_end / kBasesPerWord] >> 2 * (from_end % kBasesPerWord);
  };
  std::size_t from_end = 0;
  char* at = to + k;
  for (; at - to >= 4; from_end += 4) {
    at -= 4;
    std::memcpy(at, kFourLetters[bits(from_end) & 0xff].data(), 4);
  }
  for (; at > to; ++from_end) *--at = "ACGT"[bits(from_end) & 3];
}

std::uint64_t largest_count(int bytes) {
  return bytes >= 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * bytes) - 1;
}

}  // namespace

std::string jellyfish_header(const Header& header) {
  const int limit = reprobe_limit(header.order, header.max_reprobe);
  Json json = {{"alignment", kAlignment},
               {"canonical", header.canonical},
               {"cmdline", header.command},
               {"exe_path", header.program},
               {"hostname", header.host},
               {"key_len", 2 * header.k},
               {"matrix1", matrix_json(header.order)},
               {"max_reprobe", limit},
               {"pwd", header.folder},
               {"reprobes", reprobes_up_to(limit)},
               {"size", std::uint64_t{1} << header.order.size_bits()},
               {"time", header.time},
               {"val_len", 7}};
  if (header.format == Format::jellyfish_text) {
    json["format"] = "text/sorted";
  } else {
    json["format"] = "binary/sorted";
    json["counter_len"] = header.counter_bytes;
  }
  return pad_jellyfish_header(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string pad_jellyfish_header(std::string json) {
  constexpr std::size_t kDigits = 9;
  const std::size_t n = json.size() + 1;
  json.resize((kDigits + n + kAlignment - 1) / kAlignment * kAlignment - kDigits, '\0');
  return fmt::format("{:09}", json.size()) + json;
}

// Objects on lines of their own, arrays on one line as long as they fit 74 columns.
void append_styled(const Json& json, std::size_t indent, std::string& out) {
  const std::string blanks(indent + 3, ' ');
  if (json.is_object() && !json.empty()) {
    out += "{\n";
    for (auto item = json.begin(); item != json.end(); ++item) {
      out += fmt::format("{}{} : ", blanks, Json(item.key()).dump());
      append_styled(item.value(), indent + 3, out);
      out += std::next(item) == json.end() ? "\n" : ",\n";
    }
    out += std::string(indent, ' ') + "}";
    return;
  }
  if (!json.is_array() || json.empty()) {
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  constexpr std::size_t kRightMargin = 74;
  std::size_t length = 4 + (json.size() - 1) * 2;
  std::vector<std::string> items;
  for (const Json& item : json) {
    items.push_back(item.dump(-1, ' ', false, Json::error_handler_t::replace));
    length += items.back().size();
  }
  const bool one_line = json.size() * 3 < kRightMargin && length < kRightMargin;
  out += one_line ? "[ " : "[\n";
  for (std::size_t i = 0; i < items.size(); ++i)
    out += (one_line ? items[i] : blanks + items[i]) +
           (i + 1 < items.size() ? (one_line ? ", " : ",\n") : "");
  out += one_line ? " ]" : "\n" + std::string(indent, ' ') + "]";
}

Json parse_json(std::string_view text) { return Json::parse(text.substr(0, text.find('\0'))); }

std::string styled_header(const Header& header) {
  std::string out;
  append_styled(parse_json(header.json.empty() ? jellyfish_header(header).substr(9) : header.json),
                0, out);
  return out + "\n";
}

Header parse_jellyfish_header(std::string_view json, const std::string& label) {
  try {
    Header header = header_of(parse_json(json), label);
    header.json = json.substr(0, json.find('\0'));
    return header;
  } catch (const Json::exception& error) {
    refuse(label, fmt::format("the header is damaged: {}", error.what()));
  }
}

void append_jellyfish_records(const Header& header, const CountBlock& block, std::string& out) {
  const auto key_bytes = static_cast<std::size_t>(bytes_for(header.k));
  const auto count_bytes = static_cast<std::size_t>(header.counter_bytes);
  const auto n_words = static_cast<std::size_t>(block.n_words);
  const std::uint64_t largest = largest_count(header.counter_bytes);
  const std::size_t begin = out.size();
  const std::size_t n_bytes = block.size() * (key_bytes + count_bytes);
  out.resize(begin + n_bytes + 16);  // whole words are stored
  char* to = out.data() + begin;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint64_t* key = block.key(i);
    for (std::size_t w = 0; 8 * w < key_bytes; ++w)
      std::memcpy(to + 8 * w, &key[n_words - 1 - w], 8);
    to += key_bytes;
    const std::uint64_t count = std::min(block.counts[i], largest);
    std::memcpy(to, &count, 8);
    to += count_bytes;
  }
  out.resize(begin + n_bytes);
}

void append_letters(const std::uint64_t* key, int k, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + static_cast<std::size_t>(k));
  write_letters(key, k, out.data() + begin);
}

void append_jellyfish_lines(const Header& header, const CountBlock& block, char separator,
                            std::string& out) {
  constexpr std::size_t kMostDigits = 20;
  const auto n_letters = static_cast<std::size_t>(header.k);
  const std::size_t begin = out.size();
  out.resize(begin + block.size() * (n_letters + kMostDigits + 2));
  char* to = out.data() + begin;
  for (std::size_t i = 0; i < block.size(); ++i) {
    write_letters(block.key(i), header.k, to);
    to += n_letters;
    *to++ = separator;
    to = std::to_chars(to, to + kMostDigits, block.counts[i]).ptr;
    *to++ = '\n';
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

void parse_jellyfish_records(const Header& header, std::string_view bytes, CountBlock& block) {
  const auto key_bytes = static_cast<std::size_t>(bytes_for(header.k));
  const auto count_bytes = static_cast<std::size_t>(header.counter_bytes);
  const auto n_words = static_cast<std::size_t>(words_for(header.k));
  const std::size_t n = bytes.size() / (key_bytes + count_bytes);
  block.n_words = static_cast<int>(n_words);
  block.keys.reserve(block.keys.size() + n * n_words);
  block.counts.reserve(block.counts.size() + n);
  const char* at = bytes.data();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t w = n_words; w-- > 0;) {
      std::uint64_t word = 0;
      if (8 * w < key_bytes)
        std::memcpy(&word, at + 8 * w, std::min<std::size_t>(8, key_bytes - 8 * w));
      block.keys.push_back(word);
    }
    at += key_bytes;
    std::uint64_t count = 0;
    std::memcpy(&count, at, count_bytes);
    block.counts.push_back(count);
    at += count_bytes;
  }
}

}  // namespace biogpu::kmer
