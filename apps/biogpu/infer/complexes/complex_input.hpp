#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/item_input.hpp"
#include "lib/bio/molecule/graph/molecule_texts.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

// A ligand with the protein that it lies in; the workers read what the two hold.
struct ComplexRecord {
  std::string protein;  // a path
  // For the table where the molecule has no title, or always.
  std::string ligand;
  bool has_title = false;  // the title of the molecule is its name in the table
  std::string warning;
  std::string table_place;  // "pairs.tsv: line 3", empty without a table
  molecule::MoleculeText text;
};

// One protein with the molecules of several files, one after the other.
class LigandSource : public ItemSource<ComplexRecord> {
 public:
  // Gives the shard's molecules, which are counted first.
  LigandSource(std::string protein, std::vector<std::string> paths, const io::Shard& shard);

  bool next(ComplexRecord& record) override;
  std::vector<report::InputFile> files() const override { return files_; }

 private:
  bool read(ComplexRecord& record);

  const std::string protein_;
  const std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::unique_ptr<molecule::MoleculeTexts> reader_;
  std::uint64_t next_number_ = 0;
  io::RecordRange range_;
  std::vector<report::InputFile> files_;
};

struct ComplexPair {
  std::string protein, ligand;  // paths
  std::string place;            // "pairs.tsv: line 3"
};

// The lines of a table of two columns without a header: files of a protein and of a ligand. Throws
// Error{bad_input} with file and line.
std::vector<ComplexPair> read_pairs(const std::string& path);

// Pairs of files; the first molecule of the ligand's counts.
class ComplexPairSource : public ItemSource<ComplexRecord> {
 public:
  ComplexPairSource(std::string path, std::vector<ComplexPair> pairs, const io::Shard& shard,
                    io::BadRecords bad);

  bool next(ComplexRecord& record) override;
  std::uint64_t n_items() const override { return pairs_.n_items(); }
  std::vector<report::InputFile> files() const override;

 private:
  struct Pairs : ListSource<ComplexPair> {
    using ListSource::ListSource;
    std::vector<report::InputFile> files() const override { return {}; }
  };
  const std::string path_;
  Pairs pairs_;
  const io::BadRecords bad_;
};

}  // namespace biogpu::app
