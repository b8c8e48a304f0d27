#pragma once

#include <functional>
#include <vector>

#include "gpu/rt/stream.hpp"
#include "lib/tensor/kernel_use.hpp"

namespace biogpu::gpu {

// The kernels of what queue() puts on the stream, in order: recorded, run n_runs times with an
// event behind each step, and asked what they take. queue() must neither wait for the stream nor
// allocate. Empty where work of one recording may run side by side, and on the emulated platform.
std::vector<tensor::KernelUse> list_kernels(Stream& stream, int n_runs,
                                            const std::function<void()>& queue);

}  // namespace biogpu::gpu
