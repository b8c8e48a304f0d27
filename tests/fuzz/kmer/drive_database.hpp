#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace biogpu::fuzz {

// What the commands do with a database: reads it, looks its k-mers up and combines it with itself
// in another order. An Error, or the same k-mers by each way.
void drive_database(const std::uint8_t* bytes, std::size_t n);

// Writes the nine digits that a file of Jellyfish begins with: the bytes up to the end of the first
// JSON object.
void repair_jellyfish_length(std::string& content);

}  // namespace biogpu::fuzz
