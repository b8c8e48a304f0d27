// The JSON header of Jellyfish's files: written, read and shown.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lib/core/bounded_json.hpp"
#include "lib/core/quote.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/json_fields.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {
namespace {

using Json = nlohmann::json;  // its keys are sorted, as Jellyfish's are

constexpr std::size_t kAlignment = 8;
constexpr std::size_t kMaxHeaderBytes = 16u << 20;
constexpr int kDefaultReprobe = 126;
constexpr int kMaxReprobe = 1'000'000;  // that -p takes

// Probe distances of Jellyfish's table: 1, then triangular numbers.
std::uint64_t reprobe(std::uint64_t i) { return i == 0 ? 1 : i * (i + 1) / 2; }

std::vector<std::uint64_t> reprobes_up_to(int limit) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i <= static_cast<std::uint64_t>(limit); ++i) all.push_back(reprobe(i));
  return all;
}

// The limit that a table of this size gets.
int reprobe_limit(const KeyOrder& order, int asked) {
  if (order.size_bits() == 2 * order.k()) return 0;  // every k-mer has its own slot
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

// Jellyfish's own lexicographic order names the whole key space as its size.
KeyOrder parse_order(const JsonFields& header, int k, const std::string& label) {
  const auto key_bits = static_cast<std::uint64_t>(2 * k);
  const std::uint64_t size = header.number("size", 1, UINT64_MAX);
  const int size_bits = std::countr_zero(size);
  if (!std::has_single_bit(size) || size_bits > 2 * k)
    header.throw_bad_input("size", fmt::format("a power of two up to 2^{}, for k-mers of {} bits",
                                               std::min(2 * k, 63), 2 * k));
  const JsonFields matrix = header.fields("matrix1");
  const std::uint64_t n_rows = matrix.number("r", 0, 64);
  const std::uint64_t n_columns = matrix.number("c", 0, 2 * kMaxK);
  if (n_rows != static_cast<std::uint64_t>(size_bits) || n_columns != key_bits)
    throw_bad_input(label, fmt::format("matrix1 has {} rows and {} columns; expected {} and {}",
                                       n_rows, n_columns, size_bits, key_bits));
  if (matrix.flag("identity")) return KeyOrder::jellyfish(k, size_bits, true);
  return KeyOrder::of_matrix(k, {size_bits, matrix.numbers("columns", key_bits, size - 1)});
}

Header header_of(const Json& json, const std::string& label) {
  const JsonFields fields(json, label);
  Header header;
  const std::string format = fields.text("format");
  if (format == "text/sorted")
    header.format = Format::jellyfish_text;
  else if (format != "binary/sorted")
    throw_bad_input(
        label, fmt::format("has Jellyfish's format '{}'; expected binary/sorted or text/sorted",
                           shortened(format)));
  const std::uint64_t key_bits = fields.number("key_len", 2, 2 * kMaxK);
  if (key_bits % 2 != 0) fields.throw_bad_input("key_len", "an even number");
  header.k = static_cast<int>(key_bits / 2);
  header.canonical = fields.flag("canonical");
  header.counter_bytes = static_cast<int>(fields.number_or("counter_len", 4, 1, 8));
  header.order = parse_order(fields, header.k, label);
  header.max_reprobe =
      static_cast<int>(fields.number_or("max_reprobe", kDefaultReprobe, 0, kMaxReprobe));
  read_provenance(fields, header);
  return header;
}

}  // namespace

bool is_jellyfish(std::string_view head) {
  return head.size() > kDigits && head[kDigits] == '{' &&
         std::all_of(head.begin(), head.begin() + kDigits,
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string read_jellyfish_header(io::input::RawFile& file) {
  std::string digits(kDigits + 1, '\0');
  digits.resize(file.read(digits.data(), digits.size()));
  if (!is_jellyfish(digits))
    throw_bad_input(file.label(),
                    "does not begin as a file of Jellyfish: nine digits and a JSON object");
  std::size_t n = 0;
  std::from_chars(digits.data(), digits.data() + kDigits, n);
  if (n == 0 || n > kMaxHeaderBytes)
    throw_bad_input(file.label(),
                    fmt::format("a header of {} bytes; expected 1 to {}", n, kMaxHeaderBytes));
  std::string text(n, digits[kDigits]);
  if (file.read(text.data() + 1, n - 1) < n - 1)
    throw_bad_input(file.label(), "the file ends inside its header; it may be cut short");
  return text;
}

Json parse_jellyfish_json(std::string_view text, const std::string& label) {
  return parse_bounded_json(text.substr(0, text.find('\0')), label);
}

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
  const std::size_t n = json.size() + 1;
  json.resize((kDigits + n + kAlignment - 1) / kAlignment * kAlignment - kDigits, '\0');
  return fmt::format("{:09}", json.size()) + json;
}

// Depth is bounded: the JSON of a file was parsed with a bound.
std::string styled_header(const Header& header) {
  const std::string own =
      header.json.empty() ? jellyfish_header(header).substr(kDigits) : header.json;
  std::string out;
  append_styled(parse_jellyfish_json(own, "header"), 0, out);
  return out + "\n";
}

Header parse_jellyfish_header(std::string_view text, const std::string& label) {
  Header header = header_of(parse_jellyfish_json(text, label), label);
  header.json = text.substr(0, text.find('\0'));
  return header;
}

}  // namespace biogpu::kmer
