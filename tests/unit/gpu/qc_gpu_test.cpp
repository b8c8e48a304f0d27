#include <functional>
#include <map>
#include <random>

#include "lib/core/complement.hpp"
#include "lib/qc/batch/batch_processor.hpp"
#include "lib/qc/batch/gpu_steps.hpp"
#include "lib/qc/stats/duplicates.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;

namespace {

constexpr char kAdapter[] = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA";

std::string random_bases(std::mt19937& rng, std::size_t n, const char* letters = "ACGT") {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += letters[rng() % 4];
  return text;
}

std::string reverse_complement(const std::string& sequence) {
  std::string out;
  for (std::size_t i = sequence.size(); i-- > 0;) out += complement_acgt(sequence[i]);
  return out;
}

void add_record(qc::FastqChunk& chunk, const std::string& name, const std::string& sequence,
                const std::string& quality) {
  qc::RecordPlace place;
  place.begin = chunk.text.size();
  place.name_length = static_cast<std::uint32_t>(name.size());
  place.sequence_at = place.name_length + 1;
  place.length = static_cast<std::uint32_t>(sequence.size());
  place.strand_at = place.sequence_at + place.length + 1;
  place.strand_length = 1;
  place.quality_at = place.strand_at + 2;
  const std::string text = name + "\n" + sequence + "\n+\n" + quality + "\n";
  chunk.text.append(text.data(), text.size());
  chunk.records.push_back(place);
}

// Reads as a sequencer makes them and as it does not: adapters, tails of one base, N, lower case,
// falling qualities, and lengths around the width of a wave.
class ReadMaker {
 public:
  explicit ReadMaker(unsigned seed) : rng_(seed) {}

  void add_pair(qc::FastqChunk& chunk1, qc::FastqChunk& chunk2, std::size_t i) {
    static constexpr std::size_t kLengths[] = {0,  1,  4,  15, 31,  32,  33,  63,
                                               64, 65, 90, 99, 100, 127, 128, 129};
    const std::size_t length = rng_() % 3 == 0 ? kLengths[rng_() % 16] : 100;
    const std::string fragment = random_bases(rng_, rng_() % 8 == 0 ? rng_() % 30 : rng_() % 220);
    const std::string name = "@r" + std::to_string(i) + ":ACGT+TTGA 1";
    if (i % 8 == 7) return add_gapped(chunk1, chunk2, name);
    add(chunk1, name, fragment, length);
    add(chunk2, name, reverse_complement(fragment), rng_() % 4 == 0 ? rng_() % 130 : length);
  }

 private:
  // Mates without an error whose overlap lacks a base of one of them just before its end: the only
  // place where fastp 1 takes an overlap with a gap that is none without it.
  void add_gapped(qc::FastqChunk& chunk1, qc::FastqChunk& chunk2, const std::string& name) {
    const std::string fragment = random_bases(rng_, 35 + rng_() % 40);
    std::string mates[] = {fragment, reverse_complement(fragment)};
    // Mate 2 is compared from its end.
    const bool first = rng_() % 2 == 0;
    mates[first ? 0 : 1].erase(first ? fragment.size() - 2 : 1, 1);
    for (int m = 0; m < 2; ++m) {
      const std::string sequence = (mates[m] + kAdapter + random_bases(rng_, 60)).substr(0, 100);
      add_record(m == 0 ? chunk1 : chunk2, name, sequence, std::string(sequence.size(), 'I'));
    }
  }

  void add(qc::FastqChunk& chunk, const std::string& name, const std::string& fragment,
           std::size_t length) {
    const char* tails[] = {"ACGT", "GGGG", "AAAA", "GGGA"};
    std::string sequence = fragment + kAdapter + random_bases(rng_, 200, tails[rng_() % 4]);
    // A base more or less, near the adapter or in the fragment.
    const std::size_t at = rng_() % (fragment.size() + 12) + (rng_() % 2 == 0 ? 0 : 8);
    if (const unsigned kind = rng_() % 6; kind == 0)
      sequence.erase(at, 1);
    else if (kind == 1)
      sequence.insert(at, 1, "ACGT"[rng_() % 4]);
    sequence.resize(length);
    std::string quality;
    const unsigned shape = rng_() % 4;
    for (std::size_t i = 0; i < length; ++i) {
      int phred = 38 - static_cast<int>(shape * i / 8) - static_cast<int>(rng_() % 6);
      if (rng_() % 25 == 0) phred = 8;
      quality += static_cast<char>(33 + (phred < 2 ? 2 : phred));
      if (rng_() % 40 == 0) sequence[i] = "ACGTN"[rng_() % 5];
      if (rng_() % 400 == 0) sequence[i] = "acgt.x"[rng_() % 6];
    }
    if (rng_() % 20 == 0 && length > 20)
      for (std::size_t i = 10; i < 20; ++i) sequence[i] = 'N';
    add_record(chunk, name, sequence, quality);
  }

  std::mt19937 rng_;
};

void finish(qc::FastqChunk& chunk) {
  const std::string padding(qc::FastqChunk::kPadding, '\0');
  chunk.text.append(padding.data(), padding.size());
}

qc::Batch make_batch(const qc::Options& options, std::size_t n, unsigned seed) {
  qc::Batch batch;
  qc::FastqChunk ignored;
  ReadMaker maker(seed);
  qc::FastqChunk& second = options.interleaved ? batch.chunk1 : batch.chunk2;
  for (std::size_t i = 0; i < n; ++i)
    maker.add_pair(batch.chunk1, options.paired() ? second : ignored, i);
  finish(batch.chunk1);
  finish(batch.chunk2);
  batch.n_records = n;
  for (std::size_t i = 0; i < n; ++i) batch.is_duplicate.push_back(i % 5 == 0);
  return batch;
}

void process(qc::Batch& batch, const qc::Options& options, qc::WorkerSums& sums) {
  if (options.paired())
    process_pairs(batch, options, sums);
  else
    process_single(batch, options, sums);
}

void check_same(const qc::ReadStats& a, const qc::ReadStats& b) {
  CHECK(a.n_reads == b.n_reads);
  CHECK(a.n_bases == b.n_bases);
  CHECK(a.q20_bases == b.q20_bases);
  CHECK(a.q30_bases == b.q30_bases);
  CHECK(a.q40_bases == b.q40_bases);
  CHECK(a.kmers == b.kmers);
  REQUIRE(a.cycles.size() == b.cycles.size());
  bool same = true;
  for (std::size_t c = 0; c < a.cycles.size(); ++c)
    same = same && a.cycles[c].bases == b.cycles[c].bases &&
           a.cycles[c].quality == b.cycles[c].quality &&
           a.cycles[c].all_bases == b.cycles[c].all_bases &&
           a.cycles[c].all_quality == b.cycles[c].all_quality;
  CHECK(same);
}

void check_same(const qc::FilterCounts& a, const qc::FilterCounts& b) {
  CHECK(a.verdicts == b.verdicts);
  CHECK(a.adapter_reads == b.adapter_reads);
  CHECK(a.adapter_bases == b.adapter_bases);
  CHECK(a.poly_x_reads == b.poly_x_reads);
  CHECK(a.poly_x_bases == b.poly_x_bases);
  CHECK(a.corrected_reads == b.corrected_reads);
  CHECK(a.corrected_bases == b.corrected_bases);
  CHECK(a.insert_sizes == b.insert_sizes);
  for (std::size_t m = 0; m < 2; ++m) {
    std::map<std::string, std::uint64_t> counts[2];
    for (const auto& [text, n] : a.adapters[m].list()) counts[0][std::string(text)] = n;
    for (const auto& [text, n] : b.adapters[m].list()) counts[1][std::string(text)] = n;
    CHECK(counts[0] == counts[1]);
  }
}

std::vector<std::uint64_t> plain_keys(qc::Batch& batch, const qc::Options& options) {
  const qc::DuplicateHash hash(options);
  const auto view = [](qc::FastqChunk& chunk, std::size_t i) {
    return std::string_view(chunk.sequence(chunk.records[i]), chunk.records[i].length);
  };
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < batch.n_records; ++i) {
    std::string_view first = view(batch.chunk1, options.interleaved ? 2 * i : i);
    std::string_view second;
    if (options.interleaved)
      second = view(batch.chunk1, 2 * i + 1);
    else if (options.paired())
      second = view(batch.chunk2, i);
    for (int t = 0; t < hash.n_tables(); ++t) keys.push_back(hash.key(t, first, second));
  }
  return keys;
}

// Runs two batches on the device and on the CPU and compares all that comes out.
void check_same_as_cpu(const qc::Options& options, std::size_t n) {
  const auto gpu = qc::make_gpu_steps(0, options);
  qc::WorkerSums cpu_sums, gpu_sums;
  for (const unsigned seed : {1u, 2u}) {
    qc::Batch by_cpu = make_batch(options, n, seed);
    qc::Batch by_gpu = make_batch(options, n, seed);
    if (seed == 2) by_cpu.first_record = by_gpu.first_record = 3000;
    REQUIRE(gpu->run(by_gpu));
    if (options.duplicates && !options.dedup) CHECK(by_gpu.keys == plain_keys(by_cpu, options));
    process(by_cpu, options, cpu_sums);
    process(by_gpu, options, gpu_sums);
    for (std::size_t k = 0; k < qc::kOutputs; ++k) {
      CAPTURE(k);
      CHECK(by_gpu.text[k].view() == by_cpu.text[k].view());
    }
    CHECK(by_gpu.cut_text.view() == by_cpu.cut_text.view());
    REQUIRE(by_gpu.cuts.size() == by_cpu.cuts.size());
    bool same_cuts = true;
    for (std::size_t k = 0; k < by_cpu.cuts.size(); ++k)
      same_cuts = same_cuts && by_gpu.cuts[k].pack == by_cpu.cuts[k].pack &&
                  by_gpu.cuts[k].mate == by_cpu.cuts[k].mate &&
                  by_gpu.cuts[k].length == by_cpu.cuts[k].length;
    CHECK(same_cuts);
  }
  check_same(gpu_sums.counts, cpu_sums.counts);
  qc::Summary of_gpu;
  gpu->add_stats(of_gpu);
  for (std::size_t m = 0; m < 2; ++m) {
    CAPTURE(m);
    qc::ReadStats before = cpu_sums.unchanged[m].take();
    qc::ReadStats after = before;
    before.add(cpu_sums.before[m].take());
    after.add(cpu_sums.after[m].take());
    check_same(of_gpu.before[m], before);
    check_same(of_gpu.after[m], after);
  }
}

using Change = std::function<void(qc::Options&)>;

// What fastp 1 does in another way: adapters with a gap, counts of listed ones, dimers, keys of all
// tables.
std::vector<Change> changes_of_fastp_1() {
  using O = qc::Options;
  std::vector<Change> all{
      [](O&) {},
      [](O& o) { o.adapter1 = o.adapter2 = kAdapter, o.duplicate_level = 6; },
      [](O& o) {
        o.fasta_adapters = {std::string(kAdapter).substr(5), "GGGGGGGG", kAdapter, "GAACTCCAG"};
        o.adapter1 = "GGGGGGGGGGGGGGGG", o.failed_out.assign(1, 'f');
      },
      [](O& o) { o.gapped_overlap = true, o.overlap_diff_limit = 0; },
      [](O& o) { o.dimer_max_len = 25, o.adapter1 = kAdapter, o.failed_out.assign(1, 'f'); },
      [](O& o) {
        o.gapped_overlap = o.correction = o.trim_poly_x = true;
        o.overlap_require = 12, o.overlap_diff_limit = 3, o.dimer_max_len = 0;
        o.fasta_adapters = {"AGATCGGAAGAGC", "TTTTTTTT", "CACACGTCTGAAC"};
        o.umi = true, o.umi_location = qc::UmiLocation::per_read, o.umi_length = 3;
        o.trim1 = {1, 2, 80};
      },
  };
  for (Change& change : all)
    change = [change](O& o) {
      o.profile = qc::Profile::fastp_1;
      change(o);
    };
  return all;
}

// Each case differs from the defaults by these.
std::vector<Change> changes() {
  using O = qc::Options;
  const auto window = [](int size, int quality) { return qc::WindowCut{true, size, quality}; };
  std::vector<Change> all{
      [](O&) {},
      [](O& o) { o.correction = true; },
      [](O& o) { o.adapter_trimming = false, o.quality_filter = false; },
      [](O& o) { o.adapter1 = o.adapter2 = kAdapter; },
      [](O& o) { o.adapter1 = o.adapter2 = std::string(kAdapter).substr(0, 12); },
      [](O& o) {
        o.fasta_adapters = {kAdapter, "GGGGGGGG", "ACGTACGTACGTACGTA"};
      },
      [](O& o) {
        o.trim1 = {3, 2, 0}, o.trim2 = {5, 4, 60};
      },
      [](O& o) {
        o.trim1 = o.trim2 = {30, 100, 0};
      },
      [=](O& o) { o.cut_front = window(4, 20); },
      [=](O& o) { o.cut_tail = window(4, 20); },
      [=](O& o) { o.cut_right = window(4, 20); },
      [=](O& o) {
        o.cut_front = window(6, 25), o.cut_right = window(1, 30), o.trim1 = {5, 5, 0};
      },
      [=](O& o) { o.cut_front = window(40, 28), o.cut_tail = window(70, 30); },
      [](O& o) { o.trim_poly_g = true; },
      [](O& o) { o.trim_poly_x = true; },
      [](O& o) {
        o.trim_poly_g = o.trim_poly_x = true;
        o.poly_g_min_len = 5, o.poly_x_min_len = 3;
      },
      [](O& o) { o.complexity_filter = true, o.complexity_percent = 70; },
      [](O& o) { o.average_quality = 30, o.n_base_limit = 1, o.unqualified_percent = 10; },
      [](O& o) { o.length_required = 60, o.length_limit = 99; },
      [](O& o) { o.dedup = true; },
      [](O& o) { o.duplicate_level = 6; },
      [](O& o) { o.duplicates = false; },
      [](O& o) {
        o.umi = true, o.umi_location = qc::UmiLocation::per_read;
        o.umi_length = 6, o.umi_skip = 2;
      },
      [](O& o) { o.overlap_require = 12, o.overlap_diff_limit = 9, o.overlap_diff_percent = 40; },
      [=](O& o) {
        o.correction = o.trim_poly_g = o.trim_poly_x = o.complexity_filter = true;
        o.cut_front = o.cut_tail = window(4, 20);
        o.failed_out.assign(1, 'f'), o.unpaired1.assign(1, 'u');
      },
  };
  for (Change& change : all)
    change = [change](O& o) {
      o.profile = qc::Profile::fastp_0_23;
      change(o);
    };
  for (Change& change : changes_of_fastp_1()) all.push_back(std::move(change));
  return all;
}

}  // namespace

TEST_CASE("qc.gpu_steps: the same reads and numbers as the CPU, for pairs", "[qc][gpu][device]") {
  if (!test::has_gpu()) return;
  std::size_t number = 0;
  for (const Change& change : changes()) {
    CAPTURE(number++);
    qc::Options options;
    options.in1.assign(1, '1'), options.in2.assign(1, '2');
    change(options);
    check_same_as_cpu(options, 150);
  }
}

TEST_CASE("qc.gpu_steps: the same reads and numbers as the CPU, for single reads",
          "[qc][gpu][device]") {
  if (!test::has_gpu()) return;
  std::size_t number = 0;
  for (const Change& change : changes()) {
    CAPTURE(number++);
    qc::Options options;
    options.in1.assign(1, '1');
    change(options);
    if (options.umi) options.umi_location = qc::UmiLocation::read1;
    check_same_as_cpu(options, 200);
  }
}

TEST_CASE("qc.gpu_steps: interleaved pairs, few and none", "[qc][gpu][device]") {
  if (!test::has_gpu()) return;
  for (const std::size_t n : {0u, 1u, 3u, 130u}) {
    CAPTURE(n);
    qc::Options options;
    options.in1.assign(1, '1'), options.interleaved = true, options.correction = true;
    check_same_as_cpu(options, n);
  }
}

TEST_CASE("qc.gpu_steps: a batch with a long read is left to the CPU", "[qc][gpu][device]") {
  if (!test::has_gpu()) return;
  qc::Options options;
  options.in1.assign(1, '1');
  qc::Batch batch;
  add_record(batch.chunk1, "@a", std::string(512, 'A'), std::string(512, 'I'));
  batch.n_records = 1;
  const auto gpu = qc::make_gpu_steps(0, options);
  CHECK(gpu->run(batch));
  add_record(batch.chunk1, "@b", std::string(513, 'A'), std::string(513, 'I'));
  batch.n_records = 2;
  batch.on_device = false;
  CHECK_FALSE(gpu->run(batch));
  CHECK_FALSE(batch.on_device);
}
