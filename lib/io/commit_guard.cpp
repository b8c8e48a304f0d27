#include "lib/io/commit_guard.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>

namespace biogpu::io {
namespace {

// Not a mask of signals: it would hold for one thread, and any of them may get the signal.
std::atomic<int> n_guards{0};
std::atomic<int> deferred{0};
std::atomic<bool> is_ending{false};
std::atomic<bool> has_failed{false};
std::atomic<SettleNames> settle_names{nullptr};

static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

CommitGuard::CommitGuard() noexcept : n_exceptions_(std::uncaught_exceptions()) {
  constexpr unsigned kWaitMicroseconds = 1000;
  ++n_guards;
  while (is_ending) usleep(kWaitMicroseconds);  // the process ends, or who wanted to gives way
}

CommitGuard::~CommitGuard() {
  if (std::uncaught_exceptions() > n_exceptions_) has_failed = true;
  if (n_guards == 1) {
    const bool keep = !has_failed.exchange(false);
    if (const SettleNames settle = settle_names; settle != nullptr) settle(keep);
  }
  if (--n_guards > 0) return;
  if (const int signal_number = deferred.exchange(0); signal_number != 0) std::raise(signal_number);
}

void settle_names_by(SettleNames settle) noexcept { settle_names = settle; }

bool CommitGuard::is_nested() noexcept { return n_guards > 1; }

bool defer_signal(int signal_number) noexcept {
  if (n_guards == 0) return false;
  deferred = signal_number;
  // The last guard may have gone before it could see the signal: whoever takes it acts on it.
  return n_guards > 0 || deferred.exchange(0) == 0;
}

bool begin_end() noexcept {
  is_ending = true;
  if (n_guards == 0) return true;
  is_ending = false;
  return false;
}

}  // namespace biogpu::io
