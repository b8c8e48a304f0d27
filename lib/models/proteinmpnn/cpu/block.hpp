#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace biogpu::models::proteinmpnn::cpu {

// Steps of the message passing that one thread does on the rows of one or a few residues,
// dispatched to the CPU's instruction set. fp32; every row's result is the same whatever rows come
// with it.

// Uninitialised numbers, aligned for any vector.
class Floats {
 public:
  Floats() = default;
  explicit Floats(std::size_t n)
      : data_(static_cast<float*>(std::aligned_alloc(64, (n * sizeof(float) + 64) / 64 * 64))),
        size_(n) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> data_;
  std::size_t size_ = 0;
};

inline Floats floats(std::int64_t n) { return Floats(static_cast<std::size_t>(n)); }

// y = W x + b, packed in the panels of lib/ops/gemm_panels.hpp. bias: padded like the columns.
struct Dense {
  std::int64_t n_out = 0;
  std::int64_t n_in = 0;
  std::vector<float> weight;  // [n_out][n_in], for other devices
  Floats packed;
  std::vector<float> bias;
};
Dense make_dense(std::int64_t n_out, std::int64_t n_in, const float* weight, const float* bias);
// Floats that a row of a result takes: n_out rounded up to whole panels.
std::int64_t padded_width(std::int64_t n_out);

// Rows of numbers at a stride.
struct Rows {
  float* data = nullptr;
  std::int64_t stride = 0;
};

// out = x W + b, with GELU where asked for. Writes padded_width(n_out) columns.
void dense(const Dense& layer, Rows x, std::int64_t n_rows, Rows out, bool gelu);

// What a message's first layer adds to its edge's part: of the residue, and of each neighbour.
struct Ends {
  const float* of_residue = nullptr;
  const float* const* of_neighbours = nullptr;  // a row for each edge
};

// out = gelu(x W + ends), [n_rows, n_out], dense rows.
void dense_ends(const Dense& layer, const float* x, std::int64_t n_rows, const Ends& ends,
                float* out);
// The same for x W that is there already.
void add_ends(const float* x, std::int64_t n_rows, std::int64_t width, const Ends& ends,
              float* out);

// sum[n_out] = sum over rows whose use is not 0 of gelu(x W + b). use: none means all.
void dense_sum(const Dense& layer, const float* x, std::int64_t n_rows, const std::uint8_t* use,
               float* sum);

// h = LayerNorm(h + x) with eps 1e-5; x may be none.
struct Norm {
  std::vector<float> weight;
  std::vector<float> bias;
};
void add_norm(const Norm& norm, Rows h, Rows x, std::int64_t n_rows);

inline constexpr std::int64_t kBasis = 16;
// Floats behind the last basis row that radial_basis() may write.
inline constexpr std::int64_t kBasisSlack = 16;
// out[16 i + k] = exp(-((distance_i - mu_k) / 1.25)^2), mu from 2 to 22.
void radial_basis(const float* distances, std::int64_t n, float* out);

}  // namespace biogpu::models::proteinmpnn::cpu
