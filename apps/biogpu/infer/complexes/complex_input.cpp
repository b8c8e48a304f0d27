#include "apps/biogpu/infer/complexes/complex_input.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/table_fields.hpp"

namespace biogpu::app {

LigandSource::LigandSource(std::string protein, std::vector<std::string> paths,
                           const io::Shard& shard)
    : protein_(std::move(protein)),
      paths_(std::move(paths)),
      range_{0, std::numeric_limits<std::uint64_t>::max()} {
  if (shard.is_whole()) return;
  std::uint64_t n = 0;
  for (const std::string& path : paths_) {
    io::require_file_for_shard(path);
    molecule::MoleculeTexts texts(path);
    for (molecule::MoleculeText text; texts.next(text);) ++n;
  }
  range_ = io::shard_range(shard, n);
}

bool LigandSource::read(ComplexRecord& record) {
  while (true) {
    if (!reader_) {
      if (next_path_ == paths_.size()) return false;
      reader_ = std::make_unique<molecule::MoleculeTexts>(paths_[next_path_]);
    }
    record = {};
    if (reader_->next(record.text)) {
      record.protein = protein_;
      record.ligand = std::to_string(reader_->number());
      record.has_title = true;
      ++next_number_;
      return true;
    }
    files_.push_back(input_file(paths_[next_path_], reader_->number()));
    reader_.reset();
    ++next_path_;
  }
}

bool LigandSource::next(ComplexRecord& record) {
  while (next_number_ < range_.end && read(record))
    if (next_number_ > range_.begin) return true;
  return false;
}

std::vector<ComplexPair> read_pairs(const std::string& path) {
  io::LineReader lines(path, "a table of two columns");
  std::vector<ComplexPair> pairs;
  for (std::string line; lines.next(line);) {
    const auto place = [&] { return fmt::format("{}: line {}", lines.label(), lines.number()); };
    if (line.find_first_not_of(" \t") == line.npos) continue;
    std::vector<std::string> fields = io::split_table_line(line, '\t', place());
    if (fields.size() != 2 || fields[0].empty() || fields[1].empty())
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: expected the files of a protein and of a ligand, separated by a "
                              "tab",
                              place()));
    pairs.push_back({std::move(fields[0]), std::move(fields[1]), place()});
  }
  return pairs;
}

ComplexPairSource::ComplexPairSource(std::string path, std::vector<ComplexPair> pairs,
                                     const io::Shard& shard, io::BadRecords bad)
    : path_(std::move(path)), pairs_(std::move(pairs), shard), bad_(bad) {}

bool ComplexPairSource::next(ComplexRecord& record) {
  for (ComplexPair pair; pairs_.next(pair);) {
    record = {};
    try {
      molecule::MoleculeTexts texts(pair.ligand);
      if (!texts.next(record.text))
        throw Error(ErrorCode::bad_input, pair.ligand + ": holds no molecule");
      molecule::MoleculeText further;
      if (texts.next(further)) record.warning = "further_molecules";
    } catch (const Error& error) {
      const std::string what = fmt::format("{}: {}", pair.place, error.what());
      if (bad_ == io::BadRecords::refuse || error.code() != ErrorCode::bad_input)
        throw Error(error.code(), what);
      leave_out(what);
      continue;
    }
    record.table_place = std::move(pair.place);
    record.protein = std::move(pair.protein);
    record.ligand = std::move(pair.ligand);
    return true;
  }
  return false;
}

std::vector<report::InputFile> ComplexPairSource::files() const {
  return {input_file(path_, pairs_.n_items())};
}

}  // namespace biogpu::app
