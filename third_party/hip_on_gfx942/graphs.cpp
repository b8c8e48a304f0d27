// Recorded work, its steps, and what kernels take of the card.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime.hpp"

// A step of recorded work, between those that it waits for and those that wait for it.
struct hipGraphNode {
  std::function<void()> work;
  hip_on_gfx942::Launch launch;
  bool is_event = false;
  std::vector<hipGraphNode_t> before, after;
};
struct ihipGraph {
  std::vector<std::unique_ptr<hipGraphNode>> nodes;
};

namespace hip_on_gfx942 {
namespace {

// Limits of gfx942: registers of a SIMD's lane, SIMDs and shared memory of a compute unit, blocks
// of several waves that wait for each other.
constexpr int kRegisters = 512, kRegisterStep = 8, kMaxWaves = 8, kSimds = 4, kWave = 64;
constexpr int kSharedBytes = 64 << 10, kSharedStep = 512, kMaxBarriers = 16;

using Functions = std::vector<std::function<void()>>;

hipGraphNode_t add_node(ihipGraph& graph, std::function<void()> work, const Launch& launch) {
  graph.nodes.push_back(std::make_unique<hipGraphNode>());
  graph.nodes.back()->work = std::move(work);
  graph.nodes.back()->launch = launch;
  return graph.nodes.back().get();
}

void connect(hipGraphNode_t from, hipGraphNode_t to) {
  from->after.push_back(to);
  to->before.push_back(from);
}

// As AMD's runtime gives lists: how many there are, or that many of them.
hipError_t give(const std::vector<hipGraphNode_t>& list, hipGraphNode_t* nodes, std::size_t* n) {
  *n = nodes == nullptr ? list.size() : std::min(*n, list.size());
  if (nodes != nullptr) std::copy_n(list.begin(), *n, nodes);
  return hipSuccess;
}

std::vector<hipGraphNode_t> roots(const ihipGraph& graph) {
  std::vector<hipGraphNode_t> found;
  for (const auto& node : graph.nodes)
    if (node->before.empty()) found.push_back(node.get());
  return found;
}

// Work in an order in which each step follows those that it waits for.
Functions in_order(const ihipGraph& graph) {
  Functions work;
  std::vector<hipGraphNode_t> done;
  while (done.size() < graph.nodes.size()) {
    const std::size_t n_before = done.size();
    const auto is_done = [&](hipGraphNode_t node) {
      return std::find(done.begin(), done.end(), node) != done.end();
    };
    for (const auto& node : graph.nodes) {
      if (is_done(node.get()) || !std::all_of(node->before.begin(), node->before.end(), is_done))
        continue;
      done.push_back(node.get());
      work.push_back(node->work);
    }
    if (done.size() == n_before) return {};  // a circle
  }
  return work;
}

}  // namespace

void append(ihipGraph& graph, std::function<void()> work, const Launch& launch) {
  const hipGraphNode_t last = graph.nodes.empty() ? nullptr : graph.nodes.back().get();
  const hipGraphNode_t node = add_node(graph, std::move(work), launch);
  if (last != nullptr) connect(last, node);
}

}  // namespace hip_on_gfx942

using namespace hip_on_gfx942;

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode) {
  if (stream == nullptr || stream->recording != nullptr) return remember(hipErrorInvalidValue);
  stream->recording = new ihipGraph;
  return hipSuccess;
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  if (stream == nullptr || stream->recording == nullptr) return remember(hipErrorInvalidValue);
  *graph = std::exchange(stream->recording, nullptr);
  return hipSuccess;
}
hipError_t hipGraphInstantiate(hipGraphExec_t* instance, hipGraph_t graph, hipGraphNode_t*, char*,
                               std::size_t) {
  auto work = in_order(*graph);
  if (work.size() != graph->nodes.size()) return remember(hipErrorInvalidValue);
  *instance = reinterpret_cast<hipGraphExec_t>(new Functions(std::move(work)));
  return hipSuccess;
}
hipError_t hipGraphLaunch(hipGraphExec_t instance, hipStream_t stream) {
  const auto* const all = reinterpret_cast<const Functions*>(instance);
  return perform(stream, [all] {
    for (const auto& work : *all) work();
  });
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  delete graph;
  return hipSuccess;
}
hipError_t hipGraphExecDestroy(hipGraphExec_t instance) {
  delete reinterpret_cast<Functions*>(instance);
  return hipSuccess;
}

// Steps.
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* n) {
  return give(roots(*graph), nodes, n);
}
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes,
                                         std::size_t* n) {
  return give(node->after, nodes, n);
}
hipError_t hipGraphAddDependencies(hipGraph_t, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) connect(from[i], to[i]);
  return hipSuccess;
}
hipError_t hipGraphRemoveDependencies(hipGraph_t, const hipGraphNode_t* from,
                                      const hipGraphNode_t* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    std::erase(from[i]->after, to[i]);
    std::erase(to[i]->before, from[i]);
  }
  return hipSuccess;
}
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph,
                                      const hipGraphNode_t* behind, std::size_t n,
                                      hipEvent_t event) {
  *node = add_node(*graph, [event] { event->time = std::chrono::steady_clock::now(); }, {});
  (*node)->is_event = true;
  for (std::size_t i = 0; i < n; ++i) connect(behind[i], *node);
  return hipSuccess;
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  *type = node->launch.function != nullptr ? hipGraphNodeTypeKernel
          : node->is_event                 ? hipGraphNodeTypeEventRecord
                                           : hipGraphNodeTypeMemcpy;
  return hipSuccess;
}
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* params) {
  if (node->launch.function == nullptr) return remember(hipErrorInvalidValue);
  *params = {};
  params->func = const_cast<void*>(node->launch.function);
  params->gridDim = node->launch.blocks;
  params->blockDim = node->launch.threads;
  params->sharedMemBytes = node->launch.shared_bytes;
  return hipSuccess;
}

// Kernels.
const char* hipKernelNameRefByPtr(const void* function, hipStream_t) {
  const Found found = find_kernel(function);
  return found.kernel == nullptr ? nullptr : found.kernel->name.c_str();
}
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  const Found found = find_kernel(function);
  if (found.kernel == nullptr) return remember(hipErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->numRegs = static_cast<int>(found.kernel->registers);
  attributes->sharedSizeBytes = found.kernel->shared_bytes;
  attributes->localSizeBytes = found.kernel->scratch_bytes;
  attributes->maxThreadsPerBlock = 1024;
  return hipSuccess;
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* n_blocks, const void* function,
                                                        int n_threads, std::size_t shared_bytes) {
  const Found found = find_kernel(function);
  if (found.kernel == nullptr || n_threads < 1) return remember(hipErrorInvalidValue);
  const auto round_up = [](int n, int step) { return (n + step - 1) / step * step; };
  const int registers =
      std::max(kRegisterStep, round_up(static_cast<int>(found.kernel->registers), kRegisterStep));
  const int waves_of_block = (n_threads + kWave - 1) / kWave;
  *n_blocks = std::min(kMaxWaves, kRegisters / registers) * kSimds / waves_of_block;
  const int shared =
      round_up(static_cast<int>(found.kernel->shared_bytes + shared_bytes), kSharedStep);
  if (shared > 0) *n_blocks = std::min(*n_blocks, kSharedBytes / shared);
  if (waves_of_block > 1) *n_blocks = std::min(*n_blocks, kMaxBarriers);
  return hipSuccess;
}

}  // extern "C"
