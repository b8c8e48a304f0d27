#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace biogpu::align {

// Turns letters into residue classes at the width of the machine.
class ClassEncoder {
 public:
  // class_of: as Scoring has it.
  explicit ClassEncoder(const std::array<std::uint8_t, 256>& class_of);

  // to[i] = class_of[letters[i]], for i < n.
  void encode(const char* letters, std::size_t n, std::uint8_t* to) const;

 private:
  // Classes of '@' to 'O', 'P' to '_', and ' ' to '/': where lower case is as upper case they say
  // all that sequences ask for.
  static constexpr int kTables = 3;
  std::array<std::uint8_t, 16 * kTables> tables_{};
  bool has_tables_ = false;
  std::array<std::uint8_t, 256> class_of_;
};

}  // namespace biogpu::align
