#pragma once

#include "gpu/bwt/suffix_text.hpp"
#include "lib/bwt/bwt_device.hpp"

namespace biogpu::bwt {

// What the device's sorters are given; the words stay in host memory.
gpu::bwt::SuffixText device_text(const SuffixSource& source);

}  // namespace biogpu::bwt
