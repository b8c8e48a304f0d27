// What threads of emulated blocks call: where they are, barriers, operations of a wave, copies.
#include <cstring>
#include <utility>

#include "fibers.hpp"
#include "settings.hpp"

namespace hip_on_host {
namespace {

Wave& wave_of_current() { return *current->turn->wave; }

void arrive_at(Barrier& barrier) {
  ++barrier.n_arrived;
  current->turn->waiting = Waiting::barrier;
  current->turn->generation = barrier.generation;
  current->turn->barrier = &barrier;
  switch_to_scheduler(false);
}

void arrive_at_wave(WaveOperation operation) {
  Wave& wave = wave_of_current();
  if (wave.n_arrived > 0 && wave.operation != operation) {
    fail("lanes of one wave meet at different operations");
  }
  wave.operation = operation;
  arrive_at(wave);
}

// The slot of the operation about to start; the first lane to come empties it.
int open_slot() {
  Wave& wave = wave_of_current();
  const int slot = static_cast<int>(wave.generation & 1);
  if (wave.n_arrived == 0) wave.present[slot] = wave.votes[slot] = 0;
  wave.present[slot] |= std::uint64_t{1} << lane();
  return slot;
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
const dim3& block_extent() { return running.extent; }
const dim3& grid_extent() { return running.grid; }
void* dynamic_shared() { return current->block->shared; }
int wave_width() { return settings().wave_width; }
int lane() { return current->index % wave_width(); }

int cluster_rank() { return number_of(*current->block) % n_in_cluster(); }

void* shared_of_cluster(int rank) {
  if (rank < 0 || rank >= n_in_cluster()) fail("a cluster has no such block");
  return current->block[rank - cluster_rank()].shared;
}

void block_barrier() { arrive_at(*current->block); }
void cluster_barrier() { arrive_at(cluster_of(*current)); }

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
  current->turn->waiting = Waiting::condition;
  switch_to_scheduler(false);
}

void run_beside(std::function<void()> work) { running.beside.push_back(std::move(work)); }
unsigned n_done_beside() { return running.n_done_beside; }

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
  Wave& wave = wave_of_current();
  std::memcpy(wave.value[slot][lane()], value, bytes);
  arrive_at_wave(WaveOperation::shuffle);
  if ((wave.present[slot] >> source_lane & 1) != 0) {
    std::memcpy(result, wave.value[slot][source_lane], bytes);
  } else {
    std::memset(result, 0xA5, bytes);
  }
}

Lent lend(const void* value, std::size_t bytes) {
  const int slot = open_slot();
  Wave& wave = wave_of_current();
  wave.is_room_filled[slot] = false;
  std::memcpy(wave.value[slot][lane()], value, bytes);
  arrive_at_wave(WaveOperation::lend);
  const bool is_first = !std::exchange(wave.is_room_filled[slot], true);
  for (int i = 0; is_first && i < wave_width(); ++i) {
    if ((wave.present[slot] >> i & 1) == 0) std::memset(wave.value[slot][i], 0xA5, kLentBytes);
  }
  return {wave.value[slot], wave.room[slot], is_first};
}

std::uint64_t ballot(bool vote) {
  const int slot = open_slot();
  Wave& wave = wave_of_current();
  wave.votes[slot] |= std::uint64_t{vote} << lane();
  arrive_at_wave(WaveOperation::ballot);
  return wave.votes[slot];
}

void wave_barrier() {
  open_slot();
  arrive_at_wave(WaveOperation::barrier);
}

}  // namespace hip_on_host
