#pragma once

#include <fmt/format.h>

#include <string>

#include "lib/core/error.hpp"

namespace biogpu::kmer {

// Refuses a database's file as bad input: label names the file, what says what is wrong with it.
[[noreturn]] inline void throw_bad_input(const std::string& label, const std::string& what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", label, what));
}

}  // namespace biogpu::kmer
