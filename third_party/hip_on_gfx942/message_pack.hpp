#pragma once

// MessagePack, as far as the notes of code objects use it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hip_on_gfx942 {

struct Packed {
  std::uint64_t number = 0;
  std::string text;
  std::vector<Packed> items;      // of an array, or the values of a map
  std::vector<std::string> keys;  // of a map

  const Packed* find(const std::string& key) const;
  const Packed& at(const std::string& key) const;  // throws std::runtime_error
};

Packed read_message_pack(const unsigned char* bytes, std::size_t n_bytes);

}  // namespace hip_on_gfx942
