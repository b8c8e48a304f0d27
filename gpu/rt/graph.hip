// Recorded work: thin owner of the runtime's handle.
#include "gpu/rt/graph.hpp"

#include "gpu/rt/check.hpp"

namespace biogpu::gpu {
namespace {
hipStream_t handle_of(Stream& stream) { return static_cast<hipStream_t>(stream.handle()); }
}  // namespace

void Graph::begin(Stream& stream) {
  BIOGPU_HIP(hipStreamBeginCapture(handle_of(stream), hipStreamCaptureModeThreadLocal));
}

Graph Graph::end(Stream& stream) {
  hipGraph_t recorded = nullptr;
  BIOGPU_HIP(hipStreamEndCapture(handle_of(stream), &recorded));
  hipGraphExec_t instance = nullptr;
  const hipError_t error = hipGraphInstantiate(&instance, recorded, nullptr, nullptr, 0);
  (void)hipGraphDestroy(recorded);
  check_hip(error, "hipGraphInstantiate");
  Graph graph;
  graph.handle_ = instance;
  return graph;
}

void Graph::abandon(Stream& stream) noexcept {
  hipGraph_t recorded = nullptr;
  if (hipStreamEndCapture(handle_of(stream), &recorded) == hipSuccess && recorded != nullptr) {
    (void)hipGraphDestroy(recorded);
  }
  (void)hipGetLastError();
}

Graph::~Graph() {
  if (handle_ != nullptr) (void)hipGraphExecDestroy(static_cast<hipGraphExec_t>(handle_));
}

void Graph::launch(Stream& stream) const {
  BIOGPU_HIP(hipGraphLaunch(static_cast<hipGraphExec_t>(handle_), handle_of(stream)));
}

}  // namespace biogpu::gpu
