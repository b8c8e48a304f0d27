#pragma once

// hipCUB's device-wide primitives are CUB's under another name.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/util_type.cuh>

namespace hipcub {
using cub::DeviceRadixSort;
using cub::DeviceScan;
using cub::DoubleBuffer;
}  // namespace hipcub
