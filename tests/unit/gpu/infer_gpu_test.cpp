#include <cmath>
#include <string>
#include <vector>

#include "lib/nn/backend.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/infer/loaded.hpp"

using namespace biogpu;
using nn::Precision;
using test::Loaded;

namespace {

// 1 where both point the same way; of whole arrays, as the gate of each precision is stated.
double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace

TEST_CASE("infer.models: the GPU in fp32 equals transformers in double precision",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  const std::string name = GENERATE(values(test::kModels));
  Loaded loaded(name, nn::make_gpu_backend(0, {Precision::fp32}));
  test::check_against_vectors(name, loaded, 1e-4);
}

TEST_CASE("infer.models: other precisions keep the direction of hidden states",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  const std::string name = GENERATE(values({"esm2_head16", "esm2_head64", "protbert_head16"}));
  const Precision precision = GENERATE(Precision::tf32, Precision::fp16, Precision::bf16);
  Loaded cpu(name), gpu(name, nn::make_gpu_backend(0, {precision}));
  const auto right = test::compute(cpu, {2, 3, 4}, 1000), got = test::compute(gpu, {2, 3, 4}, 1000);
  REQUIRE(got.size() == right.size());
  const std::string last = "/residues/" + std::to_string(cpu.model->info().n_layers);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!got[i].key.ends_with(last)) continue;
    INFO(name << " " << got[i].key);
    CHECK(cosine(got[i].values, right[i].values) >
          (precision == Precision::bf16 ? 0.9995 : 0.99999));
  }
}

TEST_CASE("infer.models: a sequence gets the same numbers on the GPU in any batch",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  Loaded loaded("esm2_head16", nn::make_gpu_backend(0, {Precision::fp16}));
  const auto alone = test::compute(loaded, {4}, 1000);
  const auto together = test::compute(loaded, {3, 2, 4, 1, 0}, 1000);
  for (const infer::NamedArray& array : alone)
    for (const infer::NamedArray& other : together)
      if (other.key == array.key) CHECK(test::difference(other.values, array.values) < 1e-3);
}
