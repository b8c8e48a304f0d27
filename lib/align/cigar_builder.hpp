#pragma once

#include <cstdint>
#include <vector>

namespace biogpu::align {

// Collects a path from its end to its beginning and appends it in reading order, runs joined.
class CigarBuilder {
 public:
  void add(std::uint32_t op, std::uint32_t length) {
    if (length == 0) return;
    if (op == op_) {
      length_ += length;
    } else {
      if (length_ > 0) runs_.push_back(length_ << 4 | op_);
      op_ = op;
      length_ = length;
    }
  }

  // For the next path.
  void clear() {
    runs_.clear();
    length_ = 0;
    op_ = kNone;
  }

  // Returns the number of operations appended to `out`, and clears.
  std::uint32_t flush(std::vector<std::uint32_t>& out) {
    if (length_ > 0) runs_.push_back(length_ << 4 | op_);
    const auto n = static_cast<std::uint32_t>(runs_.size());
    out.insert(out.end(), runs_.rbegin(), runs_.rend());
    clear();
    return n;
  }

 private:
  static constexpr std::uint32_t kNone = 15;
  std::vector<std::uint32_t> runs_;
  std::uint32_t op_ = kNone;
  std::uint32_t length_ = 0;
};

}  // namespace biogpu::align
