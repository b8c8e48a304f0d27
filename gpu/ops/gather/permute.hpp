#pragma once

namespace biogpu::ops {
struct Permute;
}
namespace biogpu::gpu::ops {

class Device;

// For operations that copy a view on the way.
void permute(Device& device, const biogpu::ops::Permute& op);

}  // namespace biogpu::gpu::ops
