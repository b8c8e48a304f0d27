#pragma once

// hipCUB's device-wide primitives are CUB's under another name.
#include <cub/device/device_radix_sort.cuh>

namespace hipcub {
using cub::DeviceRadixSort;
}  // namespace hipcub
