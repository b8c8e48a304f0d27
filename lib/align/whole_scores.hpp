#pragma once

#include <string>
#include <string_view>

namespace biogpu::align {

// Scores are whole numbers. Where the text is a fraction in decimals, the end of a message that
// says how to get whole ones: "; multiply all scores and gap costs by 4"; empty for any other text.
std::string how_to_scale(std::string_view text);

}  // namespace biogpu::align
