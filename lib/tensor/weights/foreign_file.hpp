#pragma once

#include <string_view>

namespace biogpu::tensor {

// What a model's file is in place of what was expected, by its first bytes: a Git LFS pointer, or a
// file of PyTorch, with what to do about it. Empty for anything else.
std::string_view foreign_file(std::string_view first_bytes);

}  // namespace biogpu::tensor
