#include "lib/io/images/exif.hpp"

#include <cstddef>

namespace biogpu::io::images {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShort = 3;
constexpr std::size_t kEntryBytes = 12;

}  // namespace

int exif_orientation(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 8 || bytes[0] != bytes[1] || (bytes[0] != 'I' && bytes[0] != 'M')) return 1;
  const bool is_little = bytes[0] == 'I';
  const auto number = [&](std::size_t at, std::size_t n) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < n; ++i)
      value = value << 8 | bytes[is_little ? at + n - 1 - i : at + i];
    return value;
  };
  if (number(2, 2) != 42) return 1;
  const std::size_t directory = number(4, 4);
  if (directory > bytes.size() - 2) return 1;
  const std::size_t n_entries = number(directory, 2);
  for (std::size_t i = 0; i < n_entries; ++i) {
    const std::size_t at = directory + 2 + i * kEntryBytes;
    if (at + kEntryBytes > bytes.size()) return 1;
    if (number(at, 2) != kOrientationTag) continue;
    const std::uint32_t value = number(at + 8, 2);
    return number(at + 2, 2) == kShort && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace biogpu::io::images
