#include "lib/bio/genome/tracks/track_metadata.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;

namespace {

const char* const kTracks =
    "head\tindex\tname\tstrand\tontology_curie\tAssay title\n"
    "atac\t0\tCL:0000084 ATAC-seq\t.\tCL:0000084\tATAC-seq\n"
    "atac\t1\tPadding\t.\t\t\n"
    "cage\t0\thCAGE a\t+\tCL:1\thCAGE\n"
    "cage\t1\thCAGE b\t+\tCL:2\thCAGE\n"
    "cage\t2\thCAGE a\t-\tCL:1\thCAGE\n"
    "atac\t2\tpadding\t.\t\t\n"
    "cage\t3\thCAGE b\t-\tCL:2\thCAGE\n";

}  // namespace

TEST_CASE("genome.track_metadata: heads, values and padding", "[genome]") {
  const test::TempFolder folder;
  const TrackMetadataTable table = read_track_metadata(folder.file("t.tsv", kTracks));
  CHECK(table.columns == std::vector<std::string>{"ontology_curie", "Assay title"});
  CHECK(table.tracks.size() == 7);
  const std::vector<TrackMetadata> atac = table.of_head("atac"), cage = table.of_head("cage");
  REQUIRE(atac.size() == 3);
  CHECK(atac[0].name == "CL:0000084 ATAC-seq");
  CHECK(table.value(atac[0], "Assay title") == "ATAC-seq");
  CHECK(table.value(atac[1], "ontology_curie").empty());
  CHECK(table.value(atac[0], "histone_mark").empty());
  CHECK_FALSE(atac[0].is_padding());
  CHECK(atac[1].is_padding());
  CHECK(atac[2].is_padding());
  CHECK(atac[2].index == 2);
  REQUIRE(cage.size() == 4);
  CHECK(cage[3].strand == '-');
  CHECK(table.of_head("dnase").empty());
}

TEST_CASE("genome.track_metadata: the k-th of + and of - are a pair", "[genome]") {
  const test::TempFolder folder;
  const TrackMetadataTable table = read_track_metadata(folder.file("t.tsv", kTracks));
  CHECK(other_strands(table.of_head("cage")) == std::vector<std::int64_t>{2, 3, 0, 1});
  CHECK(other_strands(table.of_head("atac")) == std::vector<std::int64_t>{0, 1, 2});
  std::vector<TrackMetadata> uneven = table.of_head("cage");
  uneven.pop_back();
  CHECK_FALSE(other_strands(uneven).has_value());
}

TEST_CASE("genome.track_metadata: tracks are selected by what is known of them", "[genome]") {
  const test::TempFolder folder;
  const TrackMetadataTable table = read_track_metadata(folder.file("t.tsv", kTracks));
  const std::vector<Track> cage = make_tracks(table, "cage", true);
  const auto select = [](const std::vector<Track>& tracks, const std::string& text) {
    return select_tracks(tracks, text, "t.tsv");
  };
  using Indexes = std::vector<std::int64_t>;
  CHECK(cage[2].identifier == "hCAGE a (-)");
  CHECK(cage[2].strand_pair == std::optional<std::int64_t>(0));
  CHECK(select(cage, "hCAGE a (-)") == Indexes{2});
  CHECK(select(cage, "hcage b") == Indexes{1, 3});
  CHECK(select(cage, "CL:1") == Indexes{0, 2});
  CHECK(select(cage, "hCAGE") == Indexes{0, 1, 2, 3});
  std::vector<Track> atac = make_tracks(table, "atac", false);
  CHECK(select(atac, "") == Indexes{0});
  CHECK(select(atac, "*") == Indexes{0});
  CHECK(error_text([&] { select(atac, "0-1"); }) ==
        "2 --tracks: '0-1': column 1 of t.tsv is padding; --all-columns takes it");
  for (Track& track : atac) track.is_padding = false;
  CHECK(select(atac, "0-2") == Indexes{0, 1, 2});
  CHECK_THAT(error_text([&] { make_tracks(table, "dnase", false); }),
             ContainsSubstring("has no line of the head 'dnase'"));
}

TEST_CASE("genome.track_metadata: malformed tables name file and line", "[genome]") {
  const test::TempFolder folder;
  const std::string header = "head\tindex\tname\tstrand\tx\n";
  const auto error_of = [&](const std::string& text) {
    const std::string path = folder.file("t.tsv", text);
    const std::string error = error_text([&] { read_track_metadata(path); });
    CHECK(error.starts_with("3 " + path + ": "));
    return error;
  };
  CHECK_THAT(error_of(""), ContainsSubstring("is empty; expected a table of tracks"));
  CHECK_THAT(error_of("index\tidentifier\n"),
             ContainsSubstring("line 1: expected a table of tracks that begins with the columns "
                               "head, index, name, strand"));
  CHECK_THAT(error_of("head\tindex\tname\tstrand\tx\tx\n"),
             ContainsSubstring("line 1: two columns are named 'x'"));
  CHECK_THAT(error_of("head\tindex\tname\tstrand\tx\t\n"),
             ContainsSubstring("line 1: column 6 has no name"));
  CHECK_THAT(error_of(header + "a\t0\tn\t.\n"),
             ContainsSubstring("line 2: 4 columns; the first line has 5"));
  CHECK_THAT(error_of(header + "\t0\tn\t.\t\n"), ContainsSubstring("line 2: no head"));
  CHECK_THAT(error_of(header + "a\t0\tn\t.\t\na\t2\tn\t.\t\n"),
             ContainsSubstring("line 3: index '2' of head 'a'; expected 1, the next column"));
  CHECK_THAT(error_of(header + "a\t0\t\t.\t\n"), ContainsSubstring("line 2: no name"));
  CHECK_THAT(error_of(header + "a\t0\tn\t*\t\n"),
             ContainsSubstring("line 2: strand '*'; expected +, - or ."));
}
