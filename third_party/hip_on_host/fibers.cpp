// The threads of emulated blocks: fibers that run until they wait for each other.
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <random>
#include <utility>
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

#include <hip/hip_clusters.h>

namespace hip_on_host {
namespace {

using Work = std::function<void()>;

namespace context = boost::context::detail;
constexpr std::size_t kStackBytes = 128 * 1024;
constexpr int kMaxWave = 64;
constexpr int kNamedBarriers = 16;

// Opens when all of the live threads have come; a named one, when as many as it is told.
struct Barrier {
  int n_live = 0;
  int n_arrived = 0;
  unsigned generation = 0;
};

// Where the lanes of one wave meet. Values of successive operations use the two slots in turn: a
// lane can be one operation ahead of the slowest, never two.
struct Wave : Barrier {
  WaveOperation operation = WaveOperation::none;
  std::uint64_t present[2] = {};
  std::uint64_t votes[2] = {};
  unsigned char value[2][kMaxWave][16] = {};
};

enum class Waiting { no, block, wave, cluster, condition };

// Groups of work that a thread has asked for and not waited for.
struct Groups {
  std::vector<Work> open;
  std::deque<std::vector<Work>> closed;
  unsigned n_closed = 0;  // ever
};

struct Block : Barrier {
  dim3 index{0, 0, 0};
  std::vector<Wave> waves;
  Barrier named[kNamedBarriers];
  void* shared = nullptr;
};

struct Fiber {
  context::fcontext_t state = nullptr;
  void* stack = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
  Block* block = nullptr;
  dim3 thread{0, 0, 0};
  int index = 0;
  bool done = false;
  Waiting waiting = Waiting::no;
  unsigned generation = 0;  // of the barrier or wave it waits for
  std::function<bool()> condition;
  Groups groups[2];
};

// The blocks that run at the same time: one, or those of a cluster.
struct Cluster : Barrier {
  dim3 extent, grid;
  std::vector<Block> blocks;
  std::vector<Work> beside;
  const Wave* held = nullptr;  // takes no turn for as many rounds
  unsigned held_rounds = 0;
  const std::function<void()>* body = nullptr;
  std::mt19937 random;
  context::fcontext_t scheduler = nullptr;
  void* scheduler_fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_bytes = 0;
};

// One kernel runs at a time (runtime.cpp holds a lock), so plain globals are enough.
std::vector<Fiber> fibers;
Cluster cluster;
Fiber* current = nullptr;

}  // namespace

void fail(const char* what) {
  const Block& block = current != nullptr ? *current->block : cluster.blocks.front();
  std::fprintf(stderr, "emulated device: %s (block %u, %d of its %d live threads at its barrier)\n",
               what, block.index.x, block.n_arrived, block.n_live);
  std::abort();
}

namespace {

Wave& wave_of(const Fiber& fiber) {
  return fiber.block->waves[static_cast<std::size_t>(fiber.index / wave_width())];
}

void switch_to_scheduler([[maybe_unused]] bool for_good) {
  [[maybe_unused]] Fiber* self = current;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &self->fake_stack, cluster.scheduler_stack,
                                 cluster.scheduler_stack_bytes);
#endif
  cluster.scheduler = context::jump_fcontext(cluster.scheduler, nullptr).fctx;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(self->fake_stack, &cluster.scheduler_stack,
                                  &cluster.scheduler_stack_bytes);
#endif
}

void fiber_main(context::transfer_t from) {
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &cluster.scheduler_stack,
                                  &cluster.scheduler_stack_bytes);
#endif
  cluster.scheduler = from.fctx;
  (*cluster.body)();
  for (const Groups& groups : current->groups) {
    if (!groups.open.empty() || !groups.closed.empty())
      fail("a thread ended before work that it asked for");
  }
  current->done = true;
  --cluster.n_live;
  --current->block->n_live;
  --wave_of(*current).n_live;
  switch_to_scheduler(true);
}

void resume(Fiber& fiber) {
  current = &fiber;
  fiber.waiting = Waiting::no;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_start_switch_fiber(&cluster.scheduler_fake_stack, fiber.stack, kStackBytes);
#endif
  fiber.state = context::jump_fcontext(fiber.state, nullptr).fctx;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(cluster.scheduler_fake_stack, nullptr, nullptr);
#endif
}

// Whether the fiber can go on; the first one that finds its barrier complete opens it for the
// others.
bool passes(const Fiber& fiber, Barrier& barrier) {
  if (fiber.generation != barrier.generation) return true;
  if (barrier.n_arrived != barrier.n_live) return false;
  barrier.n_arrived = 0;
  ++barrier.generation;
  return true;
}

bool can_run(const Fiber& fiber) {
  if (fiber.done) return false;
  switch (fiber.waiting) {
    case Waiting::no:
      return true;
    case Waiting::block:
      return passes(fiber, *fiber.block);
    case Waiting::wave:
      return passes(fiber, wave_of(fiber));
    case Waiting::cluster:
      return passes(fiber, cluster);
    case Waiting::condition:
      return fiber.condition();
  }
  return true;
}

// Fibers of all threads of the cluster's blocks, one block behind the other.
void prepare_fibers(int n_threads) {
  const std::size_t n_fibers = cluster.blocks.size() * static_cast<std::size_t>(n_threads);
  while (fibers.size() < n_fibers) {
    Fiber fiber;
    fiber.stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber.stack == MAP_FAILED) fail("no memory for the stack of a thread");
    fibers.push_back(std::move(fiber));
  }
  const dim3& extent = cluster.extent;
  for (std::size_t i = 0; i < n_fibers; ++i) {
    Fiber& fiber = fibers[i];
    const auto index = static_cast<unsigned>(i % static_cast<std::size_t>(n_threads));
    fiber.block = &cluster.blocks[i / static_cast<std::size_t>(n_threads)];
    fiber.done = false;
    fiber.waiting = Waiting::no;
    for (Groups& groups : fiber.groups) groups.n_closed = 0;
    fiber.index = static_cast<int>(index);
    fiber.thread =
        dim3(index % extent.x, index / extent.x % extent.y, index / (extent.x * extent.y));
    fiber.state = context::make_fcontext(static_cast<char*>(fiber.stack) + kStackBytes, kStackBytes,
                                         fiber_main);
    ++wave_of(fiber).n_live;
  }
}

bool random_order() { return settings().order_seed != 0; }

void run_one_beside() {
  const std::size_t chosen = random_order() ? cluster.random() % cluster.beside.size() : 0;
  const auto at = cluster.beside.begin() + static_cast<std::ptrdiff_t>(chosen);
  const Work work = std::move(*at);
  cluster.beside.erase(at);
  work();
}

// Now and then one wave falls behind, as far as barriers let it.
void hold_a_wave() {
  if (cluster.held_rounds > 0 && --cluster.held_rounds > 0) return;
  cluster.held = nullptr;
  if (!random_order() || cluster.random() % 16 != 0) return;
  std::vector<Wave>& waves = cluster.blocks[cluster.random() % cluster.blocks.size()].waves;
  cluster.held = &waves[cluster.random() % waves.size()];
  cluster.held_rounds = 1 + cluster.random() % 256;
}

void run_blocks(int n_threads, const std::vector<int>& order) {
  cluster.n_live = n_threads * static_cast<int>(cluster.blocks.size());
  cluster.n_arrived = 0;
  for (Block& block : cluster.blocks) {
    block.n_live = n_threads;
    block.n_arrived = 0;
    block.waves.assign(static_cast<std::size_t>((n_threads + wave_width() - 1) / wave_width()),
                       Wave{});
    for (Barrier& barrier : block.named) barrier = {};
  }
  prepare_fibers(n_threads);
  cluster.held = nullptr;
  cluster.held_rounds = 0;
  while (cluster.n_live > 0) {
    bool moved = false;
    hold_a_wave();
    for (const int i : order) {
      Fiber& fiber = fibers[static_cast<std::size_t>(i)];
      if ((cluster.held != nullptr && cluster.held == &wave_of(fiber)) || !can_run(fiber)) continue;
      moved = true;
      resume(fiber);
    }
    current = nullptr;
    const bool hurries = random_order() && cluster.random() % 4 == 0;
    if (!cluster.beside.empty() && (hurries || !moved)) {
      run_one_beside();
    } else if (!moved && cluster.held != nullptr) {
      cluster.held_rounds = 1;
    } else if (!moved) {
      fail(
          "threads wait in vain: for one that is not at their barrier or operation, or for a copy");
    }
  }
  if (!cluster.beside.empty()) fail("a block ended before a copy");
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

void wait_for(Waiting what, unsigned generation) {
  current->waiting = what;
  current->generation = generation;
  switch_to_scheduler(false);
}

Groups& groups_of(GroupQueue queue) { return current->groups[static_cast<std::size_t>(queue)]; }

void finish_oldest(Groups& groups) {
  const std::vector<Work> group = std::move(groups.closed.front());
  groups.closed.pop_front();
  for (const Work& work : group) work();
}

}  // namespace

const dim3& thread_index() { return current->thread; }
const dim3& block_index() { return current->block->index; }
const dim3& block_extent() { return cluster.extent; }
const dim3& grid_extent() { return cluster.grid; }
void* dynamic_shared() { return current->block->shared; }
int wave_width() { return settings().wave_width; }
int lane() { return current->index % wave_width(); }

int cluster_rank() { return static_cast<int>(current->block - cluster.blocks.data()); }

void* shared_of_cluster(int rank) {
  return cluster.blocks.at(static_cast<std::size_t>(rank)).shared;
}

void block_barrier() {
  ++current->block->n_arrived;
  wait_for(Waiting::block, current->block->generation);
}

void cluster_barrier() {
  ++cluster.n_arrived;
  wait_for(Waiting::cluster, cluster.generation);
}

void named_barrier(int name, int n_threads, bool waits) {
  if (name < 0 || name >= kNamedBarriers) fail("no barrier has such a name");
  Barrier& barrier = current->block->named[name];
  const unsigned generation = barrier.generation;
  if (++barrier.n_arrived == n_threads) {
    barrier.n_arrived = 0;
    ++barrier.generation;
  } else if (waits) {
    wait_until([&barrier, generation] { return barrier.generation != generation; });
  }
}

void wait_until(std::function<bool()> holds) {
  current->condition = std::move(holds);
  wait_for(Waiting::condition, 0);
}

void run_beside(std::function<void()> work) { cluster.beside.push_back(std::move(work)); }

void add_to_group(GroupQueue queue, std::function<void()> work) {
  groups_of(queue).open.push_back(std::move(work));
}

void close_group(GroupQueue queue) {
  Groups& groups = groups_of(queue);
  groups.closed.push_back(std::exchange(groups.open, {}));
  // The same for all lanes, which may work together.
  const unsigned chance = (settings().order_seed + ++groups.n_closed) * 2654435761u;
  if (!random_order() || (chance >> 16 & 1) != 0) return;
  while (!groups.closed.empty()) finish_oldest(groups);
}

void finish_groups(GroupQueue queue, int n_left) {
  Groups& groups = groups_of(queue);
  while (static_cast<int>(groups.closed.size()) > n_left) finish_oldest(groups);
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

namespace {

// n_blocks blocks from `first` on run at the same time.
class ClusterRun {
 public:
  ClusterRun(const dim3& grid, const dim3& extent, unsigned n_blocks, std::size_t shared_bytes,
             const std::function<void()>& thread_body)
      : n_threads_(static_cast<int>(extent.x * extent.y * extent.z)),
        // Exactly the size asked for, so that AddressSanitizer sees an access behind it.
        shared_bytes_(std::max<std::size_t>((shared_bytes + 15) / 16 * 16, 16)),
        order_(static_cast<std::size_t>(n_threads_) * n_blocks) {
    std::iota(order_.begin(), order_.end(), 0);
    cluster.random.seed(settings().order_seed);
    cluster.extent = extent;
    cluster.grid = grid;
    cluster.body = &thread_body;
    cluster.blocks.assign(n_blocks, Block{});
    for (Block& block : cluster.blocks) block.shared = std::aligned_alloc(16, shared_bytes_);
  }
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;
  ~ClusterRun() {
    for (Block& block : cluster.blocks) std::free(block.shared);
    current = nullptr;
  }

  void run(const dim3& first) {
    if (random_order()) std::shuffle(order_.begin(), order_.end(), cluster.random);
    unsigned x = first.x;
    for (Block& block : cluster.blocks) {
      std::memset(block.shared, 0xA5, shared_bytes_);
      block.index = dim3(x++, first.y, first.z);
    }
    run_blocks(n_threads_, order_);
  }

 private:
  int n_threads_;
  std::size_t shared_bytes_;
  std::vector<int> order_;
};

}  // namespace

void run_grid(const dim3& grid, const dim3& extent, std::size_t shared_bytes,
              const std::function<void()>& thread_body) {
  ClusterRun blocks(grid, extent, 1, shared_bytes, thread_body);
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) blocks.run(dim3(x, y, z));
    }
  }
}

void run_clusters(unsigned n_blocks, unsigned n_in_cluster, const dim3& extent,
                  std::size_t shared_bytes, const std::function<void()>& thread_body) {
  ClusterRun blocks(dim3(n_blocks), extent, n_in_cluster, shared_bytes, thread_body);
  for (unsigned x = 0; x < n_blocks; x += n_in_cluster) blocks.run(dim3(x));
}

}  // namespace hip_on_host
