#pragma once

#include <string>
#include <string_view>

namespace biogpu::report {

// Any bytes as text of HTML and XML: what has a meaning there is escaped; bytes that are not UTF-8
// and control characters other than tabs and line feeds become U+FFFD.
std::string markup_escaped(std::string_view text);

}  // namespace biogpu::report
