// Order between streams of ours and of other programs, by events.
#include "gpu/rt/stream_order.hpp"

#include "gpu/rt/check.hpp"

namespace biogpu::gpu {

void wait_for_foreign(Stream& ours, void* theirs) {
  const Event event;
  BIOGPU_HIP(
      hipEventRecord(static_cast<hipEvent_t>(event.handle()), static_cast<hipStream_t>(theirs)));
  ours.wait_for(event);
}

void let_foreign_wait(void* theirs, Stream& ours) {
  Event event;
  event.record(ours);
  BIOGPU_HIP(hipStreamWaitEvent(static_cast<hipStream_t>(theirs),
                                static_cast<hipEvent_t>(event.handle()), 0));
}

}  // namespace biogpu::gpu
