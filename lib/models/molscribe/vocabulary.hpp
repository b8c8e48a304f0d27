#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace biogpu::models::molscribe {

// Tokens: special ones and characters, whose numbers a file gives, then bins of x and bins of y.
class Vocabulary {
 public:
  enum Special : std::int32_t { kPad, kStart, kStop, kUnknown, kMask, kFirstCharacter };

  // Reads a JSON object of texts and numbers. Throws Error{bad_input} with the path.
  Vocabulary(const std::string& path, std::int64_t n_bins);

  std::int32_t n_symbols() const { return static_cast<std::int32_t>(texts_.size()); }
  std::int32_t n_bins() const { return n_bins_; }
  std::int32_t size() const { return n_symbols() + 2 * n_bins_; }

  bool is_x(std::int32_t id) const { return id >= n_symbols() && id < n_symbols() + n_bins_; }
  bool is_y(std::int32_t id) const { return id >= n_symbols() + n_bins_; }
  bool is_symbol(std::int32_t id) const {
    return id == kUnknown || (id >= kFirstCharacter && id < n_symbols());
  }
  // Whether an atom's symbol begins with it: a letter, '*' or '['.
  bool begins_atom(std::int32_t id) const {
    return is_symbol(id) && begins_atom_[static_cast<std::size_t>(id)];
  }
  const std::string& text(std::int32_t id) const { return texts_[static_cast<std::size_t>(id)]; }
  // From 0 to 1.
  double coordinate(std::int32_t id) const {
    const std::int32_t bin = id - n_symbols() - (is_y(id) ? n_bins_ : 0);
    return static_cast<double>(bin) / (n_bins_ - 1);
  }

 private:
  std::vector<std::string> texts_;
  std::vector<bool> begins_atom_;
  std::int32_t n_bins_ = 0;
};

}  // namespace biogpu::models::molscribe
