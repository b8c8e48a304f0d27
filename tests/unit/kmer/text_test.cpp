// Headers, records, histograms, spectra and sketches: what has a fixed expected text.
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/kmer/histogram.hpp"
#include "lib/kmer/minhash_sketch.hpp"
#include "lib/kmer/sequences/fastq_chunks.hpp"
#include "lib/kmer/spectrum.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kmer/files.hpp"

using namespace biogpu;

TEST_CASE("kmer.jellyfish_file: counts saturate, and 8 bytes hold any", "[kmer]") {
  kmer::CountBlock block;
  block.clear(1);
  block.keys = {5, 6};
  block.counts = {300, std::uint64_t{1} << 40};
  for (const int bytes : {1, 2, 4, 8}) {
    kmer::Header header = test::header_for(4, 0, false);
    header.counter_bytes = bytes;
    std::string records;
    append_jellyfish_records(header, block, records);
    CHECK(records.size() == 2 * (1 + static_cast<std::size_t>(bytes)));
    kmer::CountBlock got;
    got.clear(1);
    parse_jellyfish_records(header, records, got);
    CHECK(got.keys == block.keys);
    const std::uint64_t largest = bytes == 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * bytes) - 1;
    CHECK(got.counts[0] == std::min<std::uint64_t>(300, largest));
    CHECK(got.counts[1] == std::min(std::uint64_t{1} << 40, largest));
  }
}

TEST_CASE("kmer.jellyfish_file: a header survives being written and read", "[kmer]") {
  for (const bool canonical : {false, true})
    for (const std::uint64_t size :
         {std::uint64_t{10}, std::uint64_t{256}, std::uint64_t{100000000}}) {
      CAPTURE(canonical, size);
      kmer::Header header = test::header_for(4, size, canonical);
      header.counter_bytes = 2;
      header.max_reprobe = 3;
      header.command = {"count", "-m", "4"};
      header.program = "/bin/biogpu";
      header.host = "host";
      header.folder = "/work";
      header.time = "Thu Jan  1 00:00:00 1970";
      const std::string text = kmer::jellyfish_header(header);
      CHECK(text.size() % 8 == 0);
      const kmer::Header read = kmer::parse_jellyfish_header(text.substr(9), "test");
      CHECK(read.format == kmer::Format::jellyfish);
      CHECK(read.k == 4);
      CHECK(read.canonical == canonical);
      CHECK(read.counter_bytes == 2);
      CHECK(read.max_reprobe == (size < 256 ? 3 : 0));  // no reprobes where every k-mer has a slot
      CHECK(read.order == header.order);
      CHECK(read.command == header.command);
      CHECK(read.program == header.program);
      CHECK(read.host == header.host);
      CHECK(read.folder == header.folder);
      CHECK(read.time == header.time);
    }
}

TEST_CASE("kmer.jellyfish_file: no reprobes where every k-mer has a slot", "[kmer]") {
  const auto max_reprobe = [](int k, std::uint64_t size) {
    const std::string text = kmer::jellyfish_header(test::header_for(k, size, false));
    return kmer::parse_jellyfish_header(text.substr(9), "test").max_reprobe;
  };
  CHECK(max_reprobe(12, 5'000'000) == 126);
  CHECK(max_reprobe(12, 10'000'000) == 0);  // rounded up to 4^12
  CHECK(max_reprobe(12, 20'000'000) == 0);
  CHECK(max_reprobe(13, 33'000'000) == 126);
  CHECK(max_reprobe(13, 40'000'000) == 0);
  CHECK(max_reprobe(4, 100) == 15);
}

TEST_CASE("kmer.histogram: has Jellyfish's buckets", "[kmer]") {
  const std::vector<std::uint64_t> counts{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 4};
  const auto text = [](const kmer::HistogramShape& shape, const std::vector<std::uint64_t>& of,
                       bool all) {
    kmer::Histogram histogram(shape);
    histogram.add(of);
    return histogram.text(all);
  };
  CHECK(text({}, counts, false) == "1 5\n2 6\n3 1\n4 1\n");
  CHECK(text({2, 3, 1}, counts, false) == "1 5\n2 6\n3 1\n4 1\n");
  CHECK(text({1, 3, 1}, {998}, false) == "4 1\n");
  CHECK(text({1, 5, 1}, counts, true) == "0 0\n1 5\n2 6\n3 1\n4 1\n5 0\n6 0\n");
  CHECK_THROWS_AS(kmer::Histogram({5, 2, 1}), Error);
}

TEST_CASE("kmer.spectrum: finds valley, peak and genome size", "[kmer]") {
  const std::vector<std::uint64_t> counts{0, 900, 50, 5, 20, 100, 300, 100, 20, 1, 0};
  const kmer::Spectrum spectrum = kmer::read_spectrum(counts);
  CHECK(spectrum.valley == 3);
  CHECK(spectrum.peak == 6);
  CHECK(std::abs(spectrum.genome_size - (15 + 80 + 500 + 1800 + 700 + 160 + 9) / 6.0) < 1e-9);
  CHECK(kmer::read_spectrum({0, 9, 5, 2, 1, 0}).peak == 0);
  const std::string svg = kmer::spectrum_svg(counts, "a < b");
  CHECK(svg.find("a &lt; b") != std::string::npos);
  CHECK(svg.find("peak 6") != std::string::npos);
}

TEST_CASE("kmer.sketch: hashes are MurmurHash3's", "[kmer]") {
  // From the author's reference, seed 0 and others.
  CHECK(kmer::murmur_hash("", 0) == 0);
  CHECK(kmer::murmur_hash("hello", 0) == 0xcbd8a7b341bd9b02u);
  CHECK(kmer::murmur_hash("hello, world", 0) == 0x342fac623a5ebc8eu);
  CHECK(kmer::murmur_hash("The quick brown fox jumps over the lazy dog.", 0) ==
        0xcd99481f9ee902c9u);
}

TEST_CASE("kmer.sketch: equal sets have distance 0, disjoint ones 1", "[kmer]") {
  std::mt19937 rng(4);
  const kmer::SketchOptions options{21, 200, 42};
  const auto sketch = [&](const std::string& text) {
    kmer::Sketcher sketcher(options);
    sketcher.add(text);
    return sketcher.finish("x", text.size());
  };
  const std::string a = test::random_letters(rng, 20000, "ACGT");
  const std::string b = test::random_letters(rng, 20000, "ACGT");
  CHECK(compare(sketch(a), sketch(test::reverse_complement_text(a)), options).distance == 0);
  CHECK(compare(sketch(a), sketch(b), options).distance == 1);
  const auto half = compare(sketch(a), sketch(a.substr(0, 10000)), options);
  CHECK(std::abs(half.jaccard - 0.5) < 0.15);
  CHECK(half.containment == 1);
  // Nothing to compare: alike, as Mash has it, and no more likely than any.
  const auto nothing = compare(sketch("ACGTACGTAC"), sketch("GGG"), options);
  CHECK(nothing.distance == 0);
  CHECK(nothing.p_value == 1);
  CHECK(compare(sketch("ACGTACGTAC"), sketch(a), options).distance == 1);
  kmer::SketchOptions read;
  const auto parsed = kmer::parse_sketches(kmer::sketches_as_json({sketch(a)}, options), "x", read);
  CHECK(parsed[0].hashes == sketch(a).hashes);
  CHECK(read.size == 200);
}

namespace {

// The sequences of a file, or nothing where a record is malformed.
using Sequences = std::optional<std::vector<std::string>>;

Sequences read_in_pieces(const std::string& path, std::size_t chunk_bytes) try {
  const auto chunks = kmer::FastqChunks::open(path, chunk_bytes);
  if (!chunks) return Sequences::value_type{"may be SAM"};
  std::vector<std::string> all;
  io::CharBuffer buffer;
  for (std::size_t i = 0; i < chunks->n_chunks(); ++i)
    chunks->read(i, buffer, [&](std::string_view sequence, std::string_view quality) {
      CHECK(sequence.size() == quality.size());
      all.emplace_back(sequence);
    });
  return all;
} catch (const Error& error) {
  CHECK(error.code() == ErrorCode::bad_input);
  CHECK(std::string(error.what()).find(": record ") != std::string::npos);
  return std::nullopt;
}

Sequences read_in_order(const std::string& path) try {
  io::SequenceReader reader(path);
  std::vector<std::string> all;
  for (io::SequenceBatch batch; reader.read(batch);)
    for (std::size_t i = 0; i < batch.size(); ++i) all.emplace_back(batch.sequence(i));
  return all;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

TEST_CASE("kmer.fastq_chunks: takes and refuses what the reader of all formats does", "[kmer]") {
  test::TemporaryFile file;
  const auto check_alike = [&](const std::string& text) {
    file.write(text);
    CAPTURE(text);
    const Sequences expected = read_in_order(file.path());
    for (const std::size_t chunk_bytes : {1, 2, 3, 5, 8, 13, 1000})
      CHECK((text.find('\t') == 3 || read_in_pieces(file.path(), chunk_bytes) == expected));
    return expected.has_value();
  };
  const std::string good = "@a\nACGT\n+\nII@I\n";
  CHECK(check_alike(good + "  @b\nAC\n+\n@I\n \t@c\nA\n+x\ry\nI"));  // blanks before a name
  CHECK(check_alike(good + "\n\r\n@b x\r\nAC\r\n+\r\n@I\r\n"));
  CHECK(check_alike(good + "@b\n\n+"));  // no residues, no line feed
  CHECK_FALSE(check_alike("@x\ry\nACGT\n+\nIIII\n" + good));
  CHECK_FALSE(check_alike("@x y\r\r\nACGT\n+\nIIII\n" + good));
  CHECK_FALSE(check_alike("@\nACGT\n+\nIIII\n" + good));
  CHECK_FALSE(
      check_alike("@\x01"
                  "a\nACGT\n+\nIIII\n" +
                  good));

  std::mt19937 rng(10);
  const std::string records = "@a\nAC\n+\n@I\n@b c\r\nA\r\n+b\r\n+\r\n\n@d\n\n+\n\n@e\nG\n+\nI\n";
  int n_good = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = records;
    for (std::size_t n = 1 + rng() % 2; n > 0; --n) {
      const std::size_t at = 1 + rng() % (text.size() - 1);
      const std::string byte(1, "@+I \n\r\tAC\x01"[rng() % 10]);
      text.replace(at, rng() % 2, rng() % 3 > 0 ? byte : "");
    }
    if (rng() % 3 == 0) text.resize(1 + rng() % text.size());
    n_good += check_alike(text) ? 1 : 0;
  }
  CHECK(n_good > 100);
}

TEST_CASE("kmer.fastq_chunks: pieces of any size hold every record once", "[kmer]") {
  std::mt19937 rng(9);
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 300; ++i) {
    const std::size_t n = rng() % 80;
    expected.push_back(test::random_letters(rng, n, "ACGTN"));
    // Qualities that look like names and separators.
    text += "@r" + std::to_string(i) + " x\n" + expected.back() + "\n+\n" +
            test::random_letters(rng, n, "@+I") + "\n";
    if (i % 50 == 7) text += "\n";
  }
  test::TemporaryFile file;
  file.write(text);
  io::CharBuffer buffer;
  for (const std::size_t chunk_bytes : {1, 2, 7, 64, 1000, 1 << 20}) {
    CAPTURE(chunk_bytes);
    const auto chunks = kmer::FastqChunks::open(file.path(), chunk_bytes);
    REQUIRE(chunks);
    std::vector<std::string> got;
    for (std::size_t i = 0; i < chunks->n_chunks(); ++i)
      chunks->read(i, buffer, [&](std::string_view sequence, std::string_view quality) {
        CHECK(sequence.size() == quality.size());
        got.emplace_back(sequence);
      });
    CHECK(got == expected);
  }
  const auto read_all = [&] {
    const auto chunks = kmer::FastqChunks::open(file.path(), 100);
    for (std::size_t i = 0; i < chunks->n_chunks(); ++i)
      chunks->read(i, buffer, [](std::string_view, std::string_view) {});
  };
  for (const std::string& bad : {text.substr(0, text.size() - 40), text + "@last\nACGT\n+\nII\n",
                                 text + "@last\nACGT\n", "@r\nAC GT\n+\nIIIII\n" + text}) {
    file.write(bad);
    CHECK_THROWS_AS(read_all(), Error);
  }
  file.write(">r\nACGT\n");
  CHECK_FALSE(kmer::FastqChunks::open(file.path()));
  CHECK_FALSE(kmer::FastqChunks::open("/nowhere"));
}

TEST_CASE("kmer.fastq_chunks: a chunk inside a long record is not read to its end", "[kmer]") {
  const std::size_t n = 3'000'000;
  const std::string one = "@a\n" + std::string(n, 'C') + "\n+\n" + std::string(n, 'I') + "\n";
  test::TemporaryFile file;
  file.write(one + "@b\nACG\n+\n@@@\n" + one);
  constexpr std::size_t kChunk = 20'000;
  const auto chunks = kmer::FastqChunks::open(file.path(), kChunk);
  REQUIRE(chunks);
  std::vector<std::size_t> sizes;
  std::size_t n_large = 0;
  io::CharBuffer buffer;
  for (std::size_t i = 0; i < chunks->n_chunks(); ++i) {
    chunks->read(i, buffer, [&](std::string_view sequence, std::string_view) {
      sizes.push_back(sequence.size());
    });
    n_large += buffer.size() > 200'000;
  }
  CHECK(sizes == std::vector<std::size_t>{n, 3, n});
  CHECK(n_large == 2);
}

TEST_CASE("kmer.fastq_chunks: a file that became shorter is not read as whole", "[kmer]") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "@r\nACGTA\n+\nIIIII\n";
  test::TemporaryFile file;
  file.write(text);
  const auto chunks = kmer::FastqChunks::open(file.path(), 10'000);
  REQUIRE(chunks);
  REQUIRE(::truncate(file.path().c_str(), 17 * 4000) == 0);  // at a record's end
  io::CharBuffer buffer;
  const auto read_all = [&] {
    for (std::size_t i = 0; i < chunks->n_chunks(); ++i)
      chunks->read(i, buffer, [](std::string_view, std::string_view) {});
  };
  CHECK_THROWS_AS(read_all(), Error);
}
