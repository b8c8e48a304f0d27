// The threads of an emulated block: fibers that run until they wait for each other.
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "settings.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define HIP_ON_HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HIP_ON_HOST_ASAN 1
#endif
#endif
#ifdef HIP_ON_HOST_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#include <hip/hip_runtime.h>

namespace hip_on_host {
namespace {

namespace context = boost::context::detail;
constexpr std::size_t kStackBytes = 128 * 1024;
constexpr int kMaxWave = 64;

// Where the lanes of one wave meet. Values of successive operations use the two slots in turn: a
// lane can be one operation ahead of the slowest, never two.
struct Wave {
  int n_live = 0;
  int n_arrived = 0;
  unsigned generation = 0;
  WaveOperation operation = WaveOperation::none;
  std::uint64_t present[2] = {};
  std::uint64_t votes[2] = {};
  unsigned char value[2][kMaxWave][16] = {};
};

enum class Waiting { no, block, wave };

struct Fiber {
  context::fcontext_t state = nullptr;
  void* stack = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
  dim3 thread{0, 0, 0};
  int index = 0;
  bool done = false;
  Waiting waiting = Waiting::no;
  unsigned generation = 0;  // of the barrier or wave it waits for
};

struct Block {
  dim3 index{0, 0, 0}, extent, grid;
  int n_live = 0;
  int n_arrived = 0;
  unsigned generation = 0;
  std::vector<Wave> waves;
  void* shared = nullptr;
  const std::function<void()>* body = nullptr;
  context::fcontext_t scheduler = nullptr;
  void* scheduler_fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_bytes = 0;
};

// One kernel runs at a time (streams.cpp holds a lock), so plain globals are enough.
std::vector<Fiber> fibers;
Block block;
Fiber* current = nullptr;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulated device: %s (block %u, %d of %d live threads at the barrier)\n",
               what, block.index.x, block.n_arrived, block.n_live);
  std::abort();
}

Wave& wave_of(const Fiber& fiber) {
  return block.waves[static_cast<std::size_t>(fiber.index / wave_width())];
}

void switch_to_scheduler([[maybe_unused]] bool for_good) {
  [[maybe_unused]] Fiber* self = current;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &self->fake_stack, block.scheduler_stack,
                                 block.scheduler_stack_bytes);
#endif
  block.scheduler = context::jump_fcontext(block.scheduler, nullptr).fctx;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(self->fake_stack, &block.scheduler_stack,
                                  &block.scheduler_stack_bytes);
#endif
}

void fiber_main(context::transfer_t from) {
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &block.scheduler_stack, &block.scheduler_stack_bytes);
#endif
  block.scheduler = from.fctx;
  (*block.body)();
  current->done = true;
  --block.n_live;
  --wave_of(*current).n_live;
  switch_to_scheduler(true);
}

void resume(Fiber& fiber) {
  current = &fiber;
  fiber.waiting = Waiting::no;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_start_switch_fiber(&block.scheduler_fake_stack, fiber.stack, kStackBytes);
#endif
  fiber.state = context::jump_fcontext(fiber.state, nullptr).fctx;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(block.scheduler_fake_stack, nullptr, nullptr);
#endif
}

// Whether the fiber can go on; the first one that finds its barrier complete opens it for the
// others.
template <class Barrier>
bool passes(const Fiber& fiber, Barrier& barrier) {
  if (fiber.generation != barrier.generation) return true;
  if (barrier.n_arrived != barrier.n_live) return false;
  barrier.n_arrived = 0;
  ++barrier.generation;
  return true;
}

bool can_run(const Fiber& fiber) {
  if (fiber.done) return false;
  if (fiber.waiting == Waiting::block) return passes(fiber, block);
  if (fiber.waiting == Waiting::wave) return passes(fiber, wave_of(fiber));
  return true;
}

void prepare_fibers(int n_threads) {
  while (static_cast<int>(fibers.size()) < n_threads) {
    Fiber fiber;
    fiber.stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber.stack == MAP_FAILED) fail("no memory for the stack of a thread");
    fibers.push_back(fiber);
  }
  const dim3& extent = block.extent;
  for (int i = 0; i < n_threads; ++i) {
    Fiber& fiber = fibers[static_cast<std::size_t>(i)];
    const auto index = static_cast<unsigned>(i);
    fiber.done = false;
    fiber.waiting = Waiting::no;
    fiber.index = i;
    fiber.thread =
        dim3(index % extent.x, index / extent.x % extent.y, index / (extent.x * extent.y));
    fiber.state = context::make_fcontext(static_cast<char*>(fiber.stack) + kStackBytes, kStackBytes,
                                         fiber_main);
    ++wave_of(fiber).n_live;
  }
}

void run_block(int n_threads, const std::vector<int>& order) {
  block.n_live = n_threads;
  block.n_arrived = 0;
  block.waves.assign(static_cast<std::size_t>((n_threads + wave_width() - 1) / wave_width()),
                     Wave{});
  prepare_fibers(n_threads);
  while (block.n_live > 0) {
    bool moved = false;
    for (const int i : order) {
      Fiber& fiber = fibers[static_cast<std::size_t>(i)];
      if (!can_run(fiber)) continue;
      moved = true;
      resume(fiber);
    }
    if (!moved) fail("a barrier or wave operation was not reached by every live thread");
  }
}

void arrive_at_wave(WaveOperation operation) {
  Wave& wave = wave_of(*current);
  if (wave.n_arrived > 0 && wave.operation != operation) {
    fail("lanes of one wave meet at different operations");
  }
  wave.operation = operation;
  ++wave.n_arrived;
  current->waiting = Waiting::wave;
  current->generation = wave.generation;
  switch_to_scheduler(false);
}

// The slot of the operation about to start; the first lane to come empties it.
int open_slot() {
  Wave& wave = wave_of(*current);
  const int slot = static_cast<int>(wave.generation & 1);
  if (wave.n_arrived == 0) wave.present[slot] = wave.votes[slot] = 0;
  wave.present[slot] |= std::uint64_t{1} << lane();
  return slot;
}

}  // namespace

const dim3& thread_index() { return current->thread; }
const dim3& block_index() { return block.index; }
const dim3& block_extent() { return block.extent; }
const dim3& grid_extent() { return block.grid; }
void* dynamic_shared() { return block.shared; }
int wave_width() { return settings().wave_width; }
int lane() { return current->index % wave_width(); }

void block_barrier() {
  ++block.n_arrived;
  current->waiting = Waiting::block;
  current->generation = block.generation;
  switch_to_scheduler(false);
}

void exchange(const void* value, void* result, std::size_t bytes, int source_lane) {
  const int slot = open_slot();
  Wave& wave = wave_of(*current);
  std::memcpy(wave.value[slot][lane()], value, bytes);
  arrive_at_wave(WaveOperation::shuffle);
  if ((wave.present[slot] >> source_lane & 1) != 0) {
    std::memcpy(result, wave.value[slot][source_lane], bytes);
  } else {
    std::memset(result, 0xA5, bytes);
  }
}

std::uint64_t ballot(bool vote) {
  const int slot = open_slot();
  Wave& wave = wave_of(*current);
  wave.votes[slot] |= std::uint64_t{vote} << lane();
  arrive_at_wave(WaveOperation::ballot);
  return wave.votes[slot];
}

void wave_barrier() {
  open_slot();
  arrive_at_wave(WaveOperation::barrier);
}

void run_grid(const dim3& grid, const dim3& extent, std::size_t shared_bytes,
              const std::function<void()>& thread_body) {
  const int n_threads = static_cast<int>(extent.x * extent.y * extent.z);
  std::vector<int> order(static_cast<std::size_t>(n_threads));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(settings().order_seed);
  // Exactly the size asked for, so that AddressSanitizer sees an access behind it.
  shared_bytes = (shared_bytes + 15) / 16 * 16;
  void* shared = std::aligned_alloc(16, std::max<std::size_t>(shared_bytes, 16));
  block.extent = extent;
  block.grid = grid;
  block.body = &thread_body;
  block.shared = shared;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        if (settings().order_seed != 0) std::shuffle(order.begin(), order.end(), random);
        std::memset(shared, 0xA5, std::max<std::size_t>(shared_bytes, 16));
        block.index = dim3(x, y, z);
        run_block(n_threads, order);
      }
    }
  }
  std::free(shared);
  current = nullptr;
}

}  // namespace hip_on_host
