#pragma once

#include <string>

#include "lib/core/error.hpp"

namespace biogpu::test {

// The code and message of the Error that the body throws; "no error" where none.
template <class Body>
std::string error_text(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "no error";
}

}  // namespace biogpu::test
