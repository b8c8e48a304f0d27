#pragma once

// Graphs of nodes with a few edges each, for tests of operations that multiply inside a block.

#include <cstdint>
#include <vector>

#include "lib/models/proteinmpnn/ops/block_linear.hpp"
#include "tests/ops/op_bed.hpp"

namespace biogpu::test {

using models::proteinmpnn::BlockUse;
using tensor::Norm;

struct Bytes {
  std::vector<std::uint8_t> values;
  Tensor host, device;  // u8 [n]
};

inline Bytes bytes(Bed& bed, std::vector<std::uint8_t> values) {
  Bytes made;
  made.values = std::move(values);
  made.host =
      Tensor(made.values.data(), DType::u8, {static_cast<std::int64_t>(made.values.size())});
  made.device = made.host;
  made.device.data = bed.device().allocate(made.host.bytes());
  bed.device().copy_in(made.device, made.values.data());
  return made;
}

inline LinearPair block_linear(Bed& bed, std::int64_t n_out, std::int64_t n_in, BlockUse use,
                               bool has_bias) {
  LinearPair made;
  made.weight = bed.random({n_out, n_in}, 1.5f / std::sqrt(static_cast<float>(n_in)), false);
  made.bias = bed.random({n_out}, 0.3f, false);
  const Tensor bias = has_bias ? made.bias.host : Tensor();
  made.host =
      models::proteinmpnn::upload_block_linear(bed.reference(), made.weight.host, bias, use);
  made.device = models::proteinmpnn::upload_block_linear(bed.device(), made.weight.host, bias, use);
  return made;
}

struct NormPair {
  Pair weight, bias;
  Norm host, device;
};

inline NormPair block_norm(Bed& bed, std::int64_t d) {
  NormPair made{bed.random({d}, 1.0f, false), bed.random({d}, 0.5f, false), {}, {}};
  made.host = {made.weight.host, made.bias.host};
  made.device = {made.weight.device, made.bias.device};
  return made;
}

// [n, k] of row numbers.
inline Tensor as_table(const Tensor& indices, std::int64_t k) {
  return {indices.data, DType::i32, {indices.size() / k, k}};
}

// n nodes of up to k edges: none, one, all, and numbers between.
struct GraphPair {
  std::int64_t n, k;
  Indices counts, senders;  // [n], [n, k] rows below n_senders
  Bytes present;            // [n]

  GraphPair(Bed& bed, std::int64_t nodes, std::int64_t edges, std::int64_t n_senders)
      : n(nodes), k(edges) {
    std::vector<std::int32_t> count, sender;
    std::vector<std::uint8_t> there;
    for (std::int64_t i = 0; i < n; ++i) {
      count.push_back(static_cast<std::int32_t>(i == 0 ? k : i == 1 ? 1 : i == 2 ? 0 : i * 11 % k));
      there.push_back(i == 3 ? 0 : 1);
      for (std::int64_t e = 0; e < k; ++e)
        sender.push_back(static_cast<std::int32_t>((i + 3 * e) % n_senders));
    }
    counts = bed.indices(count);
    senders = bed.indices(sender);
    present = bytes(bed, there);
  }
};

}  // namespace biogpu::test
