// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/neighbours/bench_edges.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"
#include "lib/ops/neighbours/neighbour_list_grad.hpp"

namespace biogpu::ops {

namespace {

// All numbers of a list, as bits.
std::vector<std::vector<std::int32_t>> numbers_of(Context& context, const Edges& edges) {
  std::vector<std::vector<std::int32_t>> all;
  for (const Tensor* const from : {&edges.count, &edges.starts, &edges.receivers, &edges.neighbours,
                                   &edges.reverse, &edges.displacement, &edges.distance}) {
    std::vector<float> bits(static_cast<std::size_t>(from->size()));
    context.copy_out(bits.data(), Tensor(from->data, DType::f32, {from->size(), 1}));
    context.synchronize();
    all.emplace_back(bits.size());
    std::memcpy(all.back().data(), bits.data(), bits.size() * sizeof(float));
  }
  return all;
}

void require_same(OpBench& bench, const Edges& device, const Edges& host) {
  if (numbers_of(bench.context(), device) != numbers_of(bench.reference(), host))
    throw Error(ErrorCode::failed, "neighbour_list: the list is not the reference's");
}

// The molecules of a bench in double precision on a context, and all images of their edges. The
// memory is its own.
class ImageBench {
 public:
  ImageBench(OpBench& bench, Context& context, const Tensor& host)
      : bench_(bench), context_(context) {
    const std::int64_t t = host.shape[0];
    const std::vector<double> x(host.as<float>(), host.as<float>() + 3 * t);
    positions_ = Tensor(allocate(x.size() * sizeof(double)), DType::f64, {t, 3});
    context.copy_in(positions_, x.data());
    take(0);
    run();
    take(edge_capacity(read_edge_count(context, edges_)));
    run();
  }
  ImageBench(const ImageBench&) = delete;
  ImageBench& operator=(const ImageBench&) = delete;
  ~ImageBench() {
    for (void* const memory : memory_) context_.release(memory);
  }

  void run() const {
    neighbour_list(
        context_,
        {positions_, &bench_.segments(), {}, 0, BenchEdges::kCutoff, false, edges_, true});
  }
  const Edges& edges() const { return edges_; }

 private:
  void* allocate(std::size_t bytes) {
    memory_.push_back(context_.allocate(bytes));
    return memory_.back();
  }
  void take(std::int64_t capacity) {
    const std::int64_t t = positions_.shape[0];
    const std::size_t bytes = static_cast<std::size_t>(4 * t + 32 * capacity) + 8192;
    tensor::Arena arena(allocate(bytes), bytes);
    edges_ = capacity == 0 ? take_edge_counts(arena, t) : take_edges(arena, t, capacity, true);
  }

  OpBench& bench_;
  Context& context_;
  std::vector<void*> memory_;
  Tensor positions_;
  Edges edges_;
};

void bench_images(OpBench& bench, const Tensor& positions, const std::string& what) {
  const ImageBench device(bench, bench.context(), positions),
      host(bench, bench.reference(), positions);
  require_same(bench, device.edges(), host.edges());
  const auto n = static_cast<double>(host.edges().capacity());
  bench.add("neighbour list of images", what, 32 * n, 0, 0, [&] { device.run(); });
}

}  // namespace

void neighbour_list_bench(OpBench& bench) {
  const bool one = bench.wanted("neighbour list"), all = bench.wanted("neighbour list of images");
  if (!(one || all) || !BenchEdges::suits(bench)) return;
  const std::int64_t n = bench.shape().length, t = bench.shape().n_rows();
  const std::string what = fmt::format("{} atoms, {} a molecule", t, n);
  const BenchEdges edges(bench);
  if (one) {
    require_same(bench, edges.device, edges.host);
    const auto pairs = static_cast<double>(t) * static_cast<double>(n);
    bench.add("neighbour list", what, 28 * static_cast<double>(edges.device.capacity()), 12 * pairs,
              0, [&] { edges.search(bench.context(), edges.positions.device, edges.device); });
  }
  if (all) bench_images(bench, edges.positions.host, what);
}

void neighbour_list_grad_bench(OpBench& bench) {
  if (!bench.wanted("neighbour list gradient") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows();
  const BenchEdges edges(bench);
  const std::int64_t capacity = edges.device.capacity();
  const BenchTensor d_distance = bench.make({capacity}, 1, false);
  const BenchTensor d_displacement = bench.make({capacity, 3}, 1, false);
  const BenchTensor d_positions = bench.make({t, 3}, 1, false);
  const NeighbourListGrad op{&edges.device, d_distance.device, d_displacement.device,
                             d_positions.device};
  neighbour_list_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(3 * t));
  const Tensor expected(memory.data(), DType::f32, {t, 3});
  neighbour_list_grad(bench.reference(),
                      {&edges.host, d_distance.host, d_displacement.host, expected});
  const auto numbers = static_cast<double>(capacity);
  bench.add("neighbour list gradient", fmt::format("{} atoms, {} edges", t, capacity), 44 * numbers,
            15 * numbers, bench.error(d_positions.device, expected),
            [&] { neighbour_list_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
