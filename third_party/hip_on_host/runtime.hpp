#pragma once

// What the parts of the emulated runtime share. Not for the code under test.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "settings.hpp"

#include <hip/hip_runtime.h>

namespace hip_on_host {

struct Graph {
  std::vector<std::function<void()>> work;
};

struct Stream {
  int device = 0;
  std::deque<std::function<void()>> queue;
  std::uint64_t n_queued = 0;
  std::uint64_t n_done = 0;
  Graph* recording = nullptr;  // takes the work while it lives
};

struct Event {
  Stream* stream = nullptr;
  std::uint64_t position = 0;  // reached when the stream has done as many pieces of work
  std::chrono::steady_clock::time_point time;
};

struct Allocation {
  std::size_t asked = 0;   // bytes
  std::size_t bytes = 0;   // of the mapping or block
  std::size_t offset = 0;  // of the user's pointer in it
  int device = 0;
};

struct State {
  std::recursive_mutex mutex;  // one piece of work runs at a time, whoever waits for it
  std::map<void*, Allocation> device_memory;
  std::map<int, std::size_t> used_bytes;
  std::set<Stream*> streams;
  std::map<int, Stream> default_streams;
  int running = 0;  // depth: device memory is open while it is above 0
};

State& state();

extern thread_local int current_device;

hipError_t remember(hipError_t error);  // for hipGetLastError(); returns it

// memory.cpp.
void protect_device_memory(int protection);

// streams.cpp. Those of a device's threads that name none have a default stream.
Stream* resolve(Stream* stream);
void run_until(Stream& stream, std::uint64_t position);
void run_all_of_device(int device);
void queue_on(Stream* stream, std::function<void()> work);

}  // namespace hip_on_host
