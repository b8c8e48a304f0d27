#include "lib/io/output/unfinished.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

#include "lib/io/output_file.hpp"

namespace biogpu::io {
namespace output {
namespace {

// Fixed storage, because a signal handler may neither lock nor allocate.
struct Slot {
  enum State : int { free, busy, live };
  std::atomic<int> state{free};
  char path[PATH_MAX] = {};
};
std::array<Slot, 64> slots;

static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

int register_unfinished(const std::string& path) {
  if (path.size() >= sizeof(Slot::path)) return -1;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::free;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::busy)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state = Slot::live;
    return static_cast<int>(i);
  }
  return -1;
}

void forget_unfinished(int slot) noexcept {
  if (slot >= 0) slots[static_cast<std::size_t>(slot)].state = Slot::free;
}

}  // namespace output

void remove_unfinished_outputs() noexcept {
  for (output::Slot& slot : output::slots) {
    if (slot.state == output::Slot::live) unlink(slot.path);
  }
}

}  // namespace biogpu::io
