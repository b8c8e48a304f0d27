#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/io/arrays/shared_array.hpp"
#include "lib/io/arrays/zip_archive.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::io {

// An array of a file, row-major as fp32, whatever the file's type and order.
struct LoadedArray {
  std::vector<std::int64_t> shape;
  SharedArray values;
};

// The arrays of an .npy or .npz file: floating point of 16, 32 or 64 bits, integers and truth
// values, in C or Fortran order, little or big endian; members stored or deflated. The first bytes
// tell which of the two it is.
//
// Errors: Error{bad_input} with the path, and the array where it is one's; Error{failed} where the
// file cannot be read.
class ArrayFile {
 public:
  explicit ArrayFile(const std::string& path);

  const std::string& path() const { return path_; }
  // Names in the order of the file; one empty name for an .npy.
  const std::vector<std::string>& keys() const { return keys_; }
  bool has(const std::string& key) const { return index_.count(key) != 0; }

  // Numbers that fp32 cannot hold are errors: integers beyond 2^24, and finite numbers of double
  // precision that would become infinite. Throws std::out_of_range for a key that is not there.
  LoadedArray read(const std::string& key) const;
  // "FILE: array 'KEY'", for messages.
  std::string place(const std::string& key) const;

 private:
  std::string path_;
  MappedFile file_;
  std::unique_ptr<ZipArchive> zip_;  // null for an .npy
  std::vector<std::string> keys_;
  std::unordered_map<std::string, std::size_t> index_;  // of the first of a name in keys_
};

}  // namespace biogpu::io
