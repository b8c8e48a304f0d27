// A zip archive of stored .npy files, with the 64-bit records where sizes need them.
// (PKWARE APPNOTE 6.3.10, 4.3 and 4.5.3)
#include <fmt/format.h>
#include <libdeflate.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/arrays/formats.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::io {
namespace {

constexpr std::uint64_t kMax32 = 0xffffffff;
constexpr std::uint64_t kMax16 = 0xffff;
constexpr std::uint32_t kDate = 0x21;  // 1 January 1980: equal bytes for equal input
constexpr std::uint64_t kUtf8Name = 0x800;

void put(std::string& to, std::uint64_t value, int n_bytes) {
  for (int i = 0; i < n_bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xff);
}

struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint32_t crc = 0;
};

// From "version needed" to the lengths of name and extra field, as both headers have it.
void put_common(std::string& to, const ZipEntry& entry, std::uint64_t extra_bytes) {
  put(to, 45, 2);
  put(to, kUtf8Name, 2);
  put(to, 0, 2);  // stored
  put(to, 0, 2);
  put(to, kDate, 2);
  put(to, entry.crc, 4);
  const std::uint64_t size = entry.size >= kMax32 ? kMax32 : entry.size;
  put(to, size, 4);
  put(to, size, 4);
  put(to, entry.name.size(), 2);
  put(to, extra_bytes, 2);
}

class NpzWriter final : public ArrayWriter {
 public:
  explicit NpzWriter(const std::string& path) : file_(path), path_(path) {}

  void add(const NamedArray& array) override {
    const std::string header = npy_header(array.shape);
    const std::string_view data = bytes_of(array.values);
    ZipEntry entry;
    entry.name = keys_.unique(array) + ".npy";
    require_text_name(path_, array, entry.name);
    if (entry.name.size() > kMax16)
      refuse_name(
          path_, array, entry.name,
          fmt::format("has more than the {} bytes that a zip holds; use .h5 or .npy", kMax16));
    entry.size = header.size() + data.size();
    entry.offset = file_.bytes();
    entry.crc = libdeflate_crc32(0, header.data(), header.size());
    // For no bytes at no address the library gives 0, not what it was given.
    if (!data.empty()) entry.crc = libdeflate_crc32(entry.crc, data.data(), data.size());
    const bool large = entry.size >= kMax32;
    std::string local("PK\x03\x04");
    put_common(local, entry, large ? 20 : 0);
    local += entry.name;
    if (large) {
      put(local, 1, 2);
      put(local, 16, 2);
      put(local, entry.size, 8);
      put(local, entry.size, 8);
    }
    file_.write(local);
    file_.write(header);
    file_.write(data);
    entries_.push_back(std::move(entry));
  }

  void commit() override {
    const std::uint64_t begin = file_.bytes();
    for (const ZipEntry& entry : entries_) file_.write(central_record(entry));
    write_end(begin, file_.bytes() - begin);
    file_.commit();
  }
  std::uint64_t bytes() const override { return file_.bytes(); }

 private:
  static std::string central_record(const ZipEntry& entry) {
    std::string extra;
    if (entry.size >= kMax32) {
      put(extra, entry.size, 8);
      put(extra, entry.size, 8);
    }
    if (entry.offset >= kMax32) put(extra, entry.offset, 8);
    std::string record("PK\x01\x02");
    put(record, 3 << 8 | 45, 2);  // made on Unix
    put_common(record, entry, extra.empty() ? 0 : extra.size() + 4);
    put(record, 0, 2);
    put(record, 0, 2);
    put(record, 0, 2);
    put(record, std::uint64_t{0100644} << 16, 4);
    put(record, entry.offset >= kMax32 ? kMax32 : entry.offset, 4);
    record += entry.name;
    if (!extra.empty()) {
      put(record, 1, 2);
      put(record, extra.size(), 2);
      record += extra;
    }
    return record;
  }

  void write_end(std::uint64_t begin, std::uint64_t size) {
    std::string end;
    const std::uint64_t n = entries_.size(), at = begin + size;
    const bool large = n >= kMax16 || begin >= kMax32 || size >= kMax32;
    if (large) {
      end += std::string("PK\x06\x06");
      put(end, 44, 8);
      put(end, 3 << 8 | 45, 2);
      put(end, 45, 2);
      put(end, 0, 4);
      put(end, 0, 4);
      put(end, n, 8);
      put(end, n, 8);
      put(end, size, 8);
      put(end, begin, 8);
      end += std::string("PK\x06\x07");
      put(end, 0, 4);
      put(end, at, 8);
      put(end, 1, 4);
    }
    end += std::string("PK\x05\x06");
    put(end, 0, 2);
    put(end, 0, 2);
    put(end, large ? kMax16 : n, 2);
    put(end, large ? kMax16 : n, 2);
    put(end, large ? kMax32 : size, 4);
    put(end, large ? kMax32 : begin, 4);
    put(end, 0, 2);
    file_.write(end);
  }

  io::OutputFile file_;
  std::string path_;
  KeySet keys_;
  std::vector<ZipEntry> entries_;
};

}  // namespace

std::unique_ptr<ArrayWriter> make_npz_writer(const std::string& path) {
  return std::make_unique<NpzWriter>(path);
}

}  // namespace biogpu::io
