// Streams, events and graphs of the emulated platform. Work waits in its stream until somebody
// waits for it, who does it.
#include <sys/mman.h>

#include <utility>

#include "runtime.hpp"

using hip_on_host::state;

namespace hip_on_host {
namespace {

// Device memory is readable and writable while one of these lives.
class DeviceMemoryOpen {
 public:
  DeviceMemoryOpen() {
    if (state().running++ == 0) protect_device_memory(PROT_READ | PROT_WRITE);
  }
  ~DeviceMemoryOpen() {
    if (--state().running == 0) protect_device_memory(PROT_NONE);
  }
};

}  // namespace

Stream* resolve(Stream* stream) {
  if (stream != nullptr) return stream;
  Stream& fallback = state().default_streams[current_device];
  fallback.device = current_device;
  return &fallback;
}

void run_until(Stream& stream, std::uint64_t position) {
  const DeviceMemoryOpen open;
  while (stream.n_done < position && !stream.queue.empty()) {
    const auto work = std::move(stream.queue.front());
    stream.queue.pop_front();
    work();
    ++stream.n_done;
  }
}

void run_all_of_device(int device) {
  for (Stream* stream : state().streams) {
    if (stream->device == device) run_until(*stream, stream->n_queued);
  }
  Stream& fallback = state().default_streams[device];
  run_until(fallback, fallback.n_queued);
}

void queue_on(Stream* stream, std::function<void()> work) {
  const std::lock_guard lock(state().mutex);
  Stream* const target = resolve(stream);
  if (target->recording != nullptr) {
    target->recording->work.push_back(std::move(work));
    return;
  }
  target->queue.push_back(std::move(work));
  ++target->n_queued;
}

hipError_t queue_kernel(Stream* stream, std::function<void()> work) {
  if (stream != nullptr && stream->device != current_device) return remember(hipErrorInvalidHandle);
  queue_on(stream, std::move(work));
  return hipSuccess;
}

}  // namespace hip_on_host

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
  const std::lock_guard lock(state().mutex);
  *stream = new hip_on_host::Stream;
  (*stream)->device = hip_on_host::current_device;
  state().streams.insert(*stream);
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  hip_on_host::run_until(*stream, stream->n_queued);
  state().streams.erase(stream);
  delete stream;
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  hip_on_host::Stream* const target = hip_on_host::resolve(stream);
  hip_on_host::run_until(*target, target->n_queued);
  return hipSuccess;
}

hipError_t hipDeviceSynchronize() {
  const std::lock_guard lock(state().mutex);
  hip_on_host::run_all_of_device(hip_on_host::current_device);
  return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
  *event = new hip_on_host::Event;
  return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (event->stream != nullptr && state().streams.count(event->stream) != 0) {
    hip_on_host::run_until(*event->stream, event->position);  // queued work may still stamp it
  }
  delete event;
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  const std::lock_guard lock(state().mutex);
  hip_on_host::queue_on(stream, [event] { event->time = std::chrono::steady_clock::now(); });
  event->stream = hip_on_host::resolve(stream);
  event->position = event->stream->n_queued;
  return hipSuccess;
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (event->stream != nullptr) hip_on_host::run_until(*event->stream, event->position);
  return hipSuccess;
}

// The first question finds the work not done, and does it: both answers are heard.
hipError_t hipEventQuery(hipEvent_t event) {
  const std::lock_guard lock(state().mutex);
  if (event->stream == nullptr || event->stream->n_done >= event->position) return hipSuccess;
  hip_on_host::run_until(*event->stream, event->position);
  return hip_on_host::remember(hipErrorNotReady);
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  const std::lock_guard lock(state().mutex);
  if (event->stream == nullptr) return hipSuccess;
  hip_on_host::queue_on(stream, [source = event->stream, position = event->position] {
    if (hip_on_host::state().streams.count(source) != 0) hip_on_host::run_until(*source, position);
  });
  return hipSuccess;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  const std::lock_guard lock(state().mutex);
  for (const hipEvent_t event : {start, stop}) {
    if (event->stream == nullptr || event->stream->n_done < event->position) {
      return hip_on_host::remember(hipErrorNotReady);
    }
  }
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return hipSuccess;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode) {
  const std::lock_guard lock(state().mutex);
  if (stream == nullptr || stream->recording != nullptr) {
    return hip_on_host::remember(hipErrorInvalidValue);
  }
  stream->recording = new hip_on_host::Graph;
  return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  const std::lock_guard lock(state().mutex);
  if (stream->recording == nullptr) return hip_on_host::remember(hipErrorInvalidValue);
  *graph = std::exchange(stream->recording, nullptr);
  return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t* instance, hipGraph_t graph, hipGraphNode_t*, char*,
                               std::size_t) {
  *instance = new hip_on_host::Graph(*graph);
  return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t instance, hipStream_t stream) {
  for (const auto& work : instance->work) hip_on_host::queue_on(stream, work);
  return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  delete graph;
  return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t instance) {
  delete instance;
  return hipSuccess;
}
