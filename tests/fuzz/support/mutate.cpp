#include "tests/fuzz/support/mutate.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <random>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace biogpu::fuzz {
namespace {

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  // A number from 0 to n - 1; 0 of n = 0.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void step(std::string& bytes, Layout layout) {
    if (layout == Layout::binary) {
      below(3) != 0 ? change_integer(bytes) : change_block(bytes);
      return;
    }
    switch (below(6)) {
      case 0:
        change_unit(bytes, '\n');
        break;
      case 1:
        change_unit(bytes, kSeparators[below(kSeparators.size())]);
        break;
      case 2:
        nest(bytes);
        break;
      default:
        change_number(bytes);
    }
  }

 private:
  static constexpr std::string_view kSeparators = "\t, :;=\"";

  std::uint64_t hard_value(std::size_t size) {
    const std::uint64_t power = std::uint64_t{1} << below(64);
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
        return 1;
      case 2:
        return ~std::uint64_t{0};
      case 3:
        return power;
      case 4:
        return power - 1;
      case 5:
        return 0 - power;
      case 6:
        return size + below(5) - 2;
      default:
        return below(300);
    }
  }

  void change_integer(std::string& bytes) {
    const std::size_t width = std::size_t{1} << below(4);
    if (bytes.size() < width) return change_block(bytes);
    // The head holds the sizes of most formats.
    const std::size_t range = bytes.size() - width + 1;
    const std::size_t at = below(below(2) == 0 ? std::min<std::size_t>(range, 64) : range);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    value = below(4) == 0 ? value + below(3) - 1 : hard_value(bytes.size());
    std::memcpy(bytes.data() + at, &value, width);
  }

  void change_block(std::string& bytes) {
    const std::size_t from = below(bytes.size() + 1);
    const std::size_t n = below(std::min<std::size_t>(bytes.size() - from, 64) + 1);
    switch (below(3)) {
      case 0:
        bytes.resize(from);
        break;
      case 1:
        bytes.erase(from, n);
        break;
      default:
        bytes.insert(below(bytes.size() + 1), bytes.substr(from, n));
    }
  }

  void change_number(std::string& text) {
    // The first digit at or behind a random place.
    std::size_t at = below(text.size() + 1);
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) == 0) ++at;
    std::size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    constexpr std::array<std::string_view, 10> kHard = {
        "-1", "1e308",      "nan",   "-inf", "0.5", "007", "18446744073709551616",
        "",   "2147483648", "1e-320"};
    const std::string value = below(2) == 0 ? std::string(kHard[below(kHard.size())])
                                            : std::to_string(hard_value(text.size()));
    text.replace(at, end - at, value);
  }

  // Copies, removes or moves what stands between two separators.
  void change_unit(std::string& text, char separator) {
    const std::size_t place = below(text.size() + 1);
    const std::size_t before = text.rfind(separator, place == 0 ? 0 : place - 1);
    const std::size_t from = before == std::string::npos || before >= place ? 0 : before;
    const std::size_t end = std::min(text.find(separator, place), text.size());
    const std::string unit = text.substr(from, end - from);
    if (below(2) == 0) text.erase(from, end - from);
    if (below(2) == 0) text.insert(below(text.size() + 1), unit);
  }

  void nest(std::string& text) {
    constexpr std::array<std::string_view, 3> kOpen = {"[", "{\"a\":", "("};
    const std::string_view open = kOpen[below(kOpen.size())];
    const std::size_t at = below(text.size() + 1);
    const std::size_t depth = std::size_t{1} << below(10);
    std::string nested;
    for (std::size_t i = 0; i < depth; ++i) nested += open;
    text.insert(at, nested);
  }

  std::minstd_rand random_;
};

void mutate_bytes(std::string& bytes, std::size_t max_size) {
  const std::size_t n = bytes.size();
  bytes.resize(std::max(max_size, n));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), n, bytes.size()));
}

}  // namespace

std::size_t mutate_file(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                        const Format& format) {
  Mutator mutator(seed);
  const std::string file(reinterpret_cast<const char*>(data), size);
  std::string content = format.unpack != nullptr ? format.unpack(file) : file;
  if (mutator.below(3) == 0) {
    mutate_bytes(content, max_size);
  } else {
    for (std::size_t n = 1 + mutator.below(4); n > 0; --n) mutator.step(content, format.layout);
  }
  if (format.repair != nullptr && mutator.below(8) != 0) format.repair(content);
  const std::string changed = format.pack != nullptr ? format.pack(content) : content;
  const std::size_t n = std::min(changed.size(), max_size);
  std::memcpy(data, changed.data(), n);
  return n;
}

}  // namespace biogpu::fuzz
