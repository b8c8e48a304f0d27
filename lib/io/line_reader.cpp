#include "lib/io/line_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io {
namespace {

// Text that a small compressed file may hold: the bound on expansion begins behind it.
constexpr std::uint64_t kAlwaysAllowed = 16u << 20;

}  // namespace

LineReader::LineReader(const std::string& path, std::string expected, std::size_t max_line_bytes)
    : label_(input::label_of(path)),
      expected_(std::move(expected)),
      max_line_bytes_(max_line_bytes),
      text_(path),
      piece_(text_.next()) {
  input::refuse_compression(piece_, label_);
}

bool LineReader::next(std::string& line) {
  line.clear();
  if (piece_.empty()) return false;
  ++number_;
  for (bool whole = false; !whole && !piece_.empty();) {
    const std::size_t end = piece_.find('\n');
    whole = end != std::string_view::npos;
    line += piece_.substr(0, end);
    if (line.size() > max_line_bytes_)
      throw Error(ErrorCode::bad_input, fmt::format("{}: line {}: more than {} bytes; expected {}",
                                                    label_, number_, max_line_bytes_, expected_));
    piece_.remove_prefix(whole ? end + 1 : piece_.size());
    if (piece_.empty()) piece_ = next_piece();
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

std::string_view LineReader::next_piece() {
  const std::string_view piece = text_.next();
  n_bytes_ += piece.size();
  if (n_bytes_ > std::max(kAlwaysAllowed, kMaxExpansion * text_.bytes_read()))
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: expands to more than {} times its size; expected {}", label_,
                            kMaxExpansion, expected_));
  return piece;
}

}  // namespace biogpu::io
