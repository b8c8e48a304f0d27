// Kernels of recorded work. The runtime's and the driver's functions that nothing else needs are
// named here, so that the list of names which every kernel file includes stays short.
#include "gpu/rt/graph_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "gpu/rt/check.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/driver_function.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

using tensor::KernelUse;

#if defined(BIOGPU_GPU_EMULATED)
std::vector<KernelUse> list_kernels(Stream& /*stream*/, int /*n_runs*/,
                                    const std::function<void()>& /*queue*/) {
  return {};
}
#else
namespace {

// Fills what is known of the kernel that a node launches; false where the node does something else.
bool describe_node(hipGraphNode_t node, KernelUse& kernel, int& blocks_at_a_time);

#if defined(BIOGPU_GPU_CUDA)

// What an edge carries: kernels of libraries may begin before the end of the one in front.
#if CUDART_VERSION >= 12030
using EdgeData = cudaGraphEdgeData;
#else
struct EdgeData {};
#endif

hipError_t get_roots(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* n) {
  return cudaGraphGetRootNodes(graph, nodes, n);
}
hipError_t get_dependents(hipGraphNode_t node, hipGraphNode_t* nodes,
                          [[maybe_unused]] EdgeData* data, std::size_t* n) {
#if CUDART_VERSION >= 13000
  return cudaGraphNodeGetDependentNodes(node, nodes, data, n);
#elif CUDART_VERSION >= 12030
  return cudaGraphNodeGetDependentNodes_v2(node, nodes, data, n);
#else
  return cudaGraphNodeGetDependentNodes(node, nodes, n);
#endif
}
hipError_t add_edge(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
#else
  return cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
}
hipError_t remove_edge(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to,
                       [[maybe_unused]] const EdgeData& data) {
#if CUDART_VERSION >= 13000
  return cudaGraphRemoveDependencies(graph, &from, &to, &data, 1);
#elif CUDART_VERSION >= 12030
  return cudaGraphRemoveDependencies_v2(graph, &from, &to, &data, 1);
#else
  return cudaGraphRemoveDependencies(graph, &from, &to, 1);
#endif
}
hipError_t add_event(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* behind,
                     std::size_t n_behind, hipEvent_t event) {
  return cudaGraphAddEventRecordNode(node, graph, behind, n_behind, event);
}

// The driver knows kernels of libraries as well, the runtime those of its own program alone. Its
// functions and constants are as cuda.h declares them.
struct NodeParams {
  void* function;
  unsigned blocks[3], threads[3], shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;  // where function is null
  void* context;
};
constexpr int kSharedBytes = 1, kLocalBytes = 3, kRegisters = 4;

struct Driver {
  int (*node_params)(hipGraphNode_t, NodeParams*);
  int (*function_of)(void** function, void* kernel);
  int (*attribute)(int* value, int which, void* function);
  int (*name)(const char** name, void* function);
  int (*occupancy)(int* n_blocks, void* function, int n_threads, std::size_t shared_bytes);
};

template <class Function>
void find(Function*& function, const char* name, unsigned since) {
  function = reinterpret_cast<Function*>(driver_function(name, since));
}

const Driver& driver() {
  static const Driver kDriver = [] {
    Driver found{};
    find(found.node_params, "cuGraphKernelNodeGetParams", 12000);
    find(found.function_of, "cuKernelGetFunction", 12000);
    find(found.attribute, "cuFuncGetAttribute", 12000);
    find(found.name, "cuFuncGetName", 12030);
    find(found.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", 12000);
    return found;
  }();
  return kDriver;
}

bool describe_node(hipGraphNode_t node, KernelUse& kernel, int& blocks_at_a_time) {
  cudaGraphNodeType type{};
  BIOGPU_HIP(cudaGraphNodeGetType(node, &type));
  if (type != cudaGraphNodeTypeKernel) return false;
  NodeParams params{};
  if (driver().node_params == nullptr || driver().node_params(node, &params) != 0) return true;
  kernel.n_blocks = std::uint64_t{params.blocks[0]} * params.blocks[1] * params.blocks[2];
  kernel.n_threads = params.threads[0] * params.threads[1] * params.threads[2];
  if (params.function == nullptr && (driver().function_of == nullptr ||
                                     driver().function_of(&params.function, params.kernel) != 0))
    return true;
  const char* name = nullptr;
  if (driver().name != nullptr && driver().name(&name, params.function) == 0) kernel.symbol = name;
  int registers = 0, shared = 0, local = 0;
  if (driver().attribute == nullptr ||
      driver().attribute(&registers, kRegisters, params.function) != 0 ||
      driver().attribute(&shared, kSharedBytes, params.function) != 0 ||
      driver().attribute(&local, kLocalBytes, params.function) != 0)
    return true;
  kernel.registers = registers;
  kernel.shared_bytes = static_cast<std::size_t>(shared) + params.shared_bytes;
  kernel.local_bytes = static_cast<std::size_t>(local);
  if (driver().occupancy == nullptr ||
      driver().occupancy(&blocks_at_a_time, params.function, static_cast<int>(kernel.n_threads),
                         params.shared_bytes) != 0)
    blocks_at_a_time = -1;
  return true;
}

#else

struct EdgeData {};

hipError_t get_roots(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* n) {
  return hipGraphGetRootNodes(graph, nodes, n);
}
hipError_t get_dependents(hipGraphNode_t node, hipGraphNode_t* nodes, EdgeData* /*data*/,
                          std::size_t* n) {
  return hipGraphNodeGetDependentNodes(node, nodes, n);
}
hipError_t add_edge(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to) {
  return hipGraphAddDependencies(graph, &from, &to, 1);
}
hipError_t remove_edge(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to,
                       const EdgeData& /*data*/) {
  return hipGraphRemoveDependencies(graph, &from, &to, 1);
}
hipError_t add_event(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* behind,
                     std::size_t n_behind, hipEvent_t event) {
  return hipGraphAddEventRecordNode(node, graph, behind, n_behind, event);
}

// Kernels of a library that loads its own code are not told.
bool describe_node(hipGraphNode_t node, KernelUse& kernel, int& blocks_at_a_time) {
  hipGraphNodeType type{};
  BIOGPU_HIP(hipGraphNodeGetType(node, &type));
  if (type != hipGraphNodeTypeKernel) return false;
  hipKernelNodeParams params{};
  BIOGPU_HIP(hipGraphKernelNodeGetParams(node, &params));
  kernel.n_blocks = std::uint64_t{params.gridDim.x} * params.gridDim.y * params.gridDim.z;
  kernel.n_threads = params.blockDim.x * params.blockDim.y * params.blockDim.z;
  hipFuncAttributes attributes{};
  if (hipFuncGetAttributes(&attributes, params.func) != hipSuccess) {
    (void)hipGetLastError();
    return true;
  }
  const char* const name = hipKernelNameRefByPtr(params.func, nullptr);
  if (name != nullptr) kernel.symbol = name;
  kernel.registers = attributes.numRegs;
  kernel.shared_bytes = attributes.sharedSizeBytes + params.sharedMemBytes;
  kernel.local_bytes = attributes.localSizeBytes;
  const void* const function = params.func;
  if (hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_at_a_time, function,
                                                   static_cast<int>(kernel.n_threads),
                                                   params.sharedMemBytes) != hipSuccess) {
    (void)hipGetLastError();
    blocks_at_a_time = -1;
  }
  return true;
}

#endif

// A step of recorded work, and what leads to the next one.
struct Step {
  hipGraphNode_t node = nullptr;
  EdgeData to_next{};
};

// What a stream recorded.
class Recording {
 public:
  Recording(Stream& stream, const std::function<void()>& queue) {
    const auto handle = static_cast<hipStream_t>(stream.handle());
    BIOGPU_HIP(hipStreamBeginCapture(handle, hipStreamCaptureModeThreadLocal));
    try {
      queue();
    } catch (...) {
      (void)hipStreamEndCapture(handle, &graph_);
      destroy();
      (void)hipGetLastError();
      throw;
    }
    BIOGPU_HIP(hipStreamEndCapture(handle, &graph_));
  }
  ~Recording() { destroy(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Its steps in the order in which they run; nothing where some may run side by side.
  std::vector<Step> steps() const {
    std::vector<Step> steps;
    hipGraphNode_t nodes[2] = {};  // one too many shows that it is not one
    EdgeData data[2] = {};
    std::size_t n = 2;
    BIOGPU_HIP(get_roots(graph_, nodes, &n));
    while (n == 1) {
      steps.push_back({nodes[0], {}});
      n = 2;
      BIOGPU_HIP(get_dependents(steps.back().node, nodes, data, &n));
      steps.back().to_next = data[0];
    }
    if (n > 1) steps.clear();
    return steps;
  }

  // Records events[i] in front of step i, and the last one behind the last step.
  void time_steps(const std::vector<Step>& steps, const std::vector<Event>& events) {
    for (std::size_t i = 0; i <= steps.size(); ++i) {
      const Step* const before = i == 0 ? nullptr : &steps[i - 1];
      const Step* const next = i == steps.size() ? nullptr : &steps[i];
      if (before != nullptr && next != nullptr)
        BIOGPU_HIP(remove_edge(graph_, before->node, next->node, before->to_next));
      hipGraphNode_t event = nullptr;
      BIOGPU_HIP(add_event(&event, graph_, before == nullptr ? nullptr : &before->node,
                           before == nullptr ? 0 : 1, static_cast<hipEvent_t>(events[i].handle())));
      if (next != nullptr) BIOGPU_HIP(add_edge(graph_, event, next->node));
    }
  }

  void instantiate() { BIOGPU_HIP(hipGraphInstantiate(&instance_, graph_, nullptr, nullptr, 0)); }
  void launch(Stream& stream) {
    BIOGPU_HIP(hipGraphLaunch(instance_, static_cast<hipStream_t>(stream.handle())));
  }

 private:
  void destroy() noexcept {
    if (instance_ != nullptr) (void)hipGraphExecDestroy(instance_);
    if (graph_ != nullptr) (void)hipGraphDestroy(graph_);
    graph_ = nullptr;
  }

  hipGraph_t graph_ = nullptr;
  hipGraphExec_t instance_ = nullptr;
};

}  // namespace

std::vector<KernelUse> list_kernels(Stream& stream, int n_runs,
                                    const std::function<void()>& queue) {
  Recording recording(stream, queue);
  const std::vector<Step> steps = recording.steps();
  hipDeviceProp_t device;
  BIOGPU_HIP(hipGetDeviceProperties(&device, current_device()));
  const int waves_at_a_time = device.maxThreadsPerMultiProcessor / device.warpSize;
  std::vector<std::pair<std::size_t, KernelUse> > kernels;  // and the step of each
  for (std::size_t i = 0; i < steps.size(); ++i) {
    KernelUse kernel;
    int blocks_at_a_time = -1;
    if (!describe_node(steps[i].node, kernel, blocks_at_a_time)) continue;
    const int waves = (static_cast<int>(kernel.n_threads) + device.warpSize - 1) / device.warpSize;
    if (blocks_at_a_time >= 0)
      kernel.occupancy =
          std::min(1.0, static_cast<double>(blocks_at_a_time) * waves / waves_at_a_time);
    kernels.emplace_back(i, std::move(kernel));
  }
  const std::vector<Event> events(steps.size() + 1);
  recording.time_steps(steps, events);
  recording.instantiate();
  for (int run = 0; run < n_runs; ++run) {
    recording.launch(stream);
    stream.synchronize();
    for (auto& [step, kernel] : kernels) {
      const double seconds = events[step + 1].seconds_since(events[step]);
      if (run == 0 || seconds < kernel.seconds) kernel.seconds = seconds;
    }
  }
  std::vector<KernelUse> listed;
  for (auto& [step, kernel] : kernels) listed.push_back(std::move(kernel));
  return listed;
}
#endif

}  // namespace biogpu::gpu
