#include "lib/bio/genome/tracks/track_table.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;

namespace {

using Indexes = std::vector<std::int64_t>;

const char* const kBasenji =
    "index\tgenome\tidentifier\tfile\tclip\tscale\tsum_stat\tdescription\n"
    "0\t0\tENCFF833POA\t/x/a.bw\t32\t2\tmean\tDNASE:cerebellum male adult (27 years)\n"
    "1\t0\tENCFF110QGM\t/x/b.bw\t32\t2\tmean\tDNASE:frontal cortex male adult\n"
    "2\t0\tENCFF000AAA\t/x/c.bw\t32\t2\tmean\tCHIP:H3K27ac:liver\n"
    "3\t0\tCNhs10608\t/x/d.bw\t384\t1\tsum\tCAGE:Clontech Human Universal\n"
    "4\t0\tCNhs10610\t/x/e.bw\t384\t1\tsum\tCAGE:liver, adult, pool1\n";

}  // namespace

TEST_CASE("genome.track_table: Basenji's targets and others", "[genome]") {
  const test::TempFolder folder;
  const std::vector<Track> tracks = read_track_table(folder.file("targets.txt", kBasenji));
  REQUIRE(tracks.size() == 5);
  CHECK(tracks[2].identifier == "ENCFF000AAA");
  CHECK(tracks[2].group == "CHIP");
  CHECK(tracks[2].description == "CHIP:H3K27ac:liver");
  CHECK_FALSE(tracks[2].strand_pair.has_value());
  // A column without a name, strands, another order, CRLF.
  const std::vector<Track> pairs =
      read_track_table(folder.file("pairs.tsv",
                                   "\tidentifier\tstrand_pair\tdescription\r\n"
                                   "1\tp-\t0\tCAGE:x\r\n0\tp+\t1\tCAGE:x\r\n\r\n2\tq\t2\tRNA\r\n"));
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].identifier == "p+");
  CHECK(pairs[0].strand_pair == std::optional<std::int64_t>(1));
  CHECK(pairs[2].group == "RNA");
  const std::vector<Track> plain =
      read_track_table(folder.file("plain.tsv", "group\tdescription\nA\tfirst\nB\tsecond\n"));
  REQUIRE(plain.size() == 2);
  CHECK(plain[1].index == 1);
  CHECK(plain[1].identifier == "second");
  CHECK(plain[1].group == "B");
  CHECK(read_track_table(folder.file("none.tsv", "identifier\n")).empty());
}

TEST_CASE("genome.track_table: malformed tables name file and line", "[genome]") {
  const test::TempFolder folder;
  const auto error_of = [&](const std::string& text) {
    const std::string path = folder.file("t.tsv", text);
    const std::string error = error_text([&] { read_track_table(path); });
    CHECK(error.starts_with("3 " + path + ": "));
    return error;
  };
  CHECK_THAT(error_of(""), ContainsSubstring("is empty"));
  CHECK_THAT(error_of("a\tb\n1\t2\n"), ContainsSubstring("line 1: expected a table of tracks"));
  CHECK_THAT(error_of("index\tidentifier\n0\ta\tb\n"),
             ContainsSubstring("line 2: 3 columns; the first"));
  CHECK_THAT(error_of("index\tidentifier\nx\ta\n"),
             ContainsSubstring("line 2: index 'x'; expected a"));
  CHECK_THAT(error_of("index\tidentifier\n-1\ta\n"), ContainsSubstring("line 2: index '-1'"));
  CHECK_THAT(error_of("index\tidentifier\n0\ta\n0\tb\n"),
             ContainsSubstring("no track has index 1, or two"));
  CHECK_THAT(error_of("index\tidentifier\n0\ta\n2\tb\n"), ContainsSubstring("expected 0 to 1"));
  CHECK_THAT(error_of("identifier\tstrand_pair\na\t1\n"),
             ContainsSubstring("track 0: strand_pair 1 of 1"));
  CHECK_THAT(
      error_of("identifier\tstrand_pair\na\t1\nb\t1\nc\t1\n"),
      ContainsSubstring("track 0: strand_pair 1, but track 1 has strand_pair 1; expected 0"));
  CHECK_THAT(
      error_of("identifier\tstrand_pair\na\t0\nb\t2\nc\t0\n"),
      ContainsSubstring("track 1: strand_pair 2, but track 2 has strand_pair 0; expected 1"));
}

TEST_CASE("genome.track_table: selection by number, identifier, group and pattern", "[genome]") {
  const test::TempFolder folder;
  const std::vector<Track> tracks = read_track_table(folder.file("targets.txt", kBasenji));
  const auto select = [&](const std::string& text) {
    return select_tracks(tracks, text, "targets.txt");
  };
  CHECK(select("") == Indexes{0, 1, 2, 3, 4});
  CHECK(select("3") == Indexes{3});
  CHECK(select("3-4,0") == Indexes{3, 4, 0});
  CHECK(select("CNhs10608") == Indexes{3});
  CHECK(select("cage") == Indexes{3, 4});
  CHECK(select("CAGE,DNASE,4") == Indexes{3, 4, 0, 1});
  CHECK(select("*liver*") == Indexes{2, 4});
  CHECK(select("encff?????a") == Indexes{0, 2});
  CHECK(select("CHIP:*:LIVER") == Indexes{2});
  CHECK(select("*") == Indexes{0, 1, 2, 3, 4});
  CHECK(select("**a*e*a*") == select("*a*e*a*"));
  for (const char* text :
       {"5", "0-5", "4-3", "ENCFF", "cnhs10608", "K562", "*K562*", "3,", "liver"})
    CHECK(error_text([&] { select(text); }).starts_with("2 --tracks: '"));
  CHECK_THAT(error_text([&] { select("0-5"); }),
             ContainsSubstring("'0-5' of 5 tracks; expected 0 to 4"));
  CHECK_THAT(error_text([&] { select("K562"); }),
             ContainsSubstring("'K562' is no track of targets.txt"));
}

TEST_CASE("genome.track_table: an empty item selects nothing", "[genome]") {
  // What a head without a table has: numbers alone.
  std::vector<Track> unnamed(4);
  for (std::size_t i = 0; i < unnamed.size(); ++i) unnamed[i].index = static_cast<std::int64_t>(i);
  for (const char* text : {"3,", ",3", "0,,3", ","})
    CHECK(error_text([&] { select_tracks(unnamed, text, "the head"); }) ==
          "2 --tracks: '" + std::string(text) +
              "' has an empty item; expected items with one comma between");
  CHECK(select_tracks(unnamed, "3,0", "the head") == Indexes{3, 0});
  CHECK(select_tracks(unnamed, "*", "the head") == Indexes{0, 1, 2, 3});
}
