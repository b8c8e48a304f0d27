#include "lib/bio/genome/contig.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kNamesShown = 3;

// As UCSC and Ensembl call the same sequence.
std::string other_name(std::string_view name) {
  if (name == "chrM") return "MT";
  if (name == "MT") return "chrM";
  return name.starts_with("chr") ? std::string(name.substr(3)) : "chr" + std::string(name);
}

}  // namespace

std::string describe_missing(const std::string& file, std::string_view name,
                             std::span<const Contig> contigs,
                             const std::function<bool(std::string_view)>& has) {
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamesShown, contigs.size()); ++i)
    names += (i > 0 ? ", " : "") + shortened(contigs[i].name);
  if (contigs.size() > kNamesShown) names += ", ...";
  const std::string other = other_name(name);
  const std::string hint =
      has(other) ? fmt::format("; {} may be what it calls {}", quoted(name), quoted(other)) : "";
  return fmt::format("{} has no sequence {}; it has {}{}", file, quoted(name),
                     names.empty() ? "none" : names, hint);
}

}  // namespace biogpu::genome
