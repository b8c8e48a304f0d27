#pragma once

#include <span>
#include <string>
#include <string_view>

namespace biogpu::io {

// What the suffix of an output's name says. All commands read it the same way: upper and lower case
// are the same, each format has one name (hdf5 is h5), and .bgz is .gz.
struct Suffix {
  std::string text;            // as in the path, ".HDF5" or ".tsv.gz"; empty: none
  std::string format;          // "h5", "tsv"; what it spells where it is of no format; empty: none
  bool is_known = false;       // of a format that some command writes, or of another well-known one
  bool is_text = false;        // a known one that may be compressed
  bool is_compressed = false;  // .gz or .bgz behind it
};

// "-", names of devices and names without a dot have none.
Suffix suffix_of(std::string_view path);

// Whether an output of this name is compressed.
inline bool is_gzip_name(std::string_view path) { return suffix_of(path).is_compressed; }

// Whether suffixes of no known format are taken, as the original tools take them.
enum class OtherSuffixes { refuse, accept };

// What is wrong with the name of an output that can have these formats, as "'x.bam'; expected ...";
// empty where it may have this name. A name without a suffix is taken, and with one of compression
// where a format is text.
std::string check_suffix(std::string_view path, std::span<const std::string> formats,
                         OtherSuffixes others);

}  // namespace biogpu::io
