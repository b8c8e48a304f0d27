#include "lib/nn/recorded_gpu.hpp"

namespace biogpu::nn {
namespace {

constexpr std::size_t kMostPasses = 256;

}  // namespace

void RecordedPasses::run(std::uint64_t key, const std::function<void()>& body,
                         const std::function<Room()>& room, gpu::Stream& stream) {
  if (passes_.size() > kMostPasses) passes_.clear();
  Pass& pass = passes_[key];
  // The first run makes room that a recorded one must find; the second records.
  if (pass.ran && pass.graph.empty()) pass.graph = gpu::Graph::record(stream, body);
  started_.record(stream);
  if (pass.graph.empty()) {
    body();
  } else {
    pass.graph.launch(stream);
  }
  stopped_.record(stream);
  // A run that had to make more room moved what earlier recordings point to.
  const Room now = room();
  if (now != room_) passes_.clear();
  room_ = now;
  passes_[key].ran = true;
}

double RecordedPasses::seconds() const {
  stopped_.synchronize();
  return stopped_.seconds_since(started_);
}

}  // namespace biogpu::nn
