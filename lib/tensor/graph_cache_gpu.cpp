#include "lib/tensor/graph_cache_gpu.hpp"

namespace biogpu::tensor {
namespace {

constexpr std::size_t kMaxPasses = 256;

}  // namespace

void GraphCache::run(std::uint64_t key, const std::function<void()>& body,
                     gpu::ops::Device& device) {
  gpu::Stream& stream = device.stream();
  // What moved between passes, in an upload, counts too.
  if (passes_.size() > kMaxPasses || device.n_moves() != n_moves_) passes_.clear();
  Pass& pass = passes_[key];
  // The first run makes room that a captured one must find; the second captures.
  if (pass.ran && pass.can_repeat && pass.graph.empty())
    pass.graph = gpu::Graph::record(stream, body);
  started_.record(stream);
  if (pass.graph.empty()) {
    const std::uint64_t n_plans = device.n_plans_loaded();
    body();
    // A graph would copy host memory that later passes overwrite.
    pass.can_repeat = device.n_plans_loaded() == n_plans;
  } else {
    pass.graph.launch(stream);
  }
  stopped_.record(stream);
  // A run that had to make more room moved what earlier graphs point to.
  if (device.n_moves() != n_moves_) passes_.clear();
  n_moves_ = device.n_moves();
  passes_[key].ran = true;
}

double GraphCache::seconds() const {
  stopped_.synchronize();
  return stopped_.seconds_since(started_);
}

}  // namespace biogpu::tensor
