// Gzip inflated in pieces against the serial reader.
#include "lib/io/input/parallel_gzip.hpp"

#include <zlib.h>

#include <random>

#include "lib/core/error.hpp"
#include "lib/io/input/gzip.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::io::input;

namespace {

constexpr std::size_t kPiece = 20000;  // of compressed bytes

// One member by zlib.
std::string member(std::string_view text, int level, int strategy = Z_DEFAULT_STRATEGY) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, kGzip, 8, strategy) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string some_fastq(std::size_t n_bytes) {
  std::mt19937 rng(3);
  std::string text;
  for (int i = 0; text.size() < n_bytes; ++i) {
    text += "@read." + std::to_string(i) + ":7\n";
    for (int k = 0; k < 100; ++k) text += "ACGT"[rng() & 3];
    text += "\n+\n";
    for (int k = 0; k < 100; ++k) text += static_cast<char>('A' + (rng() & 3));
    text += '\n';
  }
  return text;
}

std::string random_bytes(std::size_t n) {
  std::mt19937 rng(4);
  std::string bytes(n, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng());
  return bytes;
}

struct Outcome {
  std::string text;
  std::string error;
};

// n_workers < 0: by the serial reader.
Outcome read(const std::string& path, int n_workers) {
  RawFile file(path);
  std::unique_ptr<BlockProducer> producer;
  if (n_workers < 0)
    producer = std::make_unique<GzipProducer>(file, std::string_view());
  else
    producer = std::make_unique<ParallelGzipProducer>(file, kPiece);
  BlockSource source(std::move(producer), std::max(n_workers, 0));
  Outcome outcome;
  std::string part(70000, '\0');
  try {
    for (;;) {
      const std::size_t got = source.read(part.data(), part.size());
      outcome.text.append(part, 0, got);
      if (got < part.size()) break;
    }
  } catch (const Error& error) {
    outcome.text.clear();
    outcome.error = error.what();
  }
  return outcome;
}

void check_as_serial(std::string_view packed) {
  const test::TempFolder folder;
  const std::string path = folder.file("a.gz", packed);
  const Outcome expected = read(path, -1);
  for (const int n_workers : {0, 1, 3}) {
    CAPTURE(n_workers);
    const Outcome got = read(path, n_workers);
    CHECK(got.error == expected.error);
    CHECK((got.text == expected.text));  // too long to be shown
  }
}

}  // namespace

TEST_CASE("io.parallel_gzip: gives the text of every kind of block", "[io]") {
  const std::string text = some_fastq(900000);
  const test::TempFolder folder;
  for (const int level : {0, 1, 4, 6, 9}) {
    CAPTURE(level);
    const std::string packed = member(text, level);
    CHECK((read(folder.file("a.gz", packed), 3).text == text));
    check_as_serial(packed);
  }
  check_as_serial(member(text, 6, Z_FIXED));
  check_as_serial(member(text, 6, Z_HUFFMAN_ONLY));
  check_as_serial(member(random_bytes(300000), 6));
  check_as_serial(member(std::string(30000000, 'A'), 9));
  check_as_serial(member("", 6));
}

TEST_CASE("io.parallel_gzip: members follow each other, wherever they begin", "[io]") {
  const std::string text = some_fastq(500000);
  std::string small;
  for (std::size_t at = 0; at < text.size(); at += 3000)
    small += member(std::string_view(text).substr(at, 3000), 6);
  check_as_serial(small);
  std::string large;
  for (std::size_t at = 0; at < text.size(); at += 90000)
    large += member(std::string_view(text).substr(at, 90000), 6);
  check_as_serial(large);
  check_as_serial(large + member("", 6) + member(random_bytes(100000), 6) + small);
  check_as_serial(large + std::string(1000, '\0'));
}

TEST_CASE("io.parallel_gzip: header fields are skipped", "[io]") {
  const std::string plain = member(some_fastq(200000), 6);
  const std::string fields = std::string("\5\0abcde", 7) + std::string("name.fq\0", 8) +
                             std::string("a comment\0", 10) + std::string("\1\2", 2);
  std::string packed = plain.substr(0, 3) + '\x1e' + plain.substr(4, 6) + fields + plain.substr(10);
  const test::TempFolder folder;
  CHECK(read(folder.file("a.gz", packed), 2).text.size() >= 200000);
}

TEST_CASE("io.parallel_gzip: damage is found as by the serial reader", "[io]") {
  const std::string text = some_fastq(500000);
  const std::string packed = member(text, 6);
  std::mt19937 rng(9);
  for (std::size_t cut = 1; cut <= 10; ++cut)
    check_as_serial(packed.substr(0, packed.size() - cut));
  for (int i = 0; i < 10; ++i) check_as_serial(packed.substr(0, 20 + rng() % (packed.size() - 20)));
  check_as_serial(packed + "text that is not gzip");
  for (const std::size_t from_end : {8u, 4u}) {
    std::string wrong = packed;
    wrong[wrong.size() - from_end] ^= 1;
    check_as_serial(wrong);
  }
  // Which kind of damage is met first may differ.
  const test::TempFolder folder;
  for (int i = 0; i < 20; ++i) {
    std::string flipped = packed;
    flipped[30 + rng() % (packed.size() - 30)] ^= static_cast<char>(1 << rng() % 8);
    const std::string path = folder.file("a.gz", flipped);
    const Outcome expected = read(path, -1);
    const Outcome got = read(path, 2);
    CHECK(got.error.empty() == expected.error.empty());
    CHECK((got.text == expected.text));
  }
}
