#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace biogpu::genome {

// A position of GTF, from 1; nothing for what is none.
std::optional<std::int64_t> parse_gtf_position(std::string_view text);

// The value of a key in GTF's last column: KEY "VALUE"; or KEY VALUE; and empty where it has none.
std::string_view find_gtf_attribute(std::string_view attributes, std::string_view key);

}  // namespace biogpu::genome
