#include "lib/kmer/database/header.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdlib>
#include <ctime>

namespace biogpu::kmer {
namespace {

// For inputs of up to a few billion distinct k-mers Jellyfish's own users ask for no more.
constexpr int kDefaultSizeBits = 30;

std::string read_link(const char* path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t n = readlink(path, text.data(), text.size());
  return n < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(n));
}

// As ctime() writes it, without the line feed.
std::string local_time(std::time_t when) {
  std::tm parts{};
  localtime_r(&when, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a %b %e %H:%M:%S %Y", &parts);
  return text.data();
}

}  // namespace

KeyOrder order_for_size(int k, std::uint64_t asked) {
  const int key_bits = 2 * k;
  if (asked == 0)
    return KeyOrder::jellyfish(k, std::min(key_bits, kDefaultSizeBits),
                               key_bits <= kDefaultSizeBits);
  const bool all_fit = key_bits < 64 && asked >= std::uint64_t{1} << key_bits;
  if (all_fit) return KeyOrder::jellyfish(k, key_bits, true);
  const int size_bits = asked <= 1 ? 0 : 64 - std::countl_zero(asked - 1);
  return KeyOrder::jellyfish(k, std::clamp(size_bits, 1, std::min(key_bits, 62)), false);
}

void add_provenance(Header& header, const std::vector<std::string>& command, bool anonymous) {
  header.command = command;
  header.program = read_link("/proc/self/exe");
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  if (epoch != nullptr || anonymous) {
    if (anonymous) header.program = "biogpu";
    header.host = "hostname";
    header.folder = std::string(1, '.');
    header.time = local_time(epoch == nullptr ? 0 : std::strtoll(epoch, nullptr, 10));
    return;
  }
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) header.host = host.data();
  header.folder = read_link("/proc/self/cwd");
  header.time = local_time(std::time(nullptr));
}

}  // namespace biogpu::kmer
