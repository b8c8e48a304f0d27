#pragma once

#include <string>
#include <string_view>

namespace biogpu::io::input {

// Throws Error{bad_input}, the label in front, where a file begins as one does that is compressed
// in a way that is not read here: bzip2, xz, zstd, zip.
void refuse_compression(std::string_view head, const std::string& label);

}  // namespace biogpu::io::input
