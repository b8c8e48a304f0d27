#include "lib/io/output/suffix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "lib/core/quote.hpp"

namespace biogpu::io {
namespace {

struct FormatSuffix {
  std::string_view suffix;
  std::string_view format;
  bool is_text = false;
};

// Suffixes of one format follow each other, the usual one first.
constexpr FormatSuffix kSuffixes[] = {
    {"tsv", "tsv", true},
    {"tab", "tsv", true},
    {"txt", "txt", true},
    {"text", "txt", true},
    {"out", "txt", true},
    {"dat", "txt", true},
    {"log", "txt", true},
    {"csv", "csv", true},
    {"json", "json", true},
    {"jsonl", "jsonl", true},
    {"ndjson", "jsonl", true},
    {"html", "html", true},
    {"htm", "html", true},
    {"svg", "svg"},
    {"sam", "sam", true},
    {"bam", "bam"},
    {"cram", "cram"},
    {"paf", "paf", true},
    {"blast6", "blast6", true},
    {"m8", "blast6", true},
    {"b6", "blast6", true},
    {"emboss", "emboss", true},
    {"ssw", "ssw", true},
    {"bed", "bed", true},
    {"fasta", "fasta", true},
    {"fa", "fasta", true},
    {"fna", "fasta", true},
    {"faa", "fasta", true},
    {"fastq", "fastq", true},
    {"fq", "fastq", true},
    {"vcf", "vcf", true},
    {"bcf", "bcf"},
    {"npy", "npy"},
    {"npz", "npz"},
    {"h5", "h5"},
    {"hdf5", "h5"},
    {"safetensors", "safetensors"},
    {"bw", "bw"},
    {"bigwig", "bw"},
    {"bedgraph", "bedgraph", true},
    {"bdg", "bedgraph", true},
    {"extxyz", "extxyz", true},
    {"xyz", "extxyz", true},
    {"jf", "jf"},
    {"bgk", "bgk"},
    {"kff", "kff"},
    // No command writes these.
    {"bz2", "bz2"},
    {"xz", "xz"},
    {"zst", "zst"},
    {"lz4", "lz4"},
    {"zip", "zip"},
    {"parquet", "parquet"},
    {"xlsx", "xlsx"},
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// ".gz" of "x.tsv.gz"; a dot at the begin of a name hides it, and one at its end says nothing.
std::string_view last_suffix(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return {};
  return name.substr(dot);
}

bool is_text_format(std::string_view format) {
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](const FormatSuffix& entry) {
    return entry.format == format && entry.is_text;
  });
}

std::string usual_suffix(std::string_view format) {
  const auto* const entry =
      std::find_if(std::begin(kSuffixes), std::end(kSuffixes),
                   [&](const FormatSuffix& known) { return known.format == format; });
  return fmt::format(".{}", entry == std::end(kSuffixes) ? format : entry->suffix);
}

}  // namespace

Suffix suffix_of(std::string_view path) {
  Suffix suffix;
  std::string_view name = path.substr(path.rfind('/') + 1);
  const std::string_view compression = last_suffix(name);
  if (const std::string lower = lower_case(compression); lower == ".gz" || lower == ".bgz") {
    suffix.is_compressed = true;
    name.remove_suffix(compression.size());
  }
  const std::string_view inner = last_suffix(name);
  suffix.text = std::string(inner) + (suffix.is_compressed ? std::string(compression) : "");
  if (inner.empty()) return suffix;
  suffix.format = lower_case(inner.substr(1));
  for (const FormatSuffix& entry : kSuffixes) {
    if (entry.suffix != suffix.format) continue;
    suffix.format = entry.format;
    suffix.is_known = true;
    suffix.is_text = entry.is_text;
    break;
  }
  return suffix;
}

std::string check_suffix(std::string_view path, std::span<const std::string> formats,
                         OtherSuffixes others) {
  const Suffix suffix = suffix_of(path);
  const bool any_text = std::any_of(formats.begin(), formats.end(), is_text_format);
  const bool is_one = std::find(formats.begin(), formats.end(), suffix.format) != formats.end();
  const bool is_free =
      suffix.format.empty() || (!suffix.is_known && others == OtherSuffixes::accept);
  const bool may_be_compressed = is_one ? suffix.is_text : any_text;
  if ((is_one || is_free) && (!suffix.is_compressed || may_be_compressed)) return {};
  std::vector<std::string> expected;
  for (const std::string& format : formats) expected.push_back(usual_suffix(format));
  return fmt::format("{}; expected a name that ends in {}{}, or has no suffix",
                     biogpu::quoted(path), fmt::join(expected, ", "),
                     any_text ? ", text also with .gz" : "");
}

}  // namespace biogpu::io
