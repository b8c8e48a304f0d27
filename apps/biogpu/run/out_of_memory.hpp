#pragma once

#include <cstddef>

namespace biogpu::app {

// The program replaces malloc() and its kin by functions that call those of the C library or of a
// preloaded allocator and end the program where they fail: one line, exit code 137, no temporary
// file. Thrown instead, std::bad_alloc would end it without a word where it leaves a thread, a
// destructor or a C library's callback; and some C libraries go on with a null pointer to a wrong
// result. Errors are as usual (null, std::bad_alloc) for sizes that no machine has, which are a
// damaged file's numbers, while an AllocationMayFail exists, and while outputs get their names.

// What the line begins with, "biogpu COMMAND: "; kept, not copied.
void set_out_of_memory_label(const char* label) noexcept;

// Writes the line without allocating. n_bytes: 0 where unknown.
void report_out_of_memory(std::size_t n_bytes) noexcept;

}  // namespace biogpu::app
