#include "lib/io/arrays/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>

#include "lib/core/quote.hpp"

namespace biogpu::io {
namespace {

constexpr std::size_t kMaxAxes = 64;  // of NumPy

[[noreturn]] void throw_bad_header(const std::string& what) { throw std::invalid_argument(what); }

// The header's text: a Python dictionary with three entries, written as a literal.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!skip('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        note(has_type, key);
        set_type(header);
      } else if (key == "fortran_order") {
        note(has_order, key);
        header.fortran_order = truth();
      } else if (key == "shape") {
        note(has_shape, key);
        header.shape = shape();
      } else {
        throw_bad_header(fmt::format("its header has an unknown entry {}", quoted(key)));
      }
      if (!skip(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) throw_bad_header("its header goes on behind the dictionary");
    if (!has_type || !has_order || !has_shape)
      throw_bad_header("its header lacks descr, fortran_order or shape");
    return header;
  }

 private:
  static void note(bool& seen, std::string_view key) {
    if (seen) throw_bad_header(fmt::format("its header has {} twice", key));
    seen = true;
  }
  void skip_space() {
    const std::size_t n = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(n == std::string_view::npos ? text_.size() : n);
  }
  bool skip(char c) {
    skip_space();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!skip(c))
      throw_bad_header(
          fmt::format("its header has {} where '{}' is expected", quoted(text_.substr(0, 10)), c));
  }
  std::string_view string() {
    skip_space();
    const char mark = text_.empty() ? '\0' : text_.front();
    if (mark != '\'' && mark != '"')
      throw_bad_header(
          fmt::format("its header has {} where a string is expected", quoted(text_.substr(0, 10))));
    const std::size_t end = text_.find(mark, 1);
    if (end == std::string_view::npos) throw_bad_header("its header has a string without an end");
    const std::string_view value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value;
  }
  bool truth() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    throw_bad_header("its header has a fortran_order other than True and False");
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!skip(')')) {
      skip_space();
      std::int64_t n = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n);
      if (error != std::errc() || n < 0)
        throw_bad_header(
            fmt::format("its header has {} as an extent", quoted(text_.substr(0, 20))));
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      skip('L');  // of Python 2
      if (extents.size() == kMaxAxes)
        throw_bad_header(fmt::format("it has more than {} axes", kMaxAxes));
      extents.push_back(n);
      if (!skip(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }
  void set_type(NpyHeader& header) {
    skip_space();
    if (text_.starts_with('[')) throw_bad_header("it holds records of several fields, not numbers");
    const std::string_view type = string();
    const bool has_order =
        type.size() == 3 && std::string_view("<>=|").find(type[0]) != std::string_view::npos;
    const std::string_view rest = has_order ? type.substr(1) : std::string_view();
    constexpr std::string_view kTypes[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                           "i8", "u1", "u2", "u4", "u8", "b1"};
    for (const std::string_view known : kTypes) {
      if (rest != known) continue;
      header.kind = rest[0];
      header.bytes_a_number = static_cast<std::size_t>(rest[1] - '0');
      if (type[0] == '|' && header.bytes_a_number > 1) break;
      header.big_endian = type[0] == '>';
      return;
    }
    throw_bad_header(
        fmt::format("it holds numbers of type {}; expected one of f2, f4, f8, i1 to i8, u1 to "
                    "u8, b1",
                    quoted(type)));
  }

  std::string_view text_;
};

// Nothing where the number is larger than any file.
std::optional<std::size_t> count(const std::vector<std::int64_t>& shape, std::size_t max_numbers) {
  std::size_t n = 1;
  bool is_empty = false;
  for (const std::int64_t extent : shape) is_empty = is_empty || extent == 0;
  if (is_empty) return 0;
  for (const std::int64_t extent : shape) {
    if (static_cast<std::uint64_t>(extent) > max_numbers / n) return std::nullopt;
    n *= static_cast<std::size_t>(extent);
  }
  return n;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes) {
  constexpr std::size_t kVersionBytes = kNpyMagic.size() + 2;
  if (!bytes.starts_with(kNpyMagic)) throw_bad_header("does not begin as an .npy does");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() < kVersionBytes + 2) throw_bad_header("ends inside its header");
  const unsigned version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0)
    throw_bad_header(
        fmt::format("has version {}.{} of the format; expected 1.0 to 3.0", version, byte(7)));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t text = kVersionBytes + length_bytes;
  if (bytes.size() < text) throw_bad_header("ends inside its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::size_t{byte(kVersionBytes + i)} << (8 * i);
  if (length > bytes.size() - text) throw_bad_header("ends inside its header");
  NpyHeader header = HeaderText(bytes.substr(text, length)).parse();
  header.begin = text + length;
  const std::size_t n_bytes = bytes.size() - header.begin;
  const auto n = count(header.shape, n_bytes / header.bytes_a_number);
  if (!n || *n * header.bytes_a_number != n_bytes)
    throw_bad_header(
        fmt::format("has {} bytes of numbers, which is not what its shape ({}) of {}{} takes",
                    n_bytes, fmt::join(header.shape, ", "), header.kind, header.bytes_a_number));
  header.n_numbers = *n;
  return header;
}

}  // namespace biogpu::io
