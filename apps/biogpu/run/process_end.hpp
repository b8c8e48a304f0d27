#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "lib/io/allocation_may_fail.hpp"

namespace biogpu::app {

// report() for a run whose outputs are complete and have their names: a report that cannot be made
// or written does not make the run fail.
template <class Report>
void after_commit(const Report& report) noexcept {
  const io::AllocationMayFail may_fail;
  try {
    report();
  } catch (const std::exception&) {
    // No memory for a message, or no place for it.
  }
}

// Keeps what a run holds until the process ends, which is then ended without destructors: the
// system takes back memory and devices at once, where buffers freed one by one take longer than a
// short run. Programs built with a sanitizer free it here.
void keep_until_end(std::shared_ptr<void> run) noexcept;
// Ends the process where something is kept; returns otherwise.
void end_if_kept(int exit_code);

// Makes a Runner and runs it. Its outputs are then committed, and nothing of it is called again.
template <class Runner, class... Arguments>
void run_and_keep(Arguments&&... arguments) {
  auto runner = std::make_shared<Runner>(std::forward<Arguments>(arguments)...);
  runner->run();
  keep_until_end(std::move(runner));
}

}  // namespace biogpu::app
