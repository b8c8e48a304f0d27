#pragma once

#include "gpu/rt/stream.hpp"

// Order between a stream of ours and one of the program that calls us, on the same device. theirs:
// the platform's handle (hipStream_t, cudaStream_t); null: the default stream.
namespace biogpu::gpu {

// What is queued on ours from now on begins when what is queued on theirs is done.
void wait_for_foreign(Stream& ours, void* theirs);
// The other way round.
void let_foreign_wait(void* theirs, Stream& ours);

}  // namespace biogpu::gpu
