#pragma once

namespace biogpu::gpu {

// The 16-bit floating point formats of number16.hpp, for host code that names one.
enum class Number16 { fp16, bf16 };

}  // namespace biogpu::gpu
