#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/molecules/frame_rules.hpp"
#include "apps/biogpu/infer/run/item_input.hpp"
#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

struct MoleculeRecord {
  molecule::Molecule molecule;
  std::string place;
  std::uint64_t number = 0;  // in the whole input, from 0
};

// Molecules of several files, one after the other.
class MoleculeSource : public ItemSource<MoleculeRecord> {
 public:
  // Of all molecules it gives the shard's, which are counted first, with those that are bad.
  MoleculeSource(std::vector<std::string> paths, const io::Shard& shard,
                 io::BadRecords bad = io::BadRecords::refuse);

  // Applied to each molecule that is given; outlives the source.
  void set_rules(FrameRules& rules) { rules_ = &rules; }

  bool next(MoleculeRecord& record) override;
  std::vector<report::InputFile> files() const override { return files_; }

 private:
  bool is_wanted() const { return next_number_ >= range_.begin && next_number_ < range_.end; }
  bool read(MoleculeRecord& record);
  bool read_of_file(MoleculeRecord& record);

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::unique_ptr<molecule::MoleculeReader> reader_;
  std::uint64_t next_number_ = 0;
  io::RecordRange range_;
  io::BadRecords bad_;
  FrameRules* rules_ = nullptr;
  std::vector<report::InputFile> files_;
};

}  // namespace biogpu::app
