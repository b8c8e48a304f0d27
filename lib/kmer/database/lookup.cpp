#include "lib/kmer/database/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lib/core/error.hpp"
#include "lib/kmer/database/source.hpp"

namespace biogpu::kmer {

std::unique_ptr<Lookup> Lookup::open(const std::string& path) {
  io::MappedFile file(path, io::MappedFile::Access::scattered);
  if (is_jellyfish(file.bytes())) return open_jellyfish_lookup(path, std::move(file));
  if (is_bgk(file.bytes())) return open_bgk_lookup(path, std::move(file));
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: is no k-mer database with look-up; expected a file of 'biogpu kmer' "
                          "or Jellyfish",
                          path));
}

}  // namespace biogpu::kmer
