// A table of tracks' metadata from any bytes: an Error, or heads whose columns are in order and
// whose strands are in pairs.
#include "lib/bio/genome/tracks/track_metadata.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const fuzz::MemoryFile file(bytes, n);
  fuzz::expect_error_of(file.path(), [&] {
    const genome::TrackMetadataTable table = genome::read_track_metadata(file.path());
    for (const genome::TrackMetadata& track : table.tracks)
      fuzz::require(track.values.size() == table.columns.size(), "values of another number");
    if (table.tracks.empty()) return;
    const std::vector<genome::TrackMetadata> head = table.of_head(table.tracks.back().head);
    for (std::size_t i = 0; i < head.size(); ++i)
      fuzz::require(head[i].index == static_cast<std::int64_t>(i), "an index out of order");
    const auto others = genome::other_strands(head);
    for (std::size_t i = 0; others && i < head.size(); ++i) {
      const auto other = static_cast<std::size_t>((*others)[i]);
      fuzz::require((*others)[other] == static_cast<std::int64_t>(i), "a pair of one side");
      fuzz::require((other == i) == (head[i].strand == '.'), "a pair of one strand");
    }
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
