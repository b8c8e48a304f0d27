#include "lib/core/bounded_json.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "lib/core/error.hpp"

namespace biogpu {
namespace {

[[noreturn]] void throw_too_deep(const std::string& label, std::size_t max_depth) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: arrays or objects are nested more than {} deep", label, max_depth));
}

// Walks the items of CBOR (RFC 8949) without calling itself.
class CborWalk {
 public:
  CborWalk(std::string_view bytes, const std::string& label, std::size_t max_depth)
      : bytes_(bytes), label_(label), max_depth_(max_depth) {}

  void run() {
    do {
      item();
      while (!levels_.empty() && levels_.back() == 0) levels_.pop_back();
    } while (!levels_.empty());
  }

 private:
  static constexpr std::uint64_t kUntilBreak = UINT64_MAX;

  [[noreturn]] void malformed() const { throw_malformed_json(label_, at_); }

  std::uint64_t take(std::size_t n) {
    if (n > bytes_.size() - at_) malformed();
    std::uint64_t value = 0;
    for (const std::size_t end = at_ + n; at_ < end; ++at_)
      value = value << 8 | static_cast<unsigned char>(bytes_[at_]);
    return value;
  }

  void open(std::uint64_t n_items) {
    if (levels_.size() == max_depth_) throw_too_deep(label_, max_depth_);
    levels_.push_back(n_items);
  }

  void item() {
    const auto head = static_cast<unsigned>(take(1));
    const unsigned type = head >> 5;
    const unsigned detail = head & 31;
    const bool is_open_ended = detail == 31;
    if (type == 7 && is_open_ended) {
      if (levels_.empty() || levels_.back() != kUntilBreak) malformed();
      levels_.back() = 0;
      return;
    }
    if (!levels_.empty() && levels_.back() != kUntilBreak) --levels_.back();
    if (is_open_ended) {
      if (type < 2 || type > 5) malformed();
      return open(kUntilBreak);
    }
    if (detail > 27) malformed();
    const std::uint64_t n = detail < 24 ? detail : take(std::size_t{1} << (detail - 24));
    if (type >= 2 && type <= 5 && n > bytes_.size() - at_) malformed();  // of a byte or more each
    if (type == 2 || type == 3) at_ += static_cast<std::size_t>(n);
    if (type == 4) open(n);
    if (type == 5) open(2 * n);
    if (type == 6) open(1);
  }

  const std::string_view bytes_;
  const std::string& label_;
  const std::size_t max_depth_;
  std::size_t at_ = 0;
  std::vector<std::uint64_t> levels_;  // items that are left of each
};

}  // namespace

void throw_malformed_json(const std::string& label, std::size_t byte) {
  throw Error(
      ErrorCode::bad_input,
      fmt::format("{}: malformed at byte {}; the file may be damaged or cut short", label, byte));
}

void check_json_depth(std::string_view text, const std::string& label, std::size_t max_depth) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) throw_too_deep(label, max_depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

void check_cbor_depth(std::string_view bytes, const std::string& label, std::size_t max_depth) {
  CborWalk(bytes, label, max_depth).run();
}

}  // namespace biogpu
