#pragma once

namespace biogpu::io {

// Outputs that go together get their names while one of these exists. A signal that ends the
// program, or a failed allocation of another thread, waits until the last guard is gone. Where the
// last one ends by an exception, the files that got their names before it lose them again, and
// what they took the place of is back: all outputs have their names, or none has.
class CommitGuard {
 public:
  CommitGuard() noexcept;
  ~CommitGuard();
  CommitGuard(const CommitGuard&) = delete;
  CommitGuard& operator=(const CommitGuard&) = delete;

  // Whether another one exists, so that names may have to be taken back.
  static bool is_nested() noexcept;

 private:
  const int n_exceptions_;
};

// Called when the last guard goes: names are kept, or taken back. By lib/io/output, which has them.
using SettleNames = void (*)(bool keep) noexcept;
void settle_names_by(SettleNames settle) noexcept;

// For the handler of a signal that ends the program. True where a guard exists: the handler then
// returns, and the last guard raises the signal again. Async-signal-safe.
bool defer_signal(int signal_number) noexcept;

// For who ends the program at once, from any thread. False where a guard exists; else none is made
// any more.
bool begin_end() noexcept;

}  // namespace biogpu::io
