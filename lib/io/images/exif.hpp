#pragma once

#include <cstdint>
#include <span>

namespace biogpu::io::images {

// The orientation that EXIF data tells, 1 to 8; 1 where they tell none or are malformed.
// bytes: the header of TIFF and the directories behind it.
int exif_orientation(std::span<const std::uint8_t> bytes);

}  // namespace biogpu::io::images
