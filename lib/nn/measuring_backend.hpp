#pragma once

#include <memory>

#include "lib/nn/backend.hpp"

namespace biogpu::nn {

// Does nothing: a forward pass over it and a measuring arena tells the memory that the pass needs
// on another backend of the same precision.
std::unique_ptr<Backend> make_measuring_backend(Precision precision);

}  // namespace biogpu::nn
