// Records that several threads parse, chunk by chunk, compared with those of one thread.
#include "lib/io/records/record_chunks.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using test::TempFolder;

namespace {

struct Reading {
  int n_threads = 1;
  std::size_t chunk_bytes = io::SequenceReader::kChunkBytes;
  io::BatchLimits limits;
  bool any = false;  // read_any()
  io::RecordRange range;
  std::uint64_t max_piece = UINT64_MAX;  // split_records()
  std::size_t overlap = 0;
  bool words = false;
};

// All that a reader gives, as text, with the error that ends it.
std::string read_as_text(const std::string& path, const Reading& how) {
  std::string text;
  try {
    io::SequenceReader reader(path, how.n_threads, how.words, how.chunk_bytes);
    reader.select(how.range);
    if (how.max_piece != UINT64_MAX) reader.split_records(how.max_piece, how.overlap);
    io::SequenceBatch batch;
    std::uint64_t next = how.range.begin + 1;
    while (how.any ? reader.read_any(batch, how.limits) : reader.read(batch, how.limits)) {
      if (how.max_piece == UINT64_MAX) CHECK(batch.first_record() == next);
      next += batch.size();
      for (std::size_t i = 0; i < batch.size(); ++i)
        for (const std::string_view field :
             {batch.name(i), batch.comment(i), batch.sequence(i), batch.quality(i)})
          (text += field) += '|';
    }
    text.append(" ").append(std::to_string(reader.n_records()));
    text.append(" ").append(std::to_string(reader.n_residues()));
  } catch (const Error& error) {
    text.assign("error ").append(std::to_string(static_cast<int>(error.code())));
    text.append(" ").append(error.what());
  }
  return text;
}

// With 1, 2 and 4 threads and chunks of many sizes, by each way of reading.
void check_same(const std::string& path, Reading how = {}) {
  const std::string expected = read_as_text(path, how);
  for (const int n_threads : {2, 4})
    for (const std::size_t chunk_bytes : {40, 64, 333, 5000})
      for (const bool any : {false, true}) {
        CAPTURE(path, n_threads, chunk_bytes, any);
        how.n_threads = n_threads;
        how.chunk_bytes = chunk_bytes;
        how.any = any;
        CHECK(read_as_text(path, how) == expected);
      }
}

void check_text(const TempFolder& folder, const std::string& text) {
  CAPTURE(text);
  check_same(folder.file("plain", text));
  Reading small;
  small.limits = {3, 50};
  check_same(folder.file("small", text), small);
}

struct TextRules {
  bool fastq = false;
  std::string_view newline = "\n";
  std::size_t max_length = 60;
  bool damaged = false;
};

std::string random_text(std::mt19937& random, const TextRules& rules) {
  constexpr std::string_view kLetters = "ACGTNacgtnRYKMUuWX*-.";
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  std::string text;
  const int n_records = 1 + static_cast<int>(random() % 60);
  for (int i = 0; i < n_records; ++i) {
    text += rules.fastq ? '@' : '>';
    text.append("r").append(std::to_string(i));
    if (one_in(3)) text += " a >b @c +d";
    text += rules.newline;
    std::string sequence(one_in(6) ? 0 : random() % (rules.max_length + 1), 'A');
    if (one_in(25)) sequence.resize(700);
    for (char& c : sequence) c = kLetters[random() % kLetters.size()];
    if (rules.fastq) {
      std::string quality(sequence.size(), '!');
      for (char& c : quality) c = "@+>I~!"[random() % 6];
      text.append(sequence)
          .append(rules.newline)
          .append(one_in(4) ? "+@x" : "+")
          .append(rules.newline);
      text.append(quality).append(rules.newline);
      if (one_in(8)) text.append(rules.newline).append(" \t").append(rules.newline);
    } else {
      for (std::size_t at = 0; at < sequence.size(); at += 17)
        text.append(sequence, at, 17).append(one_in(20) ? " " : "").append(rules.newline);
      if (one_in(8)) text += rules.newline;
    }
  }
  if (one_in(3)) text.resize(text.size() - rules.newline.size());
  if (rules.damaged)
    for (int i = 0; i < 2; ++i) {
      const std::size_t at = random() % text.size();
      if (one_in(2))
        text[at] = "@+>\n\r 5A"[random() % 8];
      else
        text.erase(at, 1 + random() % 4);
    }
  return text;
}

}  // namespace

TEST_CASE("io.record_chunks: where records begin", "[io]") {
  using io::input::RecordFormat;
  const auto found = [](std::string_view text, RecordFormat format, std::size_t from) {
    const bool is_found = io::input::find_record(text, format, from);
    return is_found ? std::to_string(from) : "none, on from " + std::to_string(from);
  };
  const std::string_view fasta = ">a >\nAC\n>b\n";
  CHECK(found(fasta, RecordFormat::fasta, 1) == "8");
  CHECK(found(fasta, RecordFormat::fasta, 8) == "8");
  CHECK(found(fasta, RecordFormat::fasta, 9) == "none, on from 11");
  const std::string_view fastq = "@a\nAC\n+\n@+\n@b\nA\n+\n@\n@c\n";
  CHECK(found(fastq, RecordFormat::fastq, 1) == "11");
  CHECK(found(fastq, RecordFormat::fastq, 11) == "11");
  CHECK(found(fastq, RecordFormat::fastq, 12) == "none, on from 18");
}

TEST_CASE("io.record_chunks: random texts", "[io]") {
  const TempFolder folder;
  std::mt19937 random(30);
  for (int turn = 0; turn < 24; ++turn) {
    TextRules rules;
    rules.fastq = turn % 2 == 1;
    if (turn % 4 >= 2) rules.newline = "\r\n";
    rules.max_length = turn % 3 == 0 ? 3 : 60;
    check_text(folder, random_text(random, rules));
  }
}

TEST_CASE("io.record_chunks: the errors of damaged texts", "[io]") {
  const TempFolder folder;
  std::mt19937 random(31);
  int n_errors = 0;
  for (int turn = 0; turn < 60; ++turn) {
    TextRules rules;
    rules.fastq = turn % 3 != 0;
    rules.damaged = true;
    const std::string text = random_text(random, rules);
    check_text(folder, text);
    n_errors += read_as_text(folder.path("plain"), {}).starts_with("error") ? 1 : 0;
  }
  CHECK(n_errors > 20);
}

TEST_CASE("io.record_chunks: chunks that would parse alone but not where they are", "[io]") {
  const TempFolder folder;
  const std::string good = "@a\nACGT\n+\nIIII\n";
  // A record without quality before one that looks whole, with and without residues.
  for (std::size_t shift = 0; shift < 40; ++shift) {
    const std::string before = good + "@a " + std::string(shift, 'x') + "\nA\n+\nI\n";
    check_text(folder, before + "@b\n\n+\n@c\nAC\n+\nII\n" + good);
    check_text(folder, before + "@b\nA\n+\n@c\nAC\n+\nII\n" + good);
  }
  check_text(folder, good + " @b\nAC\n+\nII\n" + good + good);
  check_text(folder, good + "@b\nAC\n+\nII");
  check_text(folder, ">a\nAC\n>\nAC\n>b\nAC\n");
  check_text(folder, ">a\nAC\nA>C\n>b\nAC\n");
}

TEST_CASE("io.record_chunks: compressed files and pipes", "[io]") {
  std::signal(SIGPIPE, SIG_IGN);  // the reader leaves where a record is malformed
  const TempFolder folder;
  std::mt19937 random(32);
  for (int turn = 0; turn < 6; ++turn) {
    TextRules rules;
    rules.fastq = turn % 2 == 1;
    rules.damaged = turn >= 4;
    std::string text;
    // Longer than a window, so that it is cut.
    for (int i = 0; i < 150; ++i) text += random_text(random, {rules.fastq, "\n", 90, false});
    if (rules.fastq) text += '\n';
    text += random_text(random, rules);
    const std::string expected = read_as_text(folder.file("plain", text), {});
    folder.file("packed.gz", test::gzip(text));
    folder.file("packed.bgzf", test::bgzf(folder, text));
    const std::string pipe = folder.path("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string name : {"packed.gz", "packed.bgzf", "pipe"}) {
      CAPTURE(name, turn);
      std::thread writer;
      if (name == "pipe")
        writer = std::thread([&] { std::ofstream(pipe, std::ios::binary) << text; });
      Reading how;
      how.n_threads = 3;
      how.chunk_bytes = 20'000;
      how.any = turn % 3 == 0;
      std::string got = read_as_text(folder.path(name), how);
      if (writer.joinable()) writer.join();
      const std::size_t at = got.find(folder.path(name));
      if (at != std::string::npos) got.replace(at, folder.path(name).size(), folder.path("plain"));
      CHECK(got == expected);
    }
    std::remove(pipe.c_str());
  }
}

TEST_CASE("io.record_chunks: long records, pieces of records, and ranges", "[io]") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text.append(">r").append(std::to_string(i)).append("\n");
    const std::size_t length = i % 7 == 3 ? 6000 : 31 * static_cast<std::size_t>(i) % 90;
    for (std::size_t at = 0; at < length; ++at) {
      text += "ACGT"[at * at % 4];
      if (at % 50 == 49) text += '\n';
    }
    text += '\n';
  }
  const std::string path = folder.file("long.fa", text);
  check_same(path);
  Reading pieces;
  pieces.overlap = 5;
  for (const std::uint64_t max_piece : {40, 80, 1000, 6000, 7000}) {
    pieces.max_piece = max_piece;
    check_same(path, pieces);
  }
  Reading some;
  for (const io::RecordRange range :
       {io::RecordRange{0, 4}, {3, 4}, {5, 29}, {29, 40}, {30, 31}, {7, UINT64_MAX}}) {
    some.range = range;
    check_same(path, some);
    some.limits = {2, 100};
    check_same(path, some);
  }
  Reading words;
  words.words = true;
  check_same(folder.file("words.fa", ">a\nAC<mask>\n[MASK] AC\n>b\nA <mask>\n>c\n>d\nAC\n>e\nA\n"),
             words);
}

// Batches of one record are those of a serial reader: others are whole chunks.
TEST_CASE("io.record_chunks: several threads parse what follows a long record", "[io]") {
  const TempFolder folder;
  const auto records = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text.append(">r").append(std::to_string(i)).append("\n").append(40, 'A').append("\n");
    return text;
  };
  const std::string long_record = ">long\n" + std::string(200000, 'C') + "\n";
  std::string text;
  for (int i = 0; i < 3; ++i) text.append(records(3000)).append(long_record);
  text += records(3000);
  const std::string path = folder.file("mixed.fa", text);
  io::SequenceReader reader(path, 4, false, 5000);
  io::SequenceBatch batch;
  std::vector<bool> chunks_behind(4, false);  // whether there were any behind so many long ones
  std::size_t n_long = 0, n_records = 0;
  while (reader.read_any(batch, {1})) {
    for (std::size_t i = 0; i < batch.size(); ++i) n_long += batch.name(i) == "long" ? 1 : 0;
    n_records += batch.size();
    if (batch.size() > 1) chunks_behind[n_long] = true;
  }
  CHECK(n_records == 12003);
  CHECK(chunks_behind == std::vector<bool>(4, true));
  check_same(path);
  // The line of an error far behind them.
  check_same(folder.file("bad.fa", text + ">\nA\n"));
}

TEST_CASE("io.record_chunks: a file that becomes shorter is reported", "[io]") {
  const TempFolder folder;
  for (const std::string record : {">r\nACGTACGT\n", "@r\nACGT\n+\nIIII\n"}) {
    std::string text;
    for (int i = 0; i < 60'000; ++i) text += record;
    const std::string path = folder.file("a", text);
    io::SequenceReader reader(path, 2, false, 10'000);
    io::SequenceBatch batch;
    CHECK(reader.read(batch, {5, 1000}));
    REQUIRE(::truncate(path.c_str(), static_cast<off_t>(record.size() * 50'000)) == 0);
    std::string message;
    try {
      while (reader.read(batch)) continue;
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(message.starts_with(path + ": became shorter"));
  }
}
