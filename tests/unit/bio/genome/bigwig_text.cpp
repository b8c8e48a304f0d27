#include "tests/unit/bio/genome/bigwig_text.hpp"

#ifdef BIOGPU_HAS_BIGWIG

#define NOCURL
#include <bigWig.h>
#include <fmt/format.h>

#include <stdexcept>

namespace biogpu::test {

std::string bigwig_text(const std::string& path, std::span<const genome::Contig> contigs) {
  std::string text;
  bigWigFile_t* const file = bwOpen(path.c_str(), nullptr, "r");
  if (file == nullptr) throw std::runtime_error("bwOpen failed");
  for (std::int64_t i = 1; i < file->cl->nKeys; ++i)
    if (std::string(file->cl->chrom[i - 1]) >= file->cl->chrom[i])
      throw std::runtime_error("the names are not sorted");
  for (const genome::Contig& contig : contigs) {
    const std::uint32_t id = bwGetTid(file, contig.name.c_str());
    if (id == static_cast<std::uint32_t>(-1)) continue;  // no values
    if (id >= contigs.size() || file->cl->len[id] != contig.length)
      throw std::runtime_error("the contigs differ");
    bwOverlappingIntervals_t* const found = bwGetOverlappingIntervals(
        file, contig.name.c_str(), 0, static_cast<std::uint32_t>(contig.length));
    for (std::uint32_t i = 0; found != nullptr && i < found->l; ++i)
      text += fmt::format("{}\t{}\t{}\t{}\n", contig.name, found->start[i], found->end[i],
                          found->value[i]);
    bwDestroyOverlappingIntervals(found);
  }
  bwClose(file);
  return text;
}

}  // namespace biogpu::test

#else

namespace biogpu::test {

std::string bigwig_text(const std::string&, std::span<const genome::Contig>) { return {}; }

}  // namespace biogpu::test

#endif
