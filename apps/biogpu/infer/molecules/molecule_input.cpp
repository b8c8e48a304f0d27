#include "apps/biogpu/infer/molecules/molecule_input.hpp"

#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace biogpu::app {

MoleculeSource::MoleculeSource(std::vector<std::string> paths, const io::Shard& shard)
    : paths_(std::move(paths)), range_{0, std::numeric_limits<std::uint64_t>::max()} {
  if (shard.is_whole()) return;
  std::uint64_t n = 0;
  for (const std::string& path : paths_) {
    io::require_file_for_shard(path);
    const auto reader = molecule::open_molecules(path);
    for (molecule::Molecule molecule; reader->next(molecule);) ++n;
  }
  range_ = io::shard_range(shard, n);
}

bool MoleculeSource::read(Record& record) {
  while (true) {
    if (!reader_) {
      if (next_path_ == paths_.size()) return false;
      reader_ = molecule::open_molecules(paths_[next_path_]);
    }
    if (reader_->next(record.molecule)) {
      record.place = reader_->place();
      record.number = next_number_++;
      return true;
    }
    std::error_code error;
    const auto bytes = std::filesystem::file_size(paths_[next_path_], error);
    files_.push_back({paths_[next_path_], error ? 0 : bytes, reader_->number()});
    reader_.reset();
    ++next_path_;
  }
}

bool MoleculeSource::next(Record& record) {
  while (next_number_ < range_.begin)
    if (!read(record)) return false;
  return next_number_ < range_.end && read(record);
}

bool MoleculeInput::read(std::size_t slot) {
  tasks::MoleculeBatch& batch = batches_[slot];
  batch = {};
  std::size_t n_atoms = 0;
  while (true) {
    if (!has_held_) {
      if (!source_.next(held_)) break;
      if (skip(1) > 0) continue;
    }
    has_held_ = true;
    if (batch.size() > 0 && n_atoms + held_.molecule.n_atoms() > max_atoms_) break;
    if (batch.size() == 0) batch.first = held_.number;
    n_atoms += held_.molecule.n_atoms();
    batch.molecules.push_back(std::move(held_.molecule));
    batch.places.push_back(std::move(held_.place));
    has_held_ = false;
  }
  return batch.size() > 0;
}

}  // namespace biogpu::app
