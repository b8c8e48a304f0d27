#pragma once

#include <span>
#include <string_view>

namespace biogpu::qc {

// All, in lexicographic order; fastp 0.23 lacks one of them.
std::span<const std::string_view> known_adapters_of_fastp_1();

// The first of the known adapters, in lexicographic order, that the sequence begins with; empty
// when there is none.
std::string_view known_adapter(std::string_view sequence, bool of_fastp_1);

// The name that fastp prints of a known adapter, '>' in front; empty for any other sequence.
std::string_view known_adapter_name(std::string_view sequence);

}  // namespace biogpu::qc
