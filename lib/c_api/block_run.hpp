#pragma once

#include "lib/c_api/block.h"
#include "lib/c_api/block_device.hpp"
#include "lib/c_api/block_kinds.hpp"

namespace biogpu::c_api {

// What a call of a block computes, once it has passed all checks but those of memory: addresses are
// not looked at. The block has to outlive it. Throws Error{usage}.
BlockDevice::Body body_of(BlockDevice& device, const MadeBlock& block,
                          const biogpu_block_call& call);

}  // namespace biogpu::c_api
