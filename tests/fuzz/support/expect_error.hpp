#pragma once

#include <string>
#include <string_view>

#include "lib/core/error.hpp"
#include "tests/fuzz/support/memory_file.hpp"

namespace biogpu::fuzz {

// Runs the reader: an Error has one of the kinds for files and begins with the file's name.
template <class Body>
void expect_error_of(const std::string& path, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::failed,
            "an error of another kind");
    const std::string_view what = error.what();
    require(what.starts_with(path), "an error without its file");
    require(what.find('\n') == std::string_view::npos, "an error of two lines");
    require(what.size() < path.size() + 4000, "an error with whole tokens");
  }
}

}  // namespace biogpu::fuzz
