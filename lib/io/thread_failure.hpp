#pragma once

#include "lib/core/error.hpp"

namespace biogpu::io {

// What to throw where a thread cannot start: out of memory where there is no room for its stack,
// else a failure, such as a bound on the number of threads.
Error thread_failure();

}  // namespace biogpu::io
