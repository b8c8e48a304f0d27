#pragma once

#include <string>
#include <vector>

namespace biogpu::qc {

// The lines of a list of adapters or barcodes, plain or compressed, without LF or CRLF at their
// ends. Throws Error{failed} where it cannot be read to its end, Error{bad_input} where it is
// larger than any such list.
std::vector<std::string> read_list_lines(const std::string& path);

}  // namespace biogpu::qc
