// The scheduler of emulated blocks: their threads are fibers that run until they wait for each
// other.
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "fibers.hpp"
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

namespace hip_on_host {
namespace {

namespace context = boost::context::detail;
constexpr std::size_t kStackBytes = 128 * 1024;

std::vector<Fiber> fibers;
std::vector<Turn> turns;  // of the fibers

}  // namespace

Running running;
Fiber* current = nullptr;

void fail(const char* what) {
  const Block& block = current != nullptr ? *current->block : running.blocks.front();
  std::fprintf(stderr, "emulated device: %s (block %u, %d of its %d live threads at its barrier)\n",
               what, block.index.x, block.n_arrived, block.n_live);
  std::abort();
}

int n_in_cluster() { return static_cast<int>(running.blocks.size() / running.clusters.size()); }
int number_of(const Block& block) { return static_cast<int>(&block - running.blocks.data()); }
Barrier& cluster_of(const Fiber& fiber) {
  return running.clusters[static_cast<std::size_t>(number_of(*fiber.block) / n_in_cluster())];
}

void switch_to_scheduler([[maybe_unused]] bool for_good) {
  [[maybe_unused]] Fiber* self = current;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &self->fake_stack, running.scheduler_stack,
                                 running.scheduler_stack_bytes);
#endif
  running.scheduler = context::jump_fcontext(running.scheduler, nullptr).fctx;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(self->fake_stack, &running.scheduler_stack,
                                  &running.scheduler_stack_bytes);
#endif
}

bool random_order() { return settings().order_seed != 0; }

namespace {

void fiber_main(context::transfer_t from) {
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &running.scheduler_stack,
                                  &running.scheduler_stack_bytes);
#endif
  running.scheduler = from.fctx;
  (*running.body)();
  for (const Groups& groups : current->groups) {
    if (!groups.open.empty() || !groups.closed.empty())
      fail("a thread ended before work that it asked for");
  }
  current->turn->waiting = Waiting::ended;
  --running.n_live;
  --cluster_of(*current).n_live;
  --current->block->n_live;
  --current->turn->wave->n_live;
  switch_to_scheduler(true);
}

void resume(Fiber& fiber) {
  current = &fiber;
  fiber.turn->waiting = Waiting::no;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_start_switch_fiber(&running.scheduler_fake_stack, fiber.stack, kStackBytes);
#endif
  fiber.state = context::jump_fcontext(fiber.state, nullptr).fctx;
#ifdef HIP_ON_HOST_ASAN
  __sanitizer_finish_switch_fiber(running.scheduler_fake_stack, nullptr, nullptr);
#endif
}

// Whether a thread that waits there can go on; the first one that finds its barrier complete opens
// it for the others.
bool passes(const Turn& turn) {
  Barrier& barrier = *turn.barrier;
  if (turn.generation != barrier.generation) return true;
  if (barrier.n_arrived != barrier.n_live) return false;
  barrier.n_arrived = 0;
  ++barrier.generation;
  return true;
}

bool can_run(std::size_t i) {
  const Turn& turn = turns[i];
  switch (turn.waiting) {
    case Waiting::no:
      return true;
    case Waiting::barrier:
      return passes(turn);
    case Waiting::condition:
      return fibers[i].condition();
    case Waiting::ended:
      return false;
  }
  return true;
}

// Fibers of all threads of the blocks, one block behind the other.
void prepare_fibers(int n_threads) {
  const std::size_t n_fibers = running.blocks.size() * static_cast<std::size_t>(n_threads);
  while (fibers.size() < n_fibers) {
    Fiber fiber;
    fiber.stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber.stack == MAP_FAILED) fail("no memory for the stack of a thread");
    fibers.push_back(std::move(fiber));
  }
  turns.resize(n_fibers);
  const dim3& extent = running.extent;
  for (std::size_t i = 0; i < n_fibers; ++i) {
    Fiber& fiber = fibers[i];
    const auto index = static_cast<unsigned>(i % static_cast<std::size_t>(n_threads));
    fiber.block = &running.blocks[i / static_cast<std::size_t>(n_threads)];
    turns[i] = {};
    turns[i].wave = &fiber.block->waves[index / static_cast<unsigned>(wave_width())];
    fiber.turn = &turns[i];
    for (Groups& groups : fiber.groups) groups.n_closed = 0;
    fiber.index = static_cast<int>(index);
    fiber.thread =
        dim3(index % extent.x, index / extent.x % extent.y, index / (extent.x * extent.y));
    fiber.state = context::make_fcontext(static_cast<char*>(fiber.stack) + kStackBytes, kStackBytes,
                                         fiber_main);
    ++fiber.turn->wave->n_live;
  }
}

void run_one_beside() {
  std::deque<Work>& beside = running.beside;
  if (random_order()) std::swap(beside.front(), beside[running.random() % beside.size()]);
  const Work work = std::move(beside.front());
  beside.pop_front();
  work();
  ++running.n_done_beside;
}
// Much at a time where there is much, or each would cost a look at all threads.
void run_some_beside() {
  const std::size_t left = running.beside.size() - running.beside.size() / 32 - 1;
  while (running.beside.size() > left) run_one_beside();
}

// Now and then one wave, or a block, falls behind, as far as barriers let it.
void hold_some() {
  if (running.held_rounds > 0 && --running.held_rounds > 0) return;
  running.held = {};
  if (!random_order() || running.random() % 16 != 0) return;
  const std::span<const Wave> waves =
      running.blocks[running.random() % running.blocks.size()].waves;
  running.held = waves;
  if (running.random() % 4 != 0) running.held = waves.subspan(running.random() % waves.size(), 1);
  running.held_rounds = (1 + running.random() % 256) << running.random() % 6;
}

bool is_held(const Turn& turn) {
  return !running.held.empty() && turn.wave >= running.held.data() &&
         turn.wave < running.held.data() + running.held.size();
}

void run_blocks(int n_threads, const std::vector<std::size_t>& order) {
  running.n_live = n_threads * static_cast<int>(running.blocks.size());
  for (Barrier& barrier : running.clusters) {
    barrier = {};
    barrier.n_live = n_threads * n_in_cluster();
  }
  for (Block& block : running.blocks) {
    block.n_live = n_threads;
    block.n_arrived = 0;
    block.waves.assign(static_cast<std::size_t>((n_threads + wave_width() - 1) / wave_width()),
                       Wave{});
    for (Barrier& barrier : block.named) barrier = {};
  }
  prepare_fibers(n_threads);
  running.held = {};
  running.held_rounds = 0;
  while (running.n_live > 0) {
    bool moved = false;
    hold_some();
    for (const std::size_t i : order) {
      if (is_held(turns[i]) || !can_run(i)) continue;
      moved = true;
      resume(fibers[i]);
    }
    current = nullptr;
    const bool hurries = random_order() && running.random() % 4 == 0;
    if (!running.beside.empty() && (hurries || !moved)) {
      run_some_beside();
    } else if (!moved && !running.held.empty()) {
      running.held_rounds = 1;
    } else if (!moved) {
      fail(
          "threads wait in vain: for one that is not at their barrier or operation, or for a copy");
    }
  }
  if (!running.beside.empty()) fail("a block ended before a copy");
}

// n_blocks blocks from `first` on run at the same time, in n_clusters clusters.
class BlocksRun {
 public:
  BlocksRun(const dim3& grid, const dim3& extent, unsigned n_blocks, unsigned n_clusters,
            std::size_t shared_bytes, const std::function<void()>& thread_body)
      : n_threads_(static_cast<int>(extent.x * extent.y * extent.z)),
        // Exactly the size asked for, so that AddressSanitizer sees an access behind it.
        shared_bytes_(std::max<std::size_t>((shared_bytes + 15) / 16 * 16, 16)),
        order_(static_cast<std::size_t>(n_threads_) * n_blocks) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    running.random.seed(settings().order_seed);
    running.extent = extent;
    running.grid = grid;
    running.body = &thread_body;
    running.blocks.assign(n_blocks, Block{});
    running.clusters.assign(n_clusters, Barrier{});
    running.n_done_beside = 0;
    for (Block& block : running.blocks) block.shared = std::aligned_alloc(16, shared_bytes_);
  }
  BlocksRun(const BlocksRun&) = delete;
  BlocksRun& operator=(const BlocksRun&) = delete;
  ~BlocksRun() {
    for (Block& block : running.blocks) std::free(block.shared);
    current = nullptr;
  }

  void run(const dim3& first) {
    if (random_order()) std::shuffle(order_.begin(), order_.end(), running.random);
    unsigned x = first.x;
    for (Block& block : running.blocks) {
      std::memset(block.shared, 0xA5, shared_bytes_);
      block.index = dim3(x++, first.y, first.z);
    }
    run_blocks(n_threads_, order_);
  }

 private:
  int n_threads_;
  std::size_t shared_bytes_;
  std::vector<std::size_t> order_;
};

}  // namespace

void run_grid(const dim3& grid, const dim3& extent, std::size_t shared_bytes,
              const std::function<void()>& thread_body) {
  BlocksRun blocks(grid, extent, 1, 1, shared_bytes, thread_body);
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) blocks.run(dim3(x, y, z));
    }
  }
}

void run_clusters(unsigned n_blocks, unsigned n_in_cluster, Clusters run, const dim3& extent,
                  std::size_t shared_bytes, const std::function<void()>& thread_body) {
  const unsigned n_at_once = run == Clusters::together ? n_blocks : n_in_cluster;
  BlocksRun blocks(dim3(n_blocks), extent, n_at_once, n_at_once / n_in_cluster, shared_bytes,
                   thread_body);
  for (unsigned x = 0; x < n_blocks; x += n_at_once) blocks.run(dim3(x));
}

}  // namespace hip_on_host
