// A table of tracks from any bytes, and its last line as a selection: an Error, or tracks numbered
// in order and indexes of them.
#include "lib/bio/genome/tracks/track_table.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), n);
  const std::size_t last = text.rfind('\n');
  const std::string_view table = text.substr(0, last);
  const fuzz::MemoryFile file(bytes, table.size());
  fuzz::expect_error_of(file.path(), [&] {
    const std::vector<genome::Track> tracks = genome::read_track_table(file.path());
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      fuzz::require(tracks[i].index == static_cast<std::int64_t>(i), "an index out of order");
      const auto pair = tracks[i].strand_pair;
      fuzz::require(!pair || (*pair >= 0 && *pair < std::ssize(tracks)), "a pair that is none");
      fuzz::require(!pair || tracks[static_cast<std::size_t>(*pair)].strand_pair == tracks[i].index,
                    "a pair of one side");
    }
    if (last == text.npos) return;
    try {
      std::vector<bool> seen(tracks.size(), false);
      for (const std::int64_t index :
           genome::select_tracks(tracks, text.substr(last + 1), file.path())) {
        fuzz::require(index >= 0 && index < std::ssize(tracks), "no index of a track");
        fuzz::require(!seen[static_cast<std::size_t>(index)], "an index twice");
        seen[static_cast<std::size_t>(index)] = true;
      }
    } catch (const Error& error) {
      fuzz::require(error.code() == ErrorCode::usage, "the kind of the error");
      fuzz::require(std::string_view(error.what()).size() < 500, "the length of the error");
    }
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
