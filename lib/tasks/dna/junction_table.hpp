#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/arrays/array_writer.hpp"
#include "lib/models/base/dna_model.hpp"

namespace biogpu::tasks {

// Splice junctions as text: a line for each pair of sites of a strand, in the order of introns:
// chromosome, first base of the intron from 0, base behind it, strand, and a number for each
// tissue. Columns are separated by tabs.
class JunctionTable {
 public:
  // choice: of a head whose tracks are all tissues for + and then all for -. names: of its tracks
  // in the output.
  JunctionTable(const models::DnaModel& model, const models::HeadChoice& choice,
                const std::vector<std::string>& names);

  std::string header() const;
  // tracks [donors, acceptors, tracks] and positions [4, sites] of a window that begins at a base
  // of a chromosome. Pairs whose acceptor is not behind the donor are no introns.
  std::string lines(const std::string& chromosome, std::int64_t begin, const io::NamedArray& tracks,
                    const io::NamedArray& positions) const;

 private:
  // A tissue, and its columns of both strands; -1 where it was not chosen.
  struct Tissue {
    std::string name;
    std::int64_t columns[2] = {-1, -1};
  };
  std::vector<Tissue> tissues_;
};

}  // namespace biogpu::tasks
