#pragma once

#include <string>

#include "lib/io/images/image.hpp"
#include "lib/models/molscribe/preprocess.hpp"
#include "lib/tasks/image/recognize.hpp"

namespace biogpu::tasks {

// The graph drawn over its picture, which is in the file and pale: bonds in the colour of their
// kind, symbols at their places. Titles, which browsers show under the pointer, have confidences.
std::string recognition_svg(const Recognized& recognized,
                            const models::molscribe::PreparedImage& image,
                            const io::images::Image& original);

}  // namespace biogpu::tasks
