#pragma once

#include <cstddef>
#include <string_view>

namespace biogpu::io::input {

enum class RecordFormat { fasta, fastq };

// Looks for a line of the text, at from or behind it, from > 0, that begins a record: in FASTA one
// that begins with '>', in FASTQ one that begins with '@' and has a '+' at the begin of the second
// line after it. In well-formed FASTQ no other line is like that: a line that begins with '+' is
// the third of a record or its quality, and two lines before a quality lies a sequence. False: none
// as far as the text goes, and the search goes on at from once there is more.
bool find_record(std::string_view text, RecordFormat format, std::size_t& from);

}  // namespace biogpu::io::input
