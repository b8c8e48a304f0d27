#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lib/io/input/raw_file.hpp"
#include "lib/kmer/database/header.hpp"
#include "lib/kmer/key/count_block.hpp"

namespace biogpu::kmer {

// A .jf file: nine digits, so many bytes of JSON with NULs behind, then fixed records of
// bytes_for(k) key bytes, the last base in the lowest bits of the first, and counter_bytes of
// count, both little-endian; or lines "MER count". docs/formats/jellyfish.md describes it.

// The text before the records.
std::string jellyfish_header(const Header& header);
// The same of any JSON: its length before it, NULs behind.
std::string pad_jellyfish_header(std::string json);

// What stands between the nine digits and the records of an open file, with its NULs. Throws
// Error{bad_input} where the file does not begin so.
std::string read_jellyfish_header(io::input::RawFile& file);
// The JSON of such a text. Throws Error{bad_input} that begins with label.
nlohmann::json parse_jellyfish_json(std::string_view text, const std::string& label);

// The same JSON indented, as `jellyfish info -j` prints it.
std::string styled_header(const Header& header);

// The header that `json` describes. Throws Error{bad_input} that begins with label.
Header parse_jellyfish_header(std::string_view json, const std::string& label);

// Appends records; counts beyond counter_bytes become the largest that fits.
void append_jellyfish_records(const Header& header, const CountBlock& block, std::string& out);
void append_jellyfish_lines(const Header& header, const CountBlock& block, char separator,
                            std::string& out);

// Appends the records of `bytes`, which holds whole ones. Keys are not checked.
void parse_jellyfish_records(const Header& header, std::string_view bytes, CountBlock& block);

inline std::size_t jellyfish_record_bytes(const Header& header) {
  return static_cast<std::size_t>(bytes_for(header.k) + header.counter_bytes);
}

// The letters of a key.
void append_letters(const std::uint64_t* key, int k, std::string& out);

}  // namespace biogpu::kmer
