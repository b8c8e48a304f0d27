// Regions of `biogpu bwt extract` from any text: refused as wrong usage, or inside their record.
// The lines of the input but the last are names of records, of as many letters as the line has
// bytes.
#include <string>
#include <string_view>
#include <vector>

#include "lib/bio/genome/region.hpp"
#include "lib/core/error.hpp"
#include "tests/fuzz/support/memory_file.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  std::string_view text(reinterpret_cast<const char*>(bytes), n);
  std::vector<genome::Contig> contigs;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    contigs.push_back({std::string(text.substr(0, end)), end});
  const genome::RegionParser parser(contigs);
  try {
    const genome::Region region = parser.parse(std::string(text));
    fuzz::require(region.contig < contigs.size(), "a region of no record");
    fuzz::require(region.begin <= region.end && region.end <= contigs[region.contig].length,
                  "a region that leaves its record");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::usage, "the kind of the error");
    fuzz::require(std::string_view(error.what()).size() < 500, "the length of the error");
  }
  return 0;
}
