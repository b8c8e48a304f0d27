#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/io/input/raw_file.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/database/reader.hpp"

namespace biogpu::kmer {

// One format's side of DatabaseReader.
class DatabaseReader::Source {
 public:
  virtual ~Source() = default;
  virtual bool read(CountBlock& block) = 0;

  Header header;
  std::string path;
};

inline constexpr std::size_t kDigits = 9;  // of the length that Jellyfish's files begin with

// Whether a file that begins so is of the format.
bool is_jellyfish(std::string_view head);
bool is_bgk(std::string_view head);
bool is_kff(std::string_view head);

std::unique_ptr<DatabaseReader::Source> open_jellyfish(const std::string& path,
                                                       std::unique_ptr<io::input::RawFile> file);

std::unique_ptr<DatabaseReader::Source> open_bgk(const std::string& path,
                                                 std::unique_ptr<io::input::RawFile> file);
std::unique_ptr<DatabaseReader::Source> open_kff(const std::string& path,
                                                 std::unique_ptr<io::input::RawFile> file);

std::unique_ptr<Lookup> open_bgk_lookup(const std::string& path, io::MappedFile file);
std::unique_ptr<Lookup> open_jellyfish_lookup(const std::string& path, io::MappedFile file);

}  // namespace biogpu::kmer
