#pragma once

#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

// Device time of what is queued between its making and stop().
class Timed {
 public:
  Timed(Stream& stream, double& seconds) : stream_(stream), seconds_(seconds) {
    begin_.record(stream_);
  }
  // Waits for the stream.
  void stop() {
    end_.record(stream_);
    end_.synchronize();
    seconds_ += end_.seconds_since(begin_);
  }

 private:
  Stream& stream_;
  double& seconds_;
  Event begin_;
  Event end_;
};

}  // namespace biogpu::gpu::kmer
