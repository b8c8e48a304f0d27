#pragma once

#include <string>
#include <string_view>

namespace biogpu::structure {

inline constexpr int kMaxAtomicNumber = 118;

// "Fe" of 26; atomic numbers from 1 to kMaxAtomicNumber.
std::string_view element_symbol(int atomic_number);

// 26 of "Fe", in any case; 0 where it is no element.
int atomic_number_of(std::string_view symbol);

// "Fe" of 26, "element 0" of what is none: for messages.
std::string element_name(int atomic_number);

}  // namespace biogpu::structure
