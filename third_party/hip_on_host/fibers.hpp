#pragma once

// The blocks of a kernel that run and the fibers that are their threads: what the scheduler and
// what threads call share.

#include <hip/hip_clusters.h>
#include <hip/hip_matrix.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <span>
#include <vector>

namespace hip_on_host {

using Work = std::function<void()>;

inline constexpr int kMaxWave = 64;
inline constexpr int kNamedBarriers = 16;

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
  unsigned char value[2][kMaxWave][kLentBytes] = {};
  bool is_room_filled[2] = {};
  float room[2][kRoomFloats] = {};
};

enum class Waiting { no, barrier, condition, ended };

// What the scheduler asks for again and again, apart from the rest of a fiber and small.
struct Turn {
  Waiting waiting = Waiting::no;
  unsigned generation = 0;  // of the barrier that it waits at
  Barrier* barrier = nullptr;
  Wave* wave = nullptr;
};

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
  boost::context::detail::fcontext_t state = nullptr;
  void* stack = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
  Turn* turn = nullptr;
  Block* block = nullptr;
  dim3 thread{0, 0, 0};
  int index = 0;
  std::function<bool()> condition;
  Groups groups[2];
};

// The blocks that run at the same time: one, those of a cluster, or all of a grid.
struct Running {
  dim3 extent, grid;
  std::vector<Block> blocks;
  std::vector<Barrier> clusters;  // of neighbouring blocks
  int n_live = 0;                 // threads
  std::deque<Work> beside;
  unsigned n_done_beside = 0;
  std::span<const Wave> held;  // take no turn for as many rounds
  unsigned held_rounds = 0;
  const std::function<void()>* body = nullptr;
  std::mt19937 random;
  boost::context::detail::fcontext_t scheduler = nullptr;
  void* scheduler_fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_bytes = 0;
};

// One kernel runs at a time (streams.cpp holds a lock), so plain globals are enough.
extern Running running;
extern Fiber* current;

// Whether threads take their turns in a random order, and what may be late is so at random.
bool random_order();

int n_in_cluster();
int number_of(const Block& block);
Barrier& cluster_of(const Fiber& fiber);

// Until what the current thread waits for, as its turn says, is there; for_good: it has ended.
void switch_to_scheduler(bool for_good);

}  // namespace hip_on_host
