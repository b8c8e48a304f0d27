#pragma once

#include <string>

#include "tests/support/catch.hpp"

namespace biogpu::test {

// Whether a message holds the part; shows the message where it does not.
inline bool says(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return true;
  WARN(message);
  return false;
}

}  // namespace biogpu::test
