#include "lib/qc/output/gzip_compressor.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace biogpu::qc {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMemberText = 512u << 10;  // stays in the second-level cache
constexpr std::size_t kBlockText = 0xff00;       // a block stays below 64 KiB even when stored
constexpr std::size_t kTrailerBytes = 8;
constexpr std::string_view kHeader = "\x1f\x8b\x08\0\0\0\0\0\0\xff"sv;
constexpr std::string_view kBgzfHeader = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0\x42\x43\x02\0\0\0"sv;
constexpr std::string_view kBgzfEnd =
    "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0\x42\x43\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0"sv;
constexpr std::string_view kEmptyMember = "\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0"sv;

void put_little_endian(char* to, std::uint32_t value, int n_bytes) {
  for (int i = 0; i < n_bytes; ++i) to[i] = static_cast<char>(value >> 8 * i);
}

}  // namespace

GzipCompressor::GzipCompressor(int level, bool bgzf)
    : compressor_(io::make_compressor(level)), bgzf_(bgzf) {}

void GzipCompressor::compress(std::string_view text, io::CharBuffer& compressed) {
  const std::size_t n_members = (text.size() + kMemberText - 1) / kMemberText;
  const std::size_t limit =
      bgzf_ ? kBlockText : (text.size() + n_members - 1) / std::max<std::size_t>(n_members, 1);
  const std::string_view header = bgzf_ ? kBgzfHeader : kHeader;
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), limit))) {
    const std::string_view part = text.substr(0, limit);
    const std::size_t begin = compressed.size();
    const std::size_t room = libdeflate_deflate_compress_bound(compressor_.get(), part.size());
    compressed.append(header.data(), header.size());
    compressed.resize(begin + header.size() + room + kTrailerBytes);
    char* member = compressed.data() + begin;
    const std::size_t n = libdeflate_deflate_compress(compressor_.get(), part.data(), part.size(),
                                                      member + header.size(), room);
    const std::size_t size = header.size() + n + kTrailerBytes;
    if (bgzf_)
      put_little_endian(member + header.size() - 2, static_cast<std::uint32_t>(size - 1), 2);
    char* trailer = member + header.size() + n;
    put_little_endian(trailer, libdeflate_crc32(0, part.data(), part.size()), 4);
    put_little_endian(trailer + 4, static_cast<std::uint32_t>(part.size()), 4);
    compressed.resize(begin + size);
  }
}

std::string_view GzipCompressor::end_of_file(bool bgzf, bool empty) {
  if (bgzf) return kBgzfEnd;
  return empty ? kEmptyMember : std::string_view();
}

}  // namespace biogpu::qc
