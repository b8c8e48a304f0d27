#pragma once

#include <sys/types.h>

namespace biogpu::app {

// Processes that this program started, each the leader of a group of its own: they end with it.

// Called while a CommitGuard exists, so that no signal comes between the start and this.
void note_child(pid_t process) noexcept;
void forget_child(pid_t process) noexcept;

// Sends SIGTERM to all of them and what they started. Async-signal-safe.
void end_children() noexcept;

}  // namespace biogpu::app
