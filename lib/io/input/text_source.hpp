#pragma once

#include <memory>
#include <string_view>

#include "lib/io/input/byte_source.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io::input {

inline constexpr std::string_view kGzipMagic = "\x1f\x8b";

// The bytes of a file as they lie there; the file outlives what is returned.
std::unique_ptr<ByteSource> lend(RawFile& file);

// The text of a file that is BGZF, gzip or plain, which head, its first bytes, tells, without a
// byte order mark (without_mark()); decompressed ahead on up to n_threads threads. The file
// outlives what is returned.
std::unique_ptr<ByteSource> open_text(RawFile& file, std::string_view head, int n_threads);

}  // namespace biogpu::io::input
