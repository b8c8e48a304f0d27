#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "lib/bio/genome/tracks/bigwig.hpp"
#include "lib/bio/genome/tracks/signal_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/bigwig_text.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;

namespace {

const std::vector<Contig> kContigs = {{"chr1", 1000}, {"chr2", 10}, {"chr3", 5}};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Signal three_windows() {
  Signal signal(kContigs);
  signal.add({0, 512, 128, {1, 2.5f, 3, 4, 5}, "w2"});  // 4 across the end, 5 behind it
  signal.add({1, -6, 4, {7, 8, 9, 1e-5f, 11}, "w3"});   // 7 before it, 8 across the beginning
  signal.add({0, 128, 64, {0, kNan, -1, INFINITY, 2}, "w1"});
  signal.add({2, -2, 20, {6}, "w4"});  // across both ends
  signal.add({2, 5, 2, {6, 6}, "behind"});
  signal.add({2, -4, 2, {6, 6}, "before"});
  return signal;
}

const char* const kText =
    "chr1\t128\t192\t0\nchr1\t256\t320\t-1\nchr1\t384\t448\t2\n"
    "chr1\t512\t640\t1\nchr1\t640\t768\t2.5\nchr1\t768\t896\t3\nchr1\t896\t1000\t4\n"
    "chr2\t0\t2\t8\nchr2\t2\t6\t9\nchr2\t6\t10\t1e-05\nchr3\t0\t5\t6\n";

void write_signal(const std::string& path, Signal signal) {
  SignalFile file(path);
  file.write(signal);
  file.finish();
  const std::uint64_t bytes = file.bytes();
  file.commit();
  if (!path.ends_with(".gz")) CHECK(bytes == std::filesystem::file_size(path));
}

}  // namespace

TEST_CASE("genome.signal: bedGraph in the genome's order, cut at its ends", "[genome]") {
  const test::TempFolder folder;
  write_signal(folder.path("a.bedgraph"), three_windows());
  CHECK(test::read_file(folder.path("a.bedgraph")) == kText);
  write_signal(folder.path("a.bedGraph.gz"), three_windows());
  CHECK(test::gunzip(test::read_file(folder.path("a.bedGraph.gz"))) == kText);
  write_signal(folder.path("empty.bdg"), Signal(kContigs));
  CHECK(test::read_file(folder.path("empty.bdg")).empty());
}

TEST_CASE("genome.signal: every cut of a bin keeps its letters", "[genome]") {
  for (std::int64_t begin = -12; begin < 14; ++begin)
    for (std::int64_t bin = 1; bin < 7; ++bin)
      for (std::int64_t n = 1; n < 5; ++n) {
        std::vector<float> values;
        std::vector<float> expected(10, kNan);
        for (std::int64_t i = 0; i < n * bin; ++i) {
          if (i % bin == 0) values.push_back(static_cast<float>(i));
          if (begin + i >= 0 && begin + i < 10)
            expected[static_cast<std::size_t>(begin + i)] = values.back();
        }
        Signal signal(kContigs);
        signal.add({1, begin, bin, values, "w"});
        std::vector<float> found(10, kNan);
        for (const SignalRun& run : signal.sorted())
          for (std::int64_t at = run.begin; at < run.end(); ++at)
            found.at(static_cast<std::size_t>(at)) =
                run.values[static_cast<std::size_t>((at - run.begin) / run.bin)];
        INFO(begin << " " << bin << " " << n);
        std::size_t n_wrong = 0;
        for (std::size_t i = 0; i < 10; ++i)
          n_wrong += std::isnan(expected[i]) ? !std::isnan(found[i]) : expected[i] != found[i];
        CHECK(n_wrong == 0);
      }
}

TEST_CASE("genome.signal: overlapping windows and other names are refused", "[genome]") {
  const test::TempFolder folder;
  Signal signal(kContigs);
  signal.add({0, 512, 128, {1, 2}, "b"});
  signal.add({0, 500, 10, {1, 2}, "a"});
  for (const char* name : {"a.bedgraph", "a.bw"}) {
    if (!has_bigwig() && std::string(name) == "a.bw") continue;
    CHECK_THAT(error_text([&] { write_signal(folder.path(name), signal); }),
               ContainsSubstring("3 b: its bins overlap those of a at chr1:513"));
  }
  CHECK(folder.names().empty());
  SignalPlaces places(kContigs);
  places.take(0, 512, 768, "b");
  places.take(0, 500, 512, "c");
  places.take(0, 900, 2000, "d");
  places.take(0, 2000, 3000, "outside");
  places.take(1, 512, 768, "outside");
  places.take(0, 2000, 3000, "outside");
  CHECK_THAT(error_text([&] { places.take(0, 490, 501, "a"); }),
             ContainsSubstring("3 a: its bins overlap those of c at chr1:501"));
  CHECK_THAT(error_text([&] { places.take(0, 767, 770, "a"); }),
             ContainsSubstring("3 a: its bins overlap those of b at chr1:768"));
  CHECK_THAT(error_text([&] { places.take(0, -5, 2000, "a"); }),
             ContainsSubstring("3 a: its bins overlap those of c at chr1:501"));
  CHECK_THAT(error_text([&] { places.take(0, 999, 1001, "a"); }),
             ContainsSubstring("at chr1:1000"));
  places.take(0, 768, 900, "between");
  CHECK(error_text([&] { SignalFile(folder.path("a.txt")); }) ==
        "2 " + folder.path("a.txt") + ": expected a name that ends in .bw or .bedgraph");
  CHECK(is_signal_path("x/A.BigWig"));
  CHECK_FALSE(is_signal_path("a.npy"));
  CHECK_FALSE(is_signal_path("-"));
}

TEST_CASE("genome.signal: bigWig has the same values", "[genome]") {
  const test::TempFolder folder;
  const std::string path = folder.path("a.bw");
  if (!has_bigwig()) {
    CHECK_THAT(error_text([&] { write_signal(path, three_windows()); }),
               ContainsSubstring("2 " + path + ": this build has no libBigWig"));
    CHECK(folder.names().empty());
    return;
  }
  write_signal(path, three_windows());
  CHECK(test::bigwig_text(path, kContigs) == kText);
  write_signal(folder.path("empty.bw"), Signal(kContigs));
  CHECK(test::bigwig_text(folder.path("empty.bw"), {}).empty());
  // Enough for several blocks and zoom levels.
  const std::vector<Contig> large = {{"chr1", 40'000'000}};
  Signal many(large);
  Signal same(large);
  for (std::int64_t w = 0; w < 40; ++w) {
    std::vector<float> values(w == 0 ? 30'000 : 3000);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<float>(i) + static_cast<float>(w));
    many.add({0, (39 - w) * 900'000, 128, values, "w"});
    same.add({0, (39 - w) * 900'000, 128, values, "w"});
  }
  write_signal(folder.path("many.bw"), many);
  write_signal(folder.path("many.bdg"), same);
  CHECK(test::bigwig_text(folder.path("many.bw"), large) ==
        test::read_file(folder.path("many.bdg")));
  CHECK(folder.names() == std::vector<std::string>{"a.bw", "empty.bw", "many.bdg", "many.bw"});
  CHECK_THAT(error_text([&] { write_signal("/dev/null/a.bw", three_windows()); }),
             ContainsSubstring("1 /dev/null/a.bw: cannot be written"));
  CHECK_THAT(error_text([&] { write_signal(folder.path("no/a.bw"), three_windows()); }),
             ContainsSubstring("cannot be written: No such file"));
}

TEST_CASE("genome.signal: bigWig names its sequences in order", "[genome]") {
  if (!has_bigwig()) return;
  const test::TempFolder folder;
  std::vector<Contig> contigs;
  for (int i = 0; i < 20'000; ++i) contigs.push_back({fmt::format("s{}", i), 500});
  Signal signal(contigs);
  std::string expected;
  for (const std::size_t contig :
       {std::size_t{7}, std::size_t{10}, std::size_t{1995}, std::size_t{9}}) {
    signal.add({contig, 40, 10, {1, 2}, "w"});
    signal.add({contig, 10, 10, {3}, "w"});
  }
  write_signal(folder.path("a.bw"), signal);
  for (const std::size_t contig : {7, 9, 10, 1995}) {
    const std::string name = contigs[contig].name;
    expected += name + "\t10\t20\t3\n" + name + "\t40\t50\t1\n" + name + "\t50\t60\t2\n";
  }
  CHECK(test::bigwig_text(folder.path("a.bw"), contigs) == expected);
}

TEST_CASE("genome.signal: what a file cannot hold is known before there are values", "[genome]") {
  const test::TempFolder folder;
  const std::vector<Contig> huge = {{"chr1", std::uint64_t{1} << 32}};
  SignalFile(folder.path("a.bedgraph")).check(huge);
  const std::string path = folder.path("a.bw");
  const std::string error = error_text([&] { SignalFile(path).check(huge); });
  if (!has_bigwig()) {
    CHECK_THAT(error, ContainsSubstring("2 " + path + ": this build has no libBigWig"));
    return;
  }
  CHECK_THAT(error, ContainsSubstring("2 " + path +
                                      ": bigWig cannot hold the 4294967296 letters of chr1"));
  SignalFile(path).check(kContigs);
  const std::string pipe = folder.path("pipe.bw");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  CHECK_THAT(error_text([&] { SignalFile(pipe).check(kContigs); }),
             ContainsSubstring("bigWig cannot be written to a pipe"));
  close(reader);
}

TEST_CASE("genome.signal: a full disk leaves no file", "[genome]") {
  const test::TempFolder folder;
  // What a full disk does, a limit does too: writes beyond it fail.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, before.rlim_max};
  const std::vector<Contig> large = {{"chr1", 40'000'000}};
  Signal many(large);
  std::vector<float> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i * i % 100'003));
  many.add({0, 0, 128, values, "w"});
  for (const char* name : {"a.bdg", "a.bw"}) {
    if (!has_bigwig() && std::string(name) == "a.bw") continue;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string error = error_text([&] { write_signal(folder.path(name), many); });
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_THAT(error, ContainsSubstring("1 " + folder.path(name) + ": cannot be written: "));
    CHECK(folder.names().empty());
  }
  std::signal(SIGXFSZ, ignored);
}
