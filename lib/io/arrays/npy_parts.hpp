#pragma once

#include <string>
#include <vector>

namespace biogpu::io {

// Joins .npy files of this program with their indices (PATH.index.tsv) into one: the file that one
// run over all records would have written. Parts without rows may have any width. Throws
// Error{bad_input} for other files and for rows of different widths, Error{failed}.
void join_npy(const std::vector<std::string>& parts, const std::string& out_path);

}  // namespace biogpu::io
