#pragma once

#include <cstdint>

#include "lib/core/error.hpp"

namespace biogpu::io {

// What happens to records of an input that do not fit: an Error{bad_input}, or they are counted and
// left out.
enum class BadRecords { refuse, skip };

// Calls take(), which throws Error{bad_input} for a record that does not fit. False where the
// record was counted and is left out.
template <class Take>
bool take_or_skip(BadRecords bad, std::uint64_t& n_skipped, const Take& take) {
  try {
    take();
    return true;
  } catch (const Error& error) {
    if (bad == BadRecords::refuse || error.code() != ErrorCode::bad_input) throw;
  }
  ++n_skipped;
  return false;
}

}  // namespace biogpu::io
