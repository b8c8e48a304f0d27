#pragma once

#include <exception>

namespace biogpu::app {

// tell() for a run whose outputs are whole and have their names: where what it says of them cannot
// be put together or written, that is no failure of the run.
template <class Tell>
void after_commit(const Tell& tell) noexcept {
  try {
    tell();
  } catch (const std::exception&) {
    // No memory for a message, or no place for it.
  }
}

}  // namespace biogpu::app
