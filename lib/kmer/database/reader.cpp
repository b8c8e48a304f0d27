#include "lib/kmer/database/reader.hpp"

#include <utility>

#include "lib/kmer/database/source.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {

DatabaseReader::DatabaseReader(const std::string& path) {
  auto file = std::make_unique<io::input::RawFile>(path);
  const std::string head = file->peek(kDigits + 1);
  if (is_jellyfish(head))
    source_ = open_jellyfish(path, std::move(file));
  else if (is_bgk(head))
    source_ = open_bgk(path, std::move(file));
  else if (is_kff(head))
    source_ = open_kff(path, std::move(file));
  else
    throw_bad_input(file->label(),
                    "is no k-mer database; expected a file of 'biogpu kmer', Jellyfish or KFF");
}

DatabaseReader::~DatabaseReader() = default;
DatabaseReader::DatabaseReader(DatabaseReader&&) noexcept = default;
DatabaseReader& DatabaseReader::operator=(DatabaseReader&&) noexcept = default;

const Header& DatabaseReader::header() const { return source_->header; }
const std::string& DatabaseReader::path() const { return source_->path; }
bool DatabaseReader::read(CountBlock& block) { return source_->read(block); }

}  // namespace biogpu::kmer
