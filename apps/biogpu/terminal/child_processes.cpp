#include "apps/biogpu/terminal/child_processes.hpp"

#include <array>
#include <atomic>
#include <csignal>

namespace biogpu::app {
namespace {

constexpr std::size_t kMaxChildren = 1024;  // as many as -G allows
std::array<std::atomic<pid_t>, kMaxChildren> children{};

static_assert(std::atomic<pid_t>::is_always_lock_free);

void replace(pid_t from, pid_t to) noexcept {
  for (std::atomic<pid_t>& child : children) {
    pid_t expected = from;
    if (child.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

void note_child(pid_t process) noexcept { replace(0, process); }
void forget_child(pid_t process) noexcept { replace(process, 0); }

void end_children() noexcept {
  for (const std::atomic<pid_t>& child : children)
    if (const pid_t process = child; process > 0) kill(-process, SIGTERM);
}

}  // namespace biogpu::app
