#pragma once

#include <string_view>

namespace biogpu::qc {

// Files that the build puts into the program: Chart.js of the system, and the page's own.
std::string_view chart_library();
std::string_view page_script();
std::string_view page_style();

}  // namespace biogpu::qc
