#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/tasks/dna/mutations.hpp"
#include "lib/tasks/dna/window_source.hpp"

namespace biogpu::app {

// Regions of a genome in pieces of some letters, a piece a batch. All regions are in memory.
class RegionInput : public ModelInput {
 public:
  explicit RegionInput(const tasks::GenomeRegions& regions);

  const genome::IndexedFasta& genome() const { return genome_; }
  const std::vector<genome::Window>& regions() const { return regions_; }
  // length: of a model's window, which no region is longer than. Throws Error{bad_input} for one
  // that is. Before the first read().
  void set_windows(std::int64_t length);

  struct Piece {
    std::size_t region = 0;
    tasks::RegionPiece piece;
  };
  const Piece& piece(std::size_t slot) const { return slots_[slot]; }
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
  std::uint64_t n_of_bed_ = 0;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
  std::vector<Piece> slots_;
};

}  // namespace biogpu::app
