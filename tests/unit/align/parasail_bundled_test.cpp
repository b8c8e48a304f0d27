// Both backends against Parasail: the bundled reads and proteins, and 10,000 random pairs of each
// mode.
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "lib/core/device.hpp"
#include "lib/io/sequence_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/unit/align/parasail_oracle.hpp"
#include "tests/unit/align/random_pairs.hpp"

using namespace biogpu;
using namespace biogpu::align;
using namespace biogpu::align::test;

namespace {

constexpr int kThreads = 2;

std::vector<std::string> sequences_of(const std::string& name, std::size_t n) {
  io::SequenceReader reader(std::string(BIOGPU_DATA_DIR) + "/" + name);
  io::SequenceBatch batch;
  std::vector<std::string> sequences;
  while (sequences.size() < n && reader.read(batch)) {
    for (std::size_t i = 0; i < batch.size() && sequences.size() < n; ++i)
      sequences.emplace_back(batch.sequence(i));
  }
  REQUIRE(!sequences.empty());
  return sequences;
}

// Reads of phage lambda, each with the window of the genome that it comes from.
Pairs lambda_pairs(const Scoring& scoring, std::size_t n) {
  const auto reads = sequences_of("lambda_reads.fq.gz", n);
  const auto windows = sequences_of("lambda_windows.fa", n);
  REQUIRE(reads.size() == windows.size());
  Pairs pairs(scoring);
  for (std::size_t i = 0; i < reads.size(); ++i) pairs.add(reads[i], windows[i]);
  return pairs;
}

// Each query with each target.
Pairs protein_pairs(const Scoring& scoring, std::size_t n_queries, std::size_t n_targets) {
  const auto queries = sequences_of("protein_queries.fa", n_queries);
  const auto targets = sequences_of("proteins.fa", n_targets);
  Pairs pairs(scoring);
  for (const std::string& target : targets) pairs.add_target(target);
  for (const std::string& query : queries) {
    const std::uint32_t added = pairs.add_query(query);
    for (std::uint32_t i = 0; i < targets.size(); ++i) pairs.add_pair(added, i);
  }
  return pairs;
}

// The 2, -3, 5, 2 of the README for DNA; BLOSUM62, 11, 1 for proteins.
Options options_of(const std::string& mode, bool dna) {
  Options options;
  options.scoring = dna ? dna_scoring(2, -3, 5, 2) : blosum62_scoring(11, 1);
  options.mode = mode == "nw" ? Mode::global : mode == "sw" ? Mode::local : Mode::semiglobal;
  options.free_ends = {true, true, true, true};
  options.output = Output::cigar;
  return options;
}

// Scores and ends equal Parasail's; a row's path is worth its score.
void compare(const Pairs& pairs, const Options& options, bool dna, const Alignments& got) {
  const Oracle oracle(options, dna, 2, -3);
  REQUIRE(got.rows.size() == pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const OracleAlignment want = oracle.align(pairs.query(i), pairs.target(i));
    const Alignment& row = got.rows[i];
    INFO(parasail_mode(options) << ' ' << pairs.query(i) << ' ' << pairs.target(i));
    REQUIRE(row.score == want.score);
    REQUIRE(row.query_end == want.query_end);
    REQUIRE(row.target_end == want.target_end);
    const std::span cigar(got.cigar.data() + row.cigar_begin, row.n_cigar);
    REQUIRE(rescore(pairs.work(), options, pairs.pair(i), row, cigar) == row.score);
  }
}

// Whether a GPU can be used; where one is required its absence is a failure.
bool has_gpu() {
  std::string why;
  const auto devices = list_devices(&why);
  const bool found = !devices.empty() && devices[0].usable;
  if (!devices.empty()) why = devices[0].why_not;
  if (!found && std::getenv("BIOGPU_REQUIRE_GPU") != nullptr) FAIL("a GPU is required: " << why);
  if (!found) {
    WARN("skipped: " << why);
    ++biogpu::test::n_skipped;
  }
  return found;
}

// The emulated platform takes a part of the data: it aligns about a million cells a second.
bool is_emulated() { return gpu_backend_name() == "emulated"; }

}  // namespace

TEST_CASE("align.align_cpu: the bundled sequences score as Parasail says", "[align]") {
  const std::string mode = GENERATE("nw", "sg", "sw");
  const Options dna = options_of(mode, true);
  const Pairs reads = lambda_pairs(dna.scoring, 200);
  compare(reads, dna, true, align_cpu(reads.work(), dna, kThreads));
  const Options protein = options_of(mode, false);
  const Pairs proteins = protein_pairs(protein.scoring, 5, 40);
  compare(proteins, protein, false, align_cpu(proteins.work(), protein, kThreads));
}

TEST_CASE("align.align_cpu: 10000 random pairs of each mode score as Parasail says", "[align]") {
  const std::string mode = GENERATE("nw", "sg", "sw");
  const bool dna = GENERATE(true, false);
  const Options options = options_of(mode, dna);
  const Pairs pairs = random_pairs(options.scoring, dna ? kDna : kProtein, 10000, 1, 100, 17);
  compare(pairs, options, dna, align_cpu(pairs.work(), options, kThreads));
}

TEST_CASE("align.align_gpu: the bundled sequences score as Parasail says", "[align][gpu]") {
  if (!has_gpu()) return;
  const std::string mode = GENERATE("nw", "sg", "sw");
  const Options dna = options_of(mode, true);
  const Pairs reads = lambda_pairs(dna.scoring, is_emulated() ? 24 : 200);
  compare(reads, dna, true, make_gpu_aligner(0, dna, 0)->align(reads.work()));
  const Options protein = options_of(mode, false);
  const Pairs proteins =
      is_emulated() ? protein_pairs(protein.scoring, 1, 4) : protein_pairs(protein.scoring, 5, 40);
  compare(proteins, protein, false, make_gpu_aligner(0, protein, 0)->align(proteins.work()));
}
