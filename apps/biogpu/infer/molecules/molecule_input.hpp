#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/io/shard.hpp"
#include "lib/tasks/molecule/energy.hpp"

namespace biogpu::app {

// Molecules of several files, one after the other.
class MoleculeSource {
 public:
  // Of all molecules it gives the shard's, which are counted first.
  MoleculeSource(std::vector<std::string> paths, const io::Shard& shard);

  struct Record {
    molecule::Molecule molecule;
    std::string place;
    std::uint64_t number = 0;  // in the whole input, from 0
  };
  bool next(Record& record);
  std::vector<report::InputFile> files() const { return files_; }

 private:
  bool read(Record& record);

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::unique_ptr<molecule::MoleculeReader> reader_;
  std::uint64_t next_number_ = 0;
  io::RecordRange range_;
  std::vector<report::InputFile> files_;
};

// Batches of molecules with so many atoms together, or of one that has more.
class MoleculeInput : public ModelInput {
 public:
  MoleculeInput(std::vector<std::string> paths, const io::Shard& shard)
      : ModelInput({"frames", "atoms", true}), source_(std::move(paths), shard) {}

  void set_budget(std::size_t n_atoms) { max_atoms_ = n_atoms; }
  tasks::MoleculeBatch& batch(std::size_t slot) { return batches_[slot]; }

  bool read(std::size_t slot) override;
  std::vector<report::InputFile> files() const override { return source_.files(); }

 private:
  void set_slots(std::size_t n_slots) override { batches_.resize(n_slots); }

  MoleculeSource source_;
  std::size_t max_atoms_ = 1;
  std::vector<tasks::MoleculeBatch> batches_;
  MoleculeSource::Record held_;  // read, and too large for the batch before
  bool has_held_ = false;
};

}  // namespace biogpu::app
