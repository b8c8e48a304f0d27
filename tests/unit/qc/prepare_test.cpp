#include "lib/qc/prepare/prepare.hpp"

#include <algorithm>
#include <random>

#include "lib/qc/prepare/detect_adapter.hpp"
#include "lib/qc/prepare/known_adapters.hpp"
#include "lib/qc/stats/overrepresented.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"
#include "tests/unit/qc/random_text.hpp"

using namespace biogpu::qc;
using namespace biogpu::qc_test;
using biogpu::test::TempFolder;

namespace {

std::string fastq_with(const std::string& adapter, int n_reads, unsigned one_in) {
  std::mt19937 random(41);
  std::string text;
  for (int i = 0; i < n_reads; ++i) {
    std::string bases = random_text(random, 100, "ACGT");
    if (random() % one_in == 0) {
      bases.resize(30 + random() % 40);
      bases += adapter + random_text(random, 100, "ACGT");
      bases.resize(100);
    }
    text += "@r\n" + bases + "\n+\n" + std::string(100, 'I') + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("qc.prepare: a frequent adapter is detected, known ones by their head", "[qc]") {
  const TempFolder folder;
  const std::string known = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA";
  const std::string path = folder.file("a.fq", fastq_with(known + "CATCACGATC", 12000, 4));
  CHECK(detect_adapter(ReadSample(path, 1 << 18, 1 << 30), 0, false) == known);
  CHECK(detect_adapter(ReadSample(path, 1 << 18, 1 << 30), 0, true) == known);
  CHECK(known_adapter(known + "C", false) == known);
  CHECK(known_adapter("ACGT", true).empty());
}

TEST_CASE("qc.prepare: known adapters have fastp's names", "[qc]") {
  CHECK(known_adapter_name("AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT") ==
        ">Illumina TruSeq Adapter Read 2");
  CHECK(known_adapter_name("TTTTTTTTTTCAAGCAGAAGACGGCATACGA") == ">FlowCell2");
  CHECK(known_adapter_name("AACTGTAGGCACCATCAAT").starts_with('>'));
  CHECK(known_adapter_name("AGATCGG").empty());
  CHECK(known_adapter_name("").empty());
  for (const std::string_view adapter : known_adapters_of_fastp_1())
    CHECK(known_adapter_name(adapter).starts_with('>'));
}

TEST_CASE("qc.prepare: random reads and small files have no adapter", "[qc]") {
  const TempFolder folder;
  const std::string none = folder.file("a.fq", fastq_with("", 12000, 1000000));
  CHECK(detect_adapter(ReadSample(none, 1 << 18, 1 << 30), 0, false).empty());
  const std::string few =
      folder.file("b.fq", fastq_with("AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", 9000, 4));
  CHECK(detect_adapter(ReadSample(few, 1 << 18, 1 << 30), 0, false).empty());
}

TEST_CASE("qc.prepare: a sample ends at its bounds and knows the size of the file", "[qc]") {
  const TempFolder folder;
  const std::string path = folder.file("a.fq", fastq_with("", 5000, 1000000));
  CHECK(ReadSample(path, 100, 1 << 30).size() == 100);
  CHECK(ReadSample(path, 10000, 1050).size() == 11);
  CHECK(ReadSample(path, 10000, 1 << 30).n_reads_of_file() == 5000);
}

TEST_CASE("qc.overrepresented: a frequent sequence is found, counted without overlaps", "[qc]") {
  const TempFolder folder;
  std::mt19937 random(42);
  const std::string common = random_text(random, 40, "ACGT");
  std::string text;
  for (int i = 0; i < 400; ++i) {
    const std::string bases =
        i % 4 == 0 ? random_text(random, 20, "ACGT") + common + random_text(random, 40, "ACGT")
                   : random_text(random, 100, "ACGT");
    text += "@r\n" + bases + "\n+\n" + std::string(100, 'I') + "\n";
  }
  const ReadSample reads(folder.file("a.fq", text), 1 << 18, 1 << 30);
  const std::vector<std::string> found = overrepresented_candidates(reads, 100);
  // Its neighbours, one base on, are frequent too.
  REQUIRE(std::find(found.begin(), found.end(), common) != found.end());
  const OverrepresentedCounter counter({common}, 100);
  std::vector<std::uint64_t> counts(1);
  for (std::size_t i = 0; i < reads.size(); ++i) counter.count(reads[i], counts);
  CHECK(counts[0] == 100);
}
