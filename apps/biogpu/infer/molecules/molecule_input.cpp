#include "apps/biogpu/infer/molecules/molecule_input.hpp"

#include <limits>
#include <utility>

namespace biogpu::app {

MoleculeSource::MoleculeSource(std::vector<std::string> paths, const io::Shard& shard,
                               io::BadRecords bad)
    : paths_(std::move(paths)), range_{0, std::numeric_limits<std::uint64_t>::max()}, bad_(bad) {
  if (shard.is_whole()) return;
  for (const std::string& path : paths_) io::require_file_for_shard(path);
  MoleculeSource all(paths_, {}, bad);
  for (MoleculeRecord record; all.read(record);) {
  }
  range_ = io::shard_range(shard, all.next_number_);
}

// The next molecule of the file that is open which is not left out.
bool MoleculeSource::read_of_file(MoleculeRecord& record) {
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

bool MoleculeSource::read(MoleculeRecord& record) {
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
    files_.push_back(input_file(paths_[next_path_], reader_->number()));
    reader_.reset();
    ++next_path_;
  }
}

bool MoleculeSource::next(MoleculeRecord& record) {
  while (next_number_ < range_.end && read(record)) {
    if (record.number < range_.begin) continue;
    if (record.number >= range_.end) return false;
    if (rules_ != nullptr) rules_->apply(record.molecule, record.place);
    return true;
  }
  return false;
}

}  // namespace biogpu::app
