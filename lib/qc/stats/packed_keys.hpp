#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "lib/io/char_buffer.hpp"

namespace biogpu::qc {

// Keys of DuplicateHash in as few bytes as hold one: little-endian, one behind the other.
class PackedKeys {
 public:
  PackedKeys() = default;
  // n_bits: of a key, at most 64.
  explicit PackedKeys(int n_bits) : key_bytes_((static_cast<std::size_t>(n_bits) + 7) / 8) {}

  std::size_t key_bytes() const { return key_bytes_; }
  std::size_t size() const { return bytes_.size() / key_bytes_; }
  std::uint64_t operator[](std::size_t i) const {
    std::uint64_t key = 0;
    std::memcpy(&key, bytes_.data() + i * key_bytes_, key_bytes_);
    return key;
  }
  std::string_view bytes() const { return bytes_.view(); }

  void append(const std::vector<std::uint64_t>& keys) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + keys.size() * key_bytes_);
    char* to = bytes_.data() + begin;
    for (const std::uint64_t key : keys) {
      std::memcpy(to, &key, key_bytes_);
      to += key_bytes_;
    }
  }
  // As bytes() gave them; a multiple of key_bytes().
  void append_bytes(std::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }

 private:
  std::size_t key_bytes_ = sizeof(std::uint64_t);
  io::CharBuffer bytes_;  // grows without a copy where the system can move pages
};

}  // namespace biogpu::qc
