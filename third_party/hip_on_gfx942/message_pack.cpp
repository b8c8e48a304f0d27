#include "message_pack.hpp"

#include <stdexcept>

namespace hip_on_gfx942 {
namespace {

class Reader {
 public:
  Reader(const unsigned char* bytes, std::size_t n_bytes) : at_(bytes), end_(bytes + n_bytes) {}

  Packed value() {
    const unsigned kind = static_cast<unsigned>(big_endian(1));
    if (kind < 0x80) return number(kind);
    if (kind < 0x90) return map(kind & 0xf);
    if (kind < 0xa0) return array(kind & 0xf);
    if (kind < 0xc0) return text(kind & 0x1f);
    if (kind >= 0xe0) return number(static_cast<std::uint64_t>(static_cast<signed char>(kind)));
    switch (kind) {
      case 0xc0:
      case 0xc2:
        return number(0);
      case 0xc3:
        return number(1);
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return number(big_endian(1U << (kind - 0xcc)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return text(big_endian(1U << (kind - 0xd9)));
      case 0xdc:
      case 0xdd:
        return array(big_endian(2U << (kind - 0xdc)));
      case 0xde:
      case 0xdf:
        return map(big_endian(2U << (kind - 0xde)));
      default:
        throw std::runtime_error("the notes of a code object hold an unknown kind of value");
    }
  }

 private:
  std::uint64_t big_endian(unsigned n_bytes) {
    if (static_cast<std::size_t>(end_ - at_) < n_bytes)
      throw std::runtime_error("the notes of a code object are cut short");
    std::uint64_t result = 0;
    for (unsigned i = 0; i < n_bytes; ++i) result = result << 8 | *at_++;
    return result;
  }

  static Packed number(std::uint64_t value) {
    Packed result;
    result.number = value;
    return result;
  }

  Packed text(std::uint64_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size)
      throw std::runtime_error("the notes of a code object are cut short");
    Packed result;
    result.text.assign(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return result;
  }

  Packed array(std::uint64_t size) {
    Packed result;
    for (std::uint64_t i = 0; i < size; ++i) result.items.push_back(value());
    return result;
  }

  Packed map(std::uint64_t size) {
    Packed result;
    for (std::uint64_t i = 0; i < size; ++i) {
      result.keys.push_back(value().text);
      result.items.push_back(value());
    }
    return result;
  }

  const unsigned char* at_;
  const unsigned char* end_;
};

}  // namespace

const Packed* Packed::find(const std::string& key) const {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

const Packed& Packed::at(const std::string& key) const {
  const Packed* const found = find(key);
  if (found == nullptr) throw std::runtime_error("the notes of a code object lack " + key);
  return *found;
}

Packed read_message_pack(const unsigned char* bytes, std::size_t n_bytes) {
  return Reader(bytes, n_bytes).value();
}

}  // namespace hip_on_gfx942
