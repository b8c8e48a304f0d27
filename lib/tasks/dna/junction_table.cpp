#include "lib/tasks/dna/junction_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace biogpu::tasks {
namespace {

constexpr char kStrands[] = {'+', '-'};

// "NAME (+)" and "NAME (-)" are one tissue.
std::string tissue_name(const std::string& track) {
  const auto n = track.size();
  const bool has_strand = n > 4 && (track.ends_with(" (+)") || track.ends_with(" (-)"));
  return has_strand ? track.substr(0, n - 4) : track;
}

struct Intron {
  std::int64_t begin = 0, end = 0;
  std::size_t strand = 0;
  std::int64_t donor = 0, acceptor = 0;  // rows and columns of the counts

  auto order() const { return std::tie(begin, end, strand); }
};

std::vector<Intron> introns_of(const io::NamedArray& positions) {
  const std::int64_t n = positions.shape[1];
  const float* const sites = std::as_const(positions.values).data();
  const auto site = [&](std::size_t of_class, std::int64_t i) {
    return static_cast<std::int64_t>(sites[static_cast<std::int64_t>(of_class) * n + i]);
  };
  std::vector<Intron> introns;
  for (std::size_t strand = 0; strand < 2; ++strand)
    for (std::int64_t i = 0; i < n && site(2 * strand, i) >= 0; ++i)
      for (std::int64_t k = 0; k < n && site(2 * strand + 1, k) >= 0; ++k) {
        // Sites are the last base of an exon and the first one: of + the donor is on the left.
        const std::int64_t donor = site(2 * strand, i), acceptor = site(2 * strand + 1, k);
        const std::int64_t begin = (strand == 0 ? donor : acceptor) + 1;
        const std::int64_t end = strand == 0 ? acceptor : donor;
        if (begin < end) introns.push_back({begin, end, strand, i, k});
      }
  std::sort(introns.begin(), introns.end(),
            [](const Intron& a, const Intron& b) { return a.order() < b.order(); });
  return introns;
}

}  // namespace

JunctionTable::JunctionTable(const models::DnaModel& model, const models::HeadChoice& choice,
                             const std::vector<std::string>& names) {
  const std::int64_t n_tissues = model.head(choice).n_tracks / 2;
  std::map<std::int64_t, std::size_t> known;  // of all tissues, in tissues_
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int64_t track =
        choice.tracks.empty() ? static_cast<std::int64_t>(i) : choice.tracks[i];
    const auto [found, is_new] = known.emplace(track % n_tissues, tissues_.size());
    if (is_new) tissues_.push_back({tissue_name(names[i])});
    tissues_[found->second].columns[track / n_tissues] = static_cast<std::int64_t>(i);
  }
}

std::string JunctionTable::header() const {
  std::string line = "chrom\tstart\tend\tstrand";
  for (const Tissue& tissue : tissues_) line += fmt::format("\t{}", tissue.name);
  return line + "\n";
}

std::string JunctionTable::lines(const std::string& chromosome, std::int64_t begin,
                                 const io::NamedArray& tracks,
                                 const io::NamedArray& positions) const {
  const float* const counts = std::as_const(tracks.values).data();
  fmt::memory_buffer text;
  for (const Intron& intron : introns_of(positions)) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}", chromosome, begin + intron.begin,
                   begin + intron.end, kStrands[intron.strand]);
    const std::int64_t row = (intron.donor * tracks.shape[1] + intron.acceptor) * tracks.shape[2];
    for (const Tissue& tissue : tissues_) {
      const std::int64_t column = tissue.columns[intron.strand];
      if (column < 0)
        fmt::format_to(std::back_inserter(text), "\t.");
      else
        fmt::format_to(std::back_inserter(text), "\t{}", counts[row + column]);
    }
    text.push_back('\n');
  }
  return fmt::to_string(text);
}

}  // namespace biogpu::tasks
