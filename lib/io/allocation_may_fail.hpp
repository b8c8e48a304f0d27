#pragma once

namespace biogpu::io {

// A failed allocation ends the program at once (apps/biogpu/run/out_of_memory.hpp). While one of
// these exists, those of its thread are reported to who asked instead, by a null pointer or
// std::bad_alloc: where the failure has a better answer, or outputs have got names.
class AllocationMayFail {
 public:
  AllocationMayFail() noexcept { ++depth(); }
  ~AllocationMayFail() { --depth(); }
  AllocationMayFail(const AllocationMayFail&) = delete;
  AllocationMayFail& operator=(const AllocationMayFail&) = delete;

  static bool is_expected() noexcept { return depth() > 0; }

 private:
  static int& depth() noexcept {
    static thread_local int n = 0;
    return n;
  }
};

}  // namespace biogpu::io
