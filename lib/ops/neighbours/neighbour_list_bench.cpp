#include <fmt/format.h>

#include <string>
#include <vector>

#include "lib/ops/neighbours/bench_edges.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"

namespace biogpu::ops {
namespace {

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
  const std::int64_t n = host.edges().capacity();
  const double error = bench.error(Tensor(device.edges().distance.data, DType::f32, {n, 1}),
                                   Tensor(host.edges().distance.data, DType::f32, {n, 1}));
  bench.add("neighbour list of images", what, 32 * static_cast<double>(n), 0, error,
            [&] { device.run(); });
}

}  // namespace

void neighbour_list_bench(OpBench& bench) {
  const bool one = bench.wanted("neighbour list"), all = bench.wanted("neighbour list of images");
  if (!(one || all) || !BenchEdges::suits(bench)) return;
  const std::int64_t n = bench.shape().length, t = bench.shape().n_rows();
  const std::string what = fmt::format("{} atoms, {} a molecule", t, n);
  const BenchEdges edges(bench);
  if (one) {
    const double error =
        bench.error(Tensor(edges.device.distance.data, DType::f32, {edges.count(), 1}),
                    Tensor(edges.host.distance.data, DType::f32, {edges.count(), 1}));
    const auto pairs = static_cast<double>(t) * static_cast<double>(n);
    bench.add("neighbour list", what, 28 * static_cast<double>(edges.device.capacity()), 12 * pairs,
              error, [&] { edges.search(bench.context(), edges.positions.device, edges.device); });
  }
  if (all) bench_images(bench, edges.positions.host, what);
}

}  // namespace biogpu::ops
