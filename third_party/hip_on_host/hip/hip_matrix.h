#pragma once

namespace hip_on_host {

// Whether matrix instructions cut off what they add to a sum, towards zero, as NVIDIA's do, or
// round it: BIOGPU_EMULATED_CUT.
bool cuts_sums();

}  // namespace hip_on_host
