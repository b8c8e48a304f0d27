#include "lib/io/commit_guard.hpp"

#include <atomic>
#include <csignal>

namespace biogpu::io {
namespace {

// Not a mask of signals: it would hold for one thread, and any of them may get the signal.
std::atomic<int> n_guards{0};
std::atomic<int> deferred{0};

static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

CommitGuard::CommitGuard() noexcept { ++n_guards; }

CommitGuard::~CommitGuard() {
  if (--n_guards > 0) return;
  if (const int signal_number = deferred.exchange(0); signal_number != 0) std::raise(signal_number);
}

bool defer_signal(int signal_number) noexcept {
  if (n_guards == 0) return false;
  deferred = signal_number;
  // The last guard may have gone before it could see the signal: whoever takes it acts on it.
  return n_guards > 0 || deferred.exchange(0) == 0;
}

}  // namespace biogpu::io
