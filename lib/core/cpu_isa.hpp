#pragma once

#include <string_view>

namespace biogpu::align {

// Restricts the SIMD kernels to one instruction set: "sse4", "avx2", "avx3" or "avx3_dl"; empty
// lifts the restriction. Throws Error{usage} for another name or one that this CPU cannot run. Not
// to be called while an alignment is running.
void force_cpu_isa(std::string_view name);

// Takes the environment's BIOGPU_CPU_ISA over, once, and refuses a CPU that no kernel runs on.
void prepare_cpu_isa();

// Whether 512-bit maxima have one port on this CPU where additions have two, as on Intel's cores;
// AMD's do as many of the one as of the other.
bool maxima_have_one_port();

}  // namespace biogpu::align
