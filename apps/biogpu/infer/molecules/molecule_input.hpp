#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/molecules/frame_rules.hpp"
#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/shard.hpp"
#include "lib/tasks/molecule/energy.hpp"

namespace biogpu::app {

// Molecules of several files, one after the other.
class MoleculeSource {
 public:
  // Of all molecules it gives the shard's, which are counted first, with those that are bad.
  MoleculeSource(std::vector<std::string> paths, const io::Shard& shard,
                 io::BadRecords bad = io::BadRecords::refuse);

  // Gets the message of each molecule that is left out.
  using Report = std::function<void(const std::string& what)>;
  void set_report(Report report) { report_ = std::move(report); }
  // Applied to each molecule that is given; outlives the source.
  void set_rules(FrameRules& rules) { rules_ = &rules; }

  struct Record {
    molecule::Molecule molecule;
    std::string place;
    std::uint64_t number = 0;  // in the whole input, from 0
  };
  bool next(Record& record);
  std::vector<report::InputFile> files() const { return files_; }
  // Left out where the molecules are bad; leave_out() adds one that another part finds bad.
  std::uint64_t n_skipped() const { return n_skipped_; }
  void leave_out(const std::string& what);

 private:
  bool is_wanted() const { return next_number_ >= range_.begin && next_number_ < range_.end; }
  bool read(Record& record);
  bool read_of_file(Record& record);

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::unique_ptr<molecule::MoleculeReader> reader_;
  std::uint64_t next_number_ = 0;
  io::RecordRange range_;
  io::BadRecords bad_;
  Report report_;
  FrameRules* rules_ = nullptr;
  std::uint64_t n_skipped_ = 0;
  std::vector<report::InputFile> files_;
};

// Batches of molecules with so many atoms together, or of one that has more.
class MoleculeInput : public ModelInput {
 public:
  MoleculeInput(std::vector<std::string> paths, const io::Shard& shard, io::BadRecords bad)
      : ModelInput({"frames", "atoms", true}), source_(std::move(paths), shard, bad), bad_(bad) {}

  // Before the first read(): where bad molecules are left out, check throws Error{bad_input} for
  // one, and report gets each message.
  using Check = std::function<void(const MoleculeSource::Record& record)>;
  void leave_out_bad(Check check, MoleculeSource::Report report);
  void set_rules(FrameRules& rules) { source_.set_rules(rules); }
  std::uint64_t n_skipped() const { return source_.n_skipped(); }

  void set_budget(std::size_t n_atoms) { max_atoms_ = n_atoms; }
  tasks::MoleculeBatch& batch(std::size_t slot) { return batches_[slot]; }

  bool read(std::size_t slot) override;
  std::vector<report::InputFile> files() const override { return source_.files(); }

 private:
  void set_slots(std::size_t n_slots) override { batches_.resize(n_slots); }
  bool is_good(const MoleculeSource::Record& record);

  MoleculeSource source_;
  std::size_t max_atoms_ = 1;
  std::vector<tasks::MoleculeBatch> batches_;
  MoleculeSource::Record held_;  // read, and too large for the batch before
  bool has_held_ = false;
  const io::BadRecords bad_;
  Check check_;
};

}  // namespace biogpu::app
