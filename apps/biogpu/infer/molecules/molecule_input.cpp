#include "apps/biogpu/infer/molecules/molecule_input.hpp"

#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace biogpu::app {

MoleculeSource::MoleculeSource(std::vector<std::string> paths, const io::Shard& shard,
                               io::BadRecords bad)
    : paths_(std::move(paths)), range_{0, std::numeric_limits<std::uint64_t>::max()}, bad_(bad) {
  if (shard.is_whole()) return;
  for (const std::string& path : paths_) io::require_file_for_shard(path);
  MoleculeSource all(paths_, {}, bad);
  for (Record record; all.read(record);) {
  }
  range_ = io::shard_range(shard, all.next_number_);
}

void MoleculeSource::leave_out(const std::string& what) {
  ++n_skipped_;
  if (report_) report_(what);
}

// The next molecule of the file that is open which is not left out.
bool MoleculeSource::read_of_file(Record& record) {
  while (true) {
    try {
      return reader_->next(record.molecule);
    } catch (const Error& error) {
      if (bad_ == io::BadRecords::refuse || error.code() != ErrorCode::bad_input ||
          !reader_->recover())
        throw;
      if (is_wanted()) leave_out(error.what());
    }
    ++next_number_;
  }
}

bool MoleculeSource::read(Record& record) {
  while (true) {
    if (!reader_) {
      if (next_path_ == paths_.size()) return false;
      reader_ = molecule::open_molecules(paths_[next_path_]);
    }
    if (read_of_file(record)) {
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
  while (next_number_ < range_.end && read(record)) {
    if (record.number < range_.begin) continue;
    if (record.number >= range_.end) return false;
    if (rules_ != nullptr) rules_->apply(record.molecule, record.place);
    return true;
  }
  return false;
}

void MoleculeInput::leave_out_bad(Check check, MoleculeSource::Report report) {
  check_ = std::move(check);
  source_.set_report(std::move(report));
}

bool MoleculeInput::is_good(const MoleculeSource::Record& record) {
  if (bad_ == io::BadRecords::refuse) return true;
  try {
    check_(record);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_input) throw;
    source_.leave_out(error.what());
  }
  return false;
}

bool MoleculeInput::read(std::size_t slot) {
  tasks::MoleculeBatch& batch = batches_[slot];
  batch = {};
  std::size_t n_atoms = 0;
  while (true) {
    if (!has_held_) {
      if (!source_.next(held_)) break;
      if (!is_good(held_) || skip(1) > 0) continue;
    }
    has_held_ = true;
    if (batch.size() > 0 && n_atoms + held_.molecule.n_atoms() > max_atoms_) break;
    n_atoms += held_.molecule.n_atoms();
    batch.numbers.push_back(held_.number);
    batch.molecules.push_back(std::move(held_.molecule));
    batch.places.push_back(std::move(held_.place));
    has_held_ = false;
  }
  return batch.size() > 0;
}

}  // namespace biogpu::app
