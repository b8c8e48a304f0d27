#include "lib/io/arrays/array_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/arrays/npy_header.hpp"

namespace biogpu::io {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kNpySuffix = ".npy";
constexpr double kMaxExact = 1 << 24;  // of integers in fp32

[[noreturn]] void throw_bad_number(const std::string& what) { throw std::invalid_argument(what); }

template <class Bits>
Bits load(const char* at, bool swapped) {
  Bits bits{};
  std::memcpy(&bits, at, sizeof bits);
  if (!swapped) return bits;
  Bits other = 0;
  for (std::size_t i = 0; i < sizeof bits; ++i)
    other = static_cast<Bits>(other << 8 | (bits >> (8 * i) & 0xff));
  return other;
}

float half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  const int units = exponent == 0 ? fraction : fraction + 1024;
  return sign * std::ldexp(static_cast<float>(units), std::max(exponent, 1) - 25);
}

float narrowed(double value) {
  if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
    throw_bad_number(fmt::format("has the number {}, which is too large for fp32", value));
  return static_cast<float>(value);
}

template <class Integer>
float whole(Integer value) {
  const auto number = static_cast<double>(value);
  if (number > kMaxExact || number < -kMaxExact)
    throw_bad_number(fmt::format("has the integer {}, which fp32 does not hold exactly", value));
  return static_cast<float>(value);
}

template <class Bits>
float integer(Bits bits, char kind) {
  using Signed = std::make_signed_t<Bits>;
  return kind == 'i' ? whole(static_cast<Signed>(bits)) : whole(bits);
}

float number_at(const char* at, const NpyHeader& header) {
  const bool swapped = header.big_endian;
  switch (header.bytes_a_number) {
    case 1:
      if (header.kind == 'b') return *at != 0 ? 1 : 0;
      return integer(load<std::uint8_t>(at, false), header.kind);
    case 2: {
      const auto bits = load<std::uint16_t>(at, swapped);
      return header.kind == 'f' ? half(bits) : integer(bits, header.kind);
    }
    case 4: {
      const auto bits = load<std::uint32_t>(at, swapped);
      return header.kind == 'f' ? std::bit_cast<float>(bits) : integer(bits, header.kind);
    }
    default: {
      const auto bits = load<std::uint64_t>(at, swapped);
      return header.kind == 'f' ? narrowed(std::bit_cast<double>(bits))
                                : integer(bits, header.kind);
    }
  }
}

// Numbers in row-major order, of a file whose first axis is the fastest.
void read_fortran(const char* from, const NpyHeader& header, float* to) {
  const std::size_t rank = header.shape.size();
  std::vector<std::size_t> step(rank), index(rank);
  std::size_t n = header.bytes_a_number;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    step[axis] = n;
    n *= static_cast<std::size_t>(header.shape[axis]);
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < header.n_numbers; ++i) {
    to[i] = number_at(from + at, header);
    for (std::size_t axis = rank; axis-- > 0;) {
      at += step[axis];
      if (++index[axis] < static_cast<std::size_t>(header.shape[axis])) break;
      at -= step[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

LoadedArray read_npy(std::string_view bytes) {
  const NpyHeader header = parse_npy_header(bytes);
  LoadedArray array{header.shape, SharedArray::unset(header.n_numbers)};
  const char* const from = bytes.data() + header.begin;
  float* const to = array.values.data();
  if (header.n_numbers == 0) return array;
  if (header.fortran_order && header.shape.size() > 1) {
    read_fortran(from, header, to);
  } else if (header.kind == 'f' && header.bytes_a_number == 4 && !header.big_endian) {
    std::memcpy(to, from, header.n_numbers * sizeof(float));
  } else {
    for (std::size_t i = 0; i < header.n_numbers; ++i)
      to[i] = number_at(from + i * header.bytes_a_number, header);
  }
  return array;
}

// What a file is that is neither of the two, where its first bytes tell.
const char* other_kind(std::string_view bytes) {
  if (bytes.empty()) return "is empty";
  if (bytes.starts_with("\x1f\x8b")) return "is compressed by gzip; unpack it first";
  if (bytes.starts_with("\x89HDF")) return "is an HDF5 file; expected .npz or .npy";
  if (bytes.starts_with("\x80")) return "is a pickle of Python; expected .npz or .npy";
  return "is neither .npz nor .npy";
}

}  // namespace

ArrayFile::ArrayFile(const std::string& path) : path_(path), file_(path) {
  const std::string_view bytes = file_.bytes();
  if (bytes.starts_with(kNpyMagic)) {
    index_.emplace(keys_.emplace_back(), 0);
    return;
  }
  if (!bytes.starts_with("PK\x03\x04") && !bytes.starts_with("PK\x05\x06"))
    throw Error(ErrorCode::bad_input, path + ": " + other_kind(bytes));
  zip_ = std::make_unique<ZipArchive>(file_, path);
  for (const ZipMember& member : zip_->members()) {
    const std::string_view name = member.name;
    if (!name.ends_with(kNpySuffix))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: the member {} is no .npy", path, quoted(name)));
    const std::size_t i = keys_.size();
    index_.emplace(keys_.emplace_back(name.substr(0, name.size() - kNpySuffix.size())), i);
  }
}

std::string ArrayFile::place(const std::string& key) const {
  return zip_ ? fmt::format("{}: array {}", path_, quoted(key)) : path_;
}

LoadedArray ArrayFile::read(const std::string& key) const {
  const auto found = index_.find(key);
  if (found == index_.end()) throw std::out_of_range("an array that the file does not have");
  BigArray<char> room;
  const std::string_view bytes =
      zip_ ? zip_->read(zip_->members()[found->second], room) : file_.bytes();
  try {
    return read_npy(bytes);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", place(key), error.what()));
  }
}

}  // namespace biogpu::io
