#include "lib/core/error.hpp"
#include "lib/io/input/warnings.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;
using Reads = std::vector<Read>;

namespace {

const std::string kEndMarker(
    "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0\x42\x43\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0", 28);

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("io.compressed: members of all kinds follow each other in one file", "[io]") {
  const TempFolder folder;
  const Reads reads = random_reads(3, 6000, 100, true);
  const std::string text = fastq(reads, "\n");
  const std::size_t cut = text.size() / 3;
  const std::string a = text.substr(0, cut), b = text.substr(cut, cut), c = text.substr(2 * cut);
  const int n_threads = GENERATE(1, 3);
  CHECK(read_all(folder.file("1", gzip(a) + gzip(b) + gzip("") + gzip(c)), n_threads) == reads);
  CHECK(read_all(folder.file("2", bgzf(folder, a) + bgzf(folder, b + c)), n_threads) == reads);
  CHECK(read_all(folder.file("3", bgzf(folder, a + b) + gzip(c)), n_threads) == reads);
  CHECK(read_all(folder.file("4", gzip(a) + bgzf(folder, b) + gzip(c)), n_threads) == reads);
  CHECK(read_all(folder.file("5", gzip(text) + std::string(600, '\0')), n_threads) == reads);
  CHECK(read_all(folder.file("6", kEndMarker + bgzf(folder, text)), n_threads) == reads);
}

TEST_CASE("io.compressed: many members of a few bytes", "[io]") {
  const TempFolder folder;
  const Reads reads = random_reads(5, 400, 30, false);
  const std::string text = fasta(reads, 7, "\r\n");
  std::string packed;
  for (std::size_t i = 0; i < text.size(); i += 3) packed += gzip(text.substr(i, 3));
  CHECK(read_all(folder.file("x", packed), GENERATE(1, 2)) == reads);
}

TEST_CASE("io.compressed: a gzip file cut anywhere is an error", "[io]") {
  const TempFolder folder;
  const std::string text = fasta(random_reads(4, 50, 50, false), 0, "\n");
  const std::string packed = gzip(text);
  for (std::size_t n = 2; n < packed.size(); n += 1 + n / 40) {
    const std::string path = folder.file("x", packed.substr(0, n));
    const std::string error = error_of(path, 1 + static_cast<int>(n % 2));
    INFO(n << " of " << packed.size() << " bytes: " << error);
    CHECK(holds(error, "3 " + path + ": ends inside a gzip member"));
  }
}

TEST_CASE("io.compressed: a BGZF file cut anywhere is an error", "[io]") {
  const TempFolder folder;
  const std::string text = fasta(random_reads(4, 900, 300, false), 0, "\n");
  const std::string packed = bgzf(folder, text);
  for (std::size_t n = 18; n < packed.size(); n += n < 60 ? 1 : 977) {
    const std::string path = folder.file("x", packed.substr(0, n));
    const std::string error = error_of(path, 1 + static_cast<int>(n % 3));
    INFO(n << " of " << packed.size() << " bytes: " << error);
    CHECK(holds(error, "3 " + path + ": ends "));
  }
}

TEST_CASE("io.compressed: BGZF text without its end marker is read with a warning", "[io]") {
  const TempFolder folder;
  std::vector<std::string> warnings;
  const io::WarningListener before =
      io::set_warning_listener([&](const std::string& text) { warnings.push_back(text); });
  const int n_threads = GENERATE(1, 3);
  for (const bool with_quality : {false, true}) {
    const Reads reads = random_reads(11, 700, 260, with_quality);
    const std::string text = with_quality ? fastq(reads, "\n") : fasta(reads, 60, "\r\n");
    const std::string packed = bgzf(folder, text);
    const std::string whole = packed.substr(0, packed.size() - kEndMarker.size());
    warnings.clear();
    const std::string path =
        folder.file(std::string(with_quality ? "q" : "a") + std::to_string(n_threads), whole);
    CHECK(read_all(path, n_threads) == reads);
    CHECK(warnings == std::vector<std::string>{
                          path + ": ends without BGZF's end marker; the file may be cut short"});
    // A file is warned of once.
    CHECK(read_all(path, n_threads) == reads);
    CHECK(warnings.size() == 1);

    // What ends in the middle of a line was cut, also where a block ends there.
    const std::string part = bgzf(folder, text.substr(0, text.size() / 2 + 3));
    const std::string cut = folder.file("cut", part.substr(0, part.size() - kEndMarker.size()));
    CHECK(error_of(cut, n_threads) ==
          "3 " + cut +
              ": ends inside a line and without BGZF's end marker; the file may be cut short");
  }
  io::set_warning_listener(before);
}

TEST_CASE("io.compressed: a file of 0 bytes with the name of a gzip file is an error", "[io]") {
  const TempFolder folder;
  for (const char* name : {"r.fq.gz", "r.FA.GZ", "r.bgz"}) {
    const std::string path = folder.file(name, "");
    CHECK(error_of(path, GENERATE(1, 2)) ==
          "3 " + path +
              ": has 0 bytes; expected gzip, as its name says; the file may be cut short");
  }
  CHECK(read_all(folder.file("r.fq", "")).empty());
  CHECK(read_all(folder.file("whole.fq.gz", gzip(""))).empty());
}

TEST_CASE("io.compressed: damage inside is an error and never a wrong sequence", "[io]") {
  const TempFolder folder;
  const std::string text = fasta(random_reads(9, 300, 200, false), 0, "\n");
  const bool blocks = GENERATE(false, true);
  const std::string packed = blocks ? bgzf(folder, text) : gzip(text);
  const Reads reads = read_all(folder.file("whole", packed));
  for (std::size_t at = 0; at < packed.size(); at += 1 + packed.size() / 211) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const std::string path = folder.file("x", damaged);
    const std::string error = error_of(path, 1 + static_cast<int>(at % 2));
    INFO("byte " << at << " of " << packed.size() << ": " << error);
    // Some header fields, such as the time, carry no text: the file then reads as before.
    const bool harmless = error == "no error" && read_all(path) == reads;
    CHECK((harmless || error.substr(0, 2) == "3 "));
  }
}

TEST_CASE("io.compressed: what follows the last member must be gzip", "[io]") {
  const TempFolder folder;
  const std::string text = ">a\nACGT\n";
  CHECK(error_of(folder.file("x", gzip(text) + "rubbish")) ==
        "3 " + folder.path("x") + ": data that are not gzip follow the last gzip member");
  CHECK(holds(error_of(folder.file("y", bgzf(folder, text) + "rubbish"), 2),
              "data that are not gzip follow"));
}

TEST_CASE("io.compressed: a BGZF block that claims to be shorter than its header", "[io]") {
  const TempFolder folder;
  std::string block("\x1f\x8b\x08\x04\0\0\0\0\0\xff\x0a\0XX\0\0BC\x02\0\x19\0", 22);
  block += std::string(30, '\0');
  const std::string whole = bgzf(folder, ">a\nACGT\n");
  CHECK(holds(error_of(folder.file("x", block)), "3 "));
  CHECK(holds(error_of(folder.file("y", whole + block), 2), "3 "));
}
