#include "lib/io/arrays/zip_archive.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/deflate_handles.hpp"

namespace biogpu::io {
namespace {

constexpr std::string_view kEndMark = "PK\x05\x06";
constexpr std::string_view kEnd64Mark = "PK\x06\x06";
constexpr std::string_view kLocator64Mark = "PK\x06\x07";
constexpr std::string_view kCentralMark = "PK\x01\x02";
constexpr std::string_view kLocalMark = "PK\x03\x04";
constexpr std::uint64_t kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::uint64_t kCentralBytes = 46, kLocalBytes = 30;
constexpr std::uint64_t kZipMax16 = 0xffff, kZipMax32 = 0xffffffff;
// Deflate writes at most 258 bytes for 2 bits.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

}  // namespace

void ZipArchive::refuse(const std::string& what) const {
  throw Error(ErrorCode::bad_input, path_ + ": " + what);
}

// The caller has checked that the bytes are there.
std::uint64_t ZipArchive::number(std::uint64_t begin, int n_bytes) const {
  std::uint64_t value = 0;
  for (int i = 0; i < n_bytes; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(file_[begin + static_cast<unsigned>(i)])}
             << (8 * i);
  return value;
}

ZipArchive::Directory ZipArchive::find_directory() const {
  const std::uint64_t size = file_.size();
  if (size < kEndBytes) refuse("the zip archive is cut short");
  // A comment of at most 65,535 bytes may follow the record.
  std::uint64_t at = size - kEndBytes;
  const std::uint64_t first = at > kZipMax16 ? at - kZipMax16 : 0;
  while (file_.substr(at, 4) != kEndMark || at + kEndBytes + number(at + 20, 2) != size) {
    if (at == first) refuse("the zip archive has no directory; the file may be cut short");
    --at;
  }
  Directory directory{number(at + 10, 2), number(at + 16, 4), number(at + 12, 4)};
  if (number(at + 4, 2) != number(at + 6, 2) || number(at + 8, 2) != directory.n_members)
    refuse("the zip archive has several parts");
  std::uint64_t end = at;
  if (at >= kLocator64Bytes && file_.substr(at - kLocator64Bytes, 4) == kLocator64Mark) {
    end = number(at - kLocator64Bytes + 8, 8);
    if (end > at - kLocator64Bytes || at - kLocator64Bytes - end < kEnd64Bytes ||
        file_.substr(end, 4) != kEnd64Mark)
      refuse("the zip archive's 64-bit record is not where it should be");
    directory = {number(end + 32, 8), number(end + 48, 8), number(end + 40, 8)};
  }
  if (directory.begin > end || directory.bytes != end - directory.begin)
    refuse("the zip archive's directory is not where it should be");
  return directory;
}

ZipArchive::ZipArchive(const MappedFile& file, std::string path)
    : file_(file.bytes()), path_(std::move(path)) {
  const Directory directory = find_directory();
  std::uint64_t at = directory.begin;
  const std::uint64_t end = at + directory.bytes;
  while (at < end) at = add_member(at, end);
  if (members_.size() != directory.n_members)
    refuse(fmt::format("the zip archive says that it has {} members, and has {}",
                       directory.n_members, members_.size()));
  std::unordered_set<std::string_view> names;
  for (const ZipMember& member : members_)
    if (!names.insert(member.name).second)
      refuse(fmt::format("the member {} comes twice", quoted(member.name)));
}

std::uint64_t ZipArchive::add_member(std::uint64_t begin, std::uint64_t end) {
  if (end - begin < kCentralBytes || file_.substr(begin, 4) != kCentralMark)
    refuse("the zip archive's directory is damaged");
  const std::uint64_t name_bytes = number(begin + 28, 2), extra_bytes = number(begin + 30, 2);
  const std::uint64_t next =
      begin + kCentralBytes + name_bytes + extra_bytes + number(begin + 32, 2);
  if (next > end) refuse("the zip archive's directory is damaged");
  ZipMember member;
  member.name = file_.substr(begin + kCentralBytes, name_bytes);
  const std::uint64_t flags = number(begin + 8, 2), method = number(begin + 10, 2);
  if ((flags & 1) != 0) refuse(fmt::format("the member {} is encrypted", quoted(member.name)));
  if (method != 0 && method != 8)
    refuse(fmt::format("the member {} is compressed by method {}; expected stored or deflated",
                       quoted(member.name), method));
  member.deflated = method == 8;
  member.crc = static_cast<std::uint32_t>(number(begin + 16, 4));
  member.packed_bytes = number(begin + 20, 4);
  member.bytes = number(begin + 24, 4);
  member.local_header = number(begin + 42, 4);
  // The 64-bit record of the extra field has those numbers that do not fit, in this order.
  std::uint64_t at = begin + kCentralBytes + name_bytes;
  const std::uint64_t extra_end = at + extra_bytes;
  while (extra_end - at >= 4) {
    const std::uint64_t id = number(at, 2), bytes = number(at + 2, 2);
    at += 4;
    if (bytes > extra_end - at) refuse("the zip archive's directory is damaged");
    std::uint64_t field = at;
    at += bytes;
    if (id != 1) continue;
    for (std::uint64_t* const value : {&member.bytes, &member.packed_bytes, &member.local_header}) {
      if (*value != kZipMax32 || at - field < 8) continue;
      *value = number(field, 8);
      field += 8;
    }
  }
  members_.push_back(std::move(member));
  return next;
}

std::string_view ZipArchive::read(const ZipMember& member, BigArray<char>& room) const {
  const auto damaged = [&](const char* what) {
    refuse(fmt::format("the member {} {}", quoted(member.name), what));
  };
  const std::uint64_t size = file_.size(), header = member.local_header;
  if (header > size || size - header < kLocalBytes || file_.substr(header, 4) != kLocalMark)
    damaged("is not where the directory says");
  const std::uint64_t begin =
      header + kLocalBytes + number(header + 26, 2) + number(header + 28, 2);
  if (begin > size || member.packed_bytes > size - begin) damaged("is cut short");
  std::string_view bytes = file_.substr(begin, member.packed_bytes);
  if (!member.deflated) {
    if (member.bytes != member.packed_bytes) damaged("has two sizes");
  } else {
    if (member.bytes / kMaxDeflateRatio > member.packed_bytes)
      damaged("cannot have the size that the directory says");
    room = BigArray<char>(member.bytes);
    char none = 0;  // the library wants an address for no bytes too
    std::size_t n_used = 0;
    const libdeflate_result result = libdeflate_deflate_decompress_ex(
        make_decompressor().get(), bytes.data(), bytes.size(),
        member.bytes == 0 ? &none : room.data(), member.bytes, &n_used, nullptr);
    if (result != LIBDEFLATE_SUCCESS || n_used != bytes.size()) damaged("cannot be unpacked");
    bytes = {room.data(), member.bytes};
  }
  const std::uint32_t crc = bytes.empty() ? 0 : libdeflate_crc32(0, bytes.data(), bytes.size());
  if (crc != member.crc) damaged("does not have the checksum that the directory says");
  return bytes;
}

}  // namespace biogpu::io
