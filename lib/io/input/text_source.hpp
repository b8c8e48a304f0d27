#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/io/input/bgzf.hpp"
#include "lib/io/input/byte_source.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io::input {

inline constexpr std::string_view kGzipMagic = "\x1f\x8b";

// The bytes of a file as they lie there; the file outlives what is returned.
std::unique_ptr<ByteSource> lend(RawFile& file);

// The text of a file that is BGZF, gzip or plain, which head, its first bytes, tells, without a
// byte order mark (without_mark()); decompressed ahead on up to n_threads threads. The file
// outlives what is returned.
std::unique_ptr<ByteSource> open_text(RawFile& file, std::string_view head, int n_threads,
                                      EndMarker end_marker = EndMarker::expected);

// A regular BGZF file without its end marker that htslib reads: throws or warns as reading it as
// text does. Standard input, which cannot be read again: it warns.
void check_unmarked_text(const std::string& label);

// The same of a BGZF file that is read at any place, where its end marker is missing.
void check_end_marker(const RawFile& file);

}  // namespace biogpu::io::input
