#pragma once

namespace biogpu::io {

// Outputs that go together get their names while one of these exists: a signal that ends the
// program waits until the last guard is gone, so that all of them have their names or none has.
class CommitGuard {
 public:
  CommitGuard() noexcept;
  ~CommitGuard();
  CommitGuard(const CommitGuard&) = delete;
  CommitGuard& operator=(const CommitGuard&) = delete;
};

// For the handler of a signal that ends the program. True where a guard exists: the handler then
// returns, and the last guard raises the signal again. Async-signal-safe.
bool defer_signal(int signal_number) noexcept;

}  // namespace biogpu::io
