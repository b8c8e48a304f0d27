#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/io/arrays/array_writer.hpp"

namespace biogpu::io {

// Makes keys unique: the second "a" becomes "a#2", the second "a/mean/3" "a#2/mean/3".
class KeySet {
 public:
  std::string unique(const NamedArray& array);

 private:
  std::string unique(const std::string& name, const std::string& kind);
  std::unordered_map<std::string, std::uint64_t> seen_;
};

// The header of an .npy file of this shape, fp32: a multiple of 64 bytes, at least min_bytes.
std::string npy_header(const std::vector<std::int64_t>& shape, std::size_t min_bytes = 0);

std::string_view bytes_of(const SharedArray& values);

// Throws Error{usage} for an array whose name the file at this path cannot hold; what: as
// "is not UTF-8, as .npz needs it; use .npy or .tsv".
[[noreturn]] void refuse_name(const std::string& path, const NamedArray& array,
                              const std::string& key, const std::string& what);

// For formats that hold names in UTF-8 and end them at NUL.
void require_text_name(const std::string& path, const NamedArray& array, const std::string& key);

std::unique_ptr<ArrayWriter> make_npy_writer(const std::string& path);
std::unique_ptr<ArrayWriter> make_npz_writer(const std::string& path);
std::unique_ptr<ArrayWriter> make_safetensors_writer(const std::string& path);
std::unique_ptr<ArrayWriter> make_hdf5_writer(const std::string& path);
std::unique_ptr<ArrayWriter> make_tsv_writer(const std::string& path);

}  // namespace biogpu::io
