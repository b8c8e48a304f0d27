#pragma once

#include <cstddef>

namespace hip_on_host {

// Whether matrix instructions cut off what they add to a sum, towards zero, as NVIDIA's do, or
// round it: BIOGPU_EMULATED_CUT.
bool cuts_sums();

inline constexpr std::size_t kLentBytes = 32;    // of a lane
inline constexpr std::size_t kRoomFloats = 512;  // of a wave

// What lend() gives; it stays until the lane takes part in the next operation of its wave.
struct Lent {
  const unsigned char (*of_lane)[kLentBytes];
  float* room;    // of the wave, for what all lanes make of the values
  bool is_first;  // of the lanes to come back: the one that fills the room
};

// Lends the value (at most kLentBytes) to the wave, waits for all live lanes, and gives the values
// of all of them; those that take no part give bytes of 0xA5.
Lent lend(const void* value, std::size_t bytes);

}  // namespace hip_on_host
