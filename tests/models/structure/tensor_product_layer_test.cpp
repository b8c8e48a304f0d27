// The interaction layer of DiffDock as e3nn computes it in double precision
// (scripts/reference/make_tensor_product_layer.py). Other sizes, and GPUs: tests/lab.
#include "lib/models/structure/tensor_product_layer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "lib/tensor/weights/weight_table.hpp"
#include "tests/models/pairformer/difference.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using models::Irreps;
using tensor::DType;
using tensor::Tensor;

namespace {

constexpr std::size_t kArenaBytes = std::size_t{1} << 22;

models::TensorProductShape shape_of(const std::string& name) {
  const bool second_order = name == "second";
  const std::int64_t n_scalars = second_order ? 4 : 5, n_vectors = second_order ? 2 : 3;
  models::TensorProductShape shape;
  shape.in = models::diffdock_irreps(n_scalars, n_vectors, 2, second_order);
  shape.out = models::diffdock_irreps(n_scalars, n_vectors, 3, second_order);
  shape.sphere = {{1, 0, true}, {1, 1, false}};
  if (second_order) shape.sphere.push_back({1, 2, true});
  shape.c_edge = 6;
  shape.c_hidden = 9;
  shape.adds_before_norm = name == "older";
  shape.by_outputs = name == "by_outputs";
  return shape;
}

class LayerTest {
 public:
  explicit LayerTest(const std::string& name)
      : stored_(tensor::Checkpoint::open(BIOGPU_TEST_DATA "/models/tensor_product_layer/" + name +
                                         ".safetensors")),
        shape_(shape_of(name)),
        context_(ops::make_cpu_context(2)),
        arena_(context_->allocate(kArenaBytes), kArenaBytes) {
    std::map<std::string, tensor::StoredTensor> weights;
    for (const auto& [key, value] : stored_.tensors())
      if (key.rfind("block.", 0) == 0) weights.emplace(key, value);
    const auto checkpoint = tensor::Checkpoint::in_memory("weights", std::move(weights));
    tensor::WeightTable table(checkpoint);
    layer_ = models::read_tensor_product_layer(*context_, table, "block", shape_);
    table.finish();
  }

  std::vector<float> numbers(const std::string& name) const {
    const auto found = stored_.tensors().find(name);
    if (found == stored_.tensors().end()) return {};
    std::vector<float> values(static_cast<std::size_t>(found->second.size()));
    REQUIRE(found->second.to_floats(values.data()));
    return values;
  }

  // The layer over the edges in this order.
  std::vector<float> run(const std::vector<std::size_t>& edges) {
    const auto scope = arena_.scope();
    const auto n_edges = static_cast<std::int64_t>(edges.size());
    const std::int64_t width = width_of(shape_.out), n_nodes = 7;
    const auto rows = [&](const std::string& name, std::size_t d) {
      const std::vector<float> all = numbers(name);
      std::vector<float> some;
      for (const std::size_t edge : edges)
        for (std::size_t i = 0; i < d; ++i) some.push_back(all.at(edge * d + i));
      return some;
    };
    const auto floats = [&](const std::vector<float>& values,
                            std::initializer_list<std::int64_t> extents) {
      const Tensor x = arena_.take(DType::f32, extents);
      context_->copy_in(x, values.data());
      return x;
    };
    const auto indices = [&](const std::string& name) {
      const std::vector<float> values = rows(name, 1);
      const std::vector<std::int32_t> whole(values.begin(), values.end());
      const Tensor x = arena_.take(DType::i32, {n_edges});
      context_->copy_in(x, whole.data());
      return x;
    };
    models::EdgeFeatures given;
    given.sources = indices("sources");
    given.targets = indices("targets");
    given.features = floats(rows("features", 6), {n_edges, 6});
    const std::int64_t n_sphere = width_of(shape_.sphere);
    given.sphere = floats(rows("sphere", static_cast<std::size_t>(n_sphere)), {n_edges, n_sphere});
    if (!numbers("weights").empty()) given.weights = floats(rows("weights", 1), {n_edges});
    const Tensor nodes = floats(numbers("nodes"), {n_nodes, width_of(shape_.in)});
    const Tensor out = arena_.take(DType::f32, {n_nodes, width});
    write_tensor_product_layer({*context_, arena_}, layer_, nodes, given, out);
    std::vector<float> values(static_cast<std::size_t>(n_nodes * width));
    context_->copy_out(values.data(), out);
    context_->synchronize();
    return values;
  }

 private:
  tensor::Checkpoint stored_;
  models::TensorProductShape shape_;
  std::unique_ptr<tensor::Context> context_;
  tensor::Arena arena_;
  models::TensorProductLayer layer_;
};

std::vector<std::size_t> first_edges(std::size_t n) {
  std::vector<std::size_t> edges(n);
  for (std::size_t i = 0; i < n; ++i) edges[i] = i;
  return edges;
}

}  // namespace

TEST_CASE("tensor_product_layer: equals e3nn in double precision", "[model]") {
  for (const std::string name : {"first", "second", "older", "by_outputs"}) {
    CAPTURE(name);
    LayerTest test(name);
    const auto apart = test::difference(test.run(first_edges(23)), test.numbers("out"));
    CHECK(apart.largest < 1e-5);
  }
}

TEST_CASE("tensor_product_layer: edges in another order, and none", "[model]") {
  LayerTest test("first");
  std::vector<std::size_t> edges = first_edges(23);
  const std::vector<float> right = test.run(edges);
  std::reverse(edges.begin(), edges.end());
  CHECK(test::difference(test.run(edges), right).largest < 1e-6);
  // Zeros, which are not normalised, and the residual.
  const std::vector<float> alone = test.run({}), nodes = test.numbers("nodes");
  const std::size_t n_in = nodes.size() / 7, n_out = alone.size() / 7;
  for (std::size_t i = 0; i < alone.size(); ++i)
    CHECK(alone[i] == (i % n_out < n_in ? nodes[i / n_out * n_in + i % n_out] : 0.0f));
  CHECK(alone != right);
}

TEST_CASE("tensor_product_layer: couplings are orthonormal", "[model]") {
  for (int l1 = 0; l1 <= 2; ++l1)
    for (int l2 = 0; l2 <= 2; ++l2)
      for (int l3 = std::abs(l1 - l2); l3 <= std::min(2, l1 + l2); ++l3) {
        CAPTURE(l1, l2, l3);
        const std::vector<double> c = models::real_coupling(l1, l2, l3);
        const std::size_t n3 = static_cast<std::size_t>(2 * l3 + 1);
        for (std::size_t k = 0; k < n3; ++k)
          for (std::size_t m = 0; m < n3; ++m) {
            double sum = 0;
            for (std::size_t at = 0; at < c.size(); at += n3) sum += c[at + k] * c[at + m];
            CHECK(std::fabs(sum - (k == m ? 1.0 / static_cast<double>(n3) : 0.0)) < 1e-12);
          }
      }
  CHECK(models::real_coupling(1, 1, 1)[5] > 0);  // x times y is z, in a cyclic order
}
