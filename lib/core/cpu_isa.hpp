#pragma once

#include <string>
#include <string_view>

namespace biogpu {

// Restricts all SIMD code to one instruction set: "sse4", "avx2", "avx3" or "avx3_dl" on x86,
// "neon" on aarch64; empty lifts the restriction. Throws Error{usage} for another name or one that
// this CPU cannot run. Not to be called while any of that code runs.
void force_cpu_isa(std::string_view name);

// Takes the environment's BIOGPU_CPU_ISA over, once, and refuses a CPU that the SIMD code does not
// run on: Error{device}.
void prepare_cpu_isa();

// The instruction set in use: "AVX3_DL", "AVX2", "SSE4", "NEON" ...
std::string cpu_isa();

// Whether 512-bit maxima have one port on this CPU where additions have two, as on Intel's cores;
// AMD's do as many of the one as of the other.
bool maxima_have_one_port();

}  // namespace biogpu
