#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/io/mapped_file.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// A tensor as a file holds it: row-major, little-endian, at any address.
struct StoredTensor {
  std::string type;  // the file's word: "F32", "BF16"
  std::vector<std::int64_t> shape;
  const std::uint8_t* data = nullptr;
  std::uint64_t bytes = 0;
  std::size_t file = 0;  // index into Checkpoint::files()

  std::int64_t size() const;
  // Whether the type is one that weights come in.
  bool is_floating() const;
  // Writes numbers [first, first + n) as fp32. False where they are not is_floating().
  bool to_floats(std::int64_t first, std::int64_t n, float* out) const;
  bool to_floats(float* out) const { return to_floats(0, size(), out); }
};

// The tensors of one or several safetensors files, mapped. Layout: 8 bytes with the length of a
// JSON header, the header, the data. (huggingface/safetensors, README "Format")
//
// Every size, offset and overlap is checked against the file before anything is used. Errors:
// Error{bad_input} naming file and tensor; Error{failed} where a file cannot be read.
class Checkpoint {
 public:
  // A file, or a folder with model.safetensors or model.safetensors.index.json and its shards.
  static Checkpoint open(const std::string& path);

  // Tensors whose numbers the caller keeps; name: what messages call them.
  static Checkpoint in_memory(const std::string& name, std::map<std::string, StoredTensor> tensors);

  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  const std::vector<std::string>& files() const { return files_; }
  std::int64_t n_numbers() const { return n_numbers_; }  // of all tensors

 private:
  void add_file(const std::string& path);

  std::vector<std::string> files_;
  std::vector<io::MappedFile> maps_;
  std::map<std::string, StoredTensor> tensors_;
  std::int64_t n_numbers_ = 0;
};

}  // namespace biogpu::tensor
