#pragma once

#include <string>

#include "lib/bwt/fm/fm_index.hpp"

namespace biogpu::bwt {

// What the header says must agree with itself and with the size of the file, since every later
// access trusts it. Throws Error{bad_input} with the path.
void check_fm_header(const FmHeader& header, std::uint64_t file_bytes, const std::string& path);

// Whether the sections agree with each other and with the header, so that no number in them leads
// outside them: a checksum tells damage, not who computed it. Reads all but the text. Whether each
// walk from row to row ends is left to the searches, which count their steps.
bool fm_sections_agree(const FmIndex& index, int n_threads);

}  // namespace biogpu::bwt
