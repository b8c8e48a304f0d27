#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/big_array.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::io {

// A member of a zip archive, as its central directory has it.
struct ZipMember {
  std::string name;
  bool deflated = false;  // else stored
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t local_header = 0;  // where it begins
};

// The members of a zip archive, stored or deflated, with the 64-bit records of large ones. (PKWARE
// APPNOTE 6.3.10.) Errors: Error{bad_input} with the path; sizes and offsets are checked against
// the file before memory is sized by them.
class ZipArchive {
 public:
  // path: for messages. The file outlives the archive.
  ZipArchive(const MappedFile& file, std::string path);

  const std::vector<ZipMember>& members() const { return members_; }

  // The bytes of a member, after its checksum was compared; room: what they lie in where they were
  // unpacked.
  std::string_view read(const ZipMember& member, BigArray<char>& room) const;

 private:
  struct Directory {
    std::uint64_t n_members = 0, begin = 0, bytes = 0;
  };
  Directory find_directory() const;
  std::uint64_t add_member(std::uint64_t begin, std::uint64_t end);
  std::uint64_t number(std::uint64_t begin, int n_bytes) const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::string_view file_;
  std::string path_;
  std::vector<ZipMember> members_;
};

}  // namespace biogpu::io
