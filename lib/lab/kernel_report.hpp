#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/tensor/kernel_use.hpp"

namespace biogpu::lab {

// A kernel's name as a reader knows it: without its parameters and the namespaces that all share.
std::string kernel_name(const std::string& symbol);

// The kernel whose launches take the most time together.
struct LongestKernel {
  const tensor::KernelUse* launch = nullptr;  // its longest; null where there is no kernel
  double share = 0;                           // of the time of all kernels
};
LongestKernel longest_kernel(const std::vector<tensor::KernelUse>& kernels);

}  // namespace biogpu::lab
