#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/io/arrays/shared_array.hpp"

namespace biogpu::io {

// One result: fp32, row-major.
struct NamedArray {
  std::string key;  // the record's name, and the kind where a record has several: P12345/mean/33
  std::vector<std::int64_t> shape;
  SharedArray values;
  std::size_t kind_bytes = 0;  // of the key's end: 8 of P12345/mean/33
  // "FILE: record 3 (P12345)" for messages, where it is known; until the array is written.
  std::function<std::string()> place = {};
};

enum class ArrayFormat {
  npy,          // one array: rows of all keys, one after the other, and PATH.index.tsv
  npz,          // an uncompressed zip with an .npy of each key (NumPy, "NPY format")
  safetensors,  // a tensor of each key
  hdf5,         // a dataset of each key; '/' in a key makes groups
  tsv,          // a line of each row: key, row where there are several, numbers
};

// The format of the suffix, as suffix_of() reads it; tsv for all that name no other.
ArrayFormat array_format(const std::string& path);

// Writes arrays as they come. The final name appears with commit(), when all is there; until then
// the bytes lie under a temporary name. Where a name comes twice, the second becomes name#2.
// Errors: Error{failed} with path and reason; Error{usage} where the format cannot hold the arrays
// or a name.
class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;
  virtual void add(const NamedArray& array) = 0;
  virtual void commit() = 0;
  virtual std::uint64_t bytes() const = 0;
};

// The name of the index beside an .npy.
std::string npy_index(const std::string& path);

// "-" writes TSV or npz to standard output.
std::unique_ptr<ArrayWriter> make_array_writer(const std::string& path, ArrayFormat format);

}  // namespace biogpu::io
