#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::test {

// A tensor of a file to be written.
struct RawTensor {
  std::string type;
  std::vector<std::int64_t> shape;
  std::string bytes;
};
using RawTensors = std::map<std::string, RawTensor>;

inline RawTensors read_raw(const std::string& path) {
  const auto checkpoint = tensor::Checkpoint::open(path);
  RawTensors tensors;
  for (const auto& [name, tensor] : checkpoint.tensors())
    tensors[name] = {tensor.type, tensor.shape,
                     std::string(reinterpret_cast<const char*>(tensor.data), tensor.bytes)};
  return tensors;
}

// The bytes of a safetensors file.
inline std::string to_safetensors(const RawTensors& tensors) {
  std::string header, data;
  for (const auto& [name, tensor] : tensors) {
    header +=
        fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                    header.empty() ? "{" : ",", name, tensor.type, fmt::join(tensor.shape, ","),
                    data.size(), data.size() + tensor.bytes.size());
    data += tensor.bytes;
  }
  header += "}";
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return length + header + data;
}

}  // namespace biogpu::test
