#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/tasks/dna/mutations.hpp"
#include "lib/tasks/dna/region_source.hpp"

namespace biogpu::app {

// Regions of a genome in pieces of some letters, a piece a batch. All regions of the shard are in
// memory.
class RegionInput : public ModelInput {
 public:
  RegionInput(const tasks::GenomeRegions& regions, const io::Shard& shard, io::BadRecords bad);

  const genome::IndexedFasta& genome() const { return genome_; }
  const std::vector<genome::Window>& regions() const { return regions_; }
  // Place of each region, "regions.bed: line 3 (promoter)", for errors.
  const std::vector<std::string>& places() const { return places_; }
  // length: of a model's window. A region that is longer does not fit: Error{bad_input}, or one of
  // the BED file is left out where these are skipped. Before the first read().
  void set_windows(std::int64_t length);

  struct Piece {
    std::size_t region = 0;
    tasks::RegionPiece piece;
  };
  const Piece& piece(std::size_t slot) const { return slots_[slot]; }
  const std::string& bed() const { return bed_; }  // or empty
  // Lines of it that were skipped.
  std::uint64_t n_skipped() const { return n_skipped_; }
  // Of the i-th piece of all.
  const Piece& piece_at(std::size_t i) const { return pieces_[i]; }

  std::uint64_t n_records() const override { return pieces_.size(); }
  bool read(std::size_t slot) override;
  std::vector<report::InputFile> files() const override;

 private:
  void set_slots(std::size_t n_slots) override { slots_.resize(n_slots); }

  const std::string bed_;
  genome::IndexedFasta genome_;
  std::vector<genome::Window> regions_;
  std::vector<std::string> places_;
  const io::BadRecords bad_;
  std::uint64_t n_of_bed_ = 0;  // lines
  std::size_t n_first_ = 0;     // regions of the BED file, which are the first
  std::uint64_t n_skipped_ = 0;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
  std::vector<Piece> slots_;
};

}  // namespace biogpu::app
