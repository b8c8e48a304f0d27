// Files that lie about themselves: each is refused in one line that names it, with memory and time
// of what is there.
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/kmer/combine.hpp"
#include "lib/kmer/database/jellyfish/bloom_counter.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/minhash_sketch.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kmer/files.hpp"

using namespace biogpu;
using kmer::Format;

namespace {

// Reads, looks up and sorts, as the commands do.
std::string error_of(const std::string& path) {
  std::string text;
  const auto note = [&](const std::function<void()>& use) {
    try {
      use();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::bad_input);
      text = error.what();
      CHECK(text.starts_with(path + ": "));
      CHECK(text.size() < path.size() + 250);
      CHECK(text.find('\n') == std::string::npos);
    }
  };
  note([&] { kmer::Lookup::open(path); });
  text.clear();
  note([&] { test::read_database(path); });
  const std::string of_reading = text;
  note([&] {
    kmer::Combiner combiner(
        {path, path}, [](const kmer::Header& first) { return kmer::order_for_size(first.k, 64); },
        {});
    for (kmer::CountBlock block; combiner.read(
             block, [](const auto& of) -> std::optional<std::uint64_t> { return of.counts[0]; });) {
    }
  });
  return of_reading;
}

// A .jf file with this JSON and records behind it.
std::string jellyfish_bytes(const std::string& json, const std::string& records = "") {
  std::string digits = std::to_string(json.size());
  return std::string(9 - digits.size(), '0') + digits + json + records;
}

nlohmann::json good_header() {
  return {{"format", "binary/sorted"},
          {"key_len", 12},
          {"counter_len", 2},
          {"size", 64},
          {"matrix1",
           {{"r", 6},
            {"c", 12},
            {"identity", false},
            {"columns", {9, 33, 5, 61, 2, 40, 32, 16, 8, 4, 2, 1}}}}};
}

}  // namespace

TEST_CASE("kmer.jellyfish_file: a header's numbers are checked before they are used", "[kmer]") {
  test::TemporaryFile file;
  const auto error_with = [&](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json header = good_header();
    change(header);
    file.write(jellyfish_bytes(header.dump(), std::string(40, '\1')));
    return error_of(file.path());
  };
  CHECK(error_with([](auto&) {}).empty());
  const std::vector<std::function<void(nlohmann::json&)>> changes{
      [](auto& h) { h["size"] = std::uint64_t{1} << 13; },  // above 4^k
      [](auto& h) { h["size"] = std::uint64_t{1} << 13, h["matrix1"]["r"] = 13; },
      [](auto& h) {
        h["size"] = std::uint64_t{1} << 50;
        h["matrix1"] = {{"r", 50}, {"c", 12}, {"identity", true}};
      },
      [](auto& h) { h["size"] = 0; },
      [](auto& h) { h["size"] = 65; },
      [](auto& h) { h["size"] = -64; },
      [](auto& h) { h["size"] = "64"; },
      [](auto& h) { h["matrix1"]["columns"][3] = 64; },  // above 6 rows
      [](auto& h) { h["matrix1"]["columns"][7] = std::uint64_t{1} << 60; },
      [](auto& h) { h["matrix1"]["columns"][0] = -1; },
      [](auto& h) { h["matrix1"]["columns"][0] = 1.5; },
      [](auto& h) { h["matrix1"]["columns"].erase(2); },
      [](auto& h) { h["matrix1"]["columns"] = 7; },
      [](auto& h) { h["matrix1"]["r"] = 5; },
      [](auto& h) { h["matrix1"]["c"] = -12; },
      [](auto& h) { h["matrix1"] = nullptr; },
      [](auto& h) { h.erase("matrix1"); },
      [](auto& h) { h["key_len"] = (std::uint64_t{1} << 32) + 12; },
      [](auto& h) { h["key_len"] = 13; },
      [](auto& h) { h["key_len"] = 514; },
      [](auto& h) { h["counter_len"] = 9; },
      [](auto& h) { h["counter_len"] = 0; },
      [](auto& h) { h["max_reprobe"] = 2'000'000'000; },
      [](auto& h) { h["max_reprobe"] = -1; },
      [](auto& h) { h["canonical"] = "yes"; },
      [](auto& h) { h["cmdline"] = 5; },
      [](auto& h) {
        h["cmdline"] = {"count", nullptr};
      },
      [](auto& h) { h["hostname"] = nlohmann::json::array(); },
      [](auto& h) { h["format"] = std::string(9000, 'f'); },
      [](auto& h) { h["format"] = 3; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(error_with(changes[i]).empty());
  }
}

TEST_CASE("kmer.jellyfish_file: nested headers and wrong lengths are refused", "[kmer]") {
  test::TemporaryFile file;
  for (const std::string& json :
       {"{\"a\":" + std::string(400'000, '['),
        "{\"a\":" + std::string(70, '[') + std::string(70, ']') + "}", std::string("{"),
        std::string("{}"), "{\"format\":\"" + std::string(50'000, '\xff') + "\"}"}) {
    file.write(jellyfish_bytes(json));
    CHECK_FALSE(error_of(file.path()).empty());
  }
  file.write("999999999{");
  CHECK_FALSE(error_of(file.path()).empty());
  file.write("000000000{");
  CHECK_FALSE(error_of(file.path()).empty());
  // A k-mer of 6 bases has 12 bits: the highest 4 of its second byte are none.
  file.write(jellyfish_bytes(good_header().dump(), std::string("\x01\x10\x01\x00", 4)));
  CHECK(error_of(file.path()).find("bits") != std::string::npos);
}

TEST_CASE("kmer.combine: records out of the order of the header are refused", "[kmer]") {
  test::TemporaryFile file;
  nlohmann::json header = good_header();
  header["size"] = 4096;
  header["matrix1"] = {{"r", 12}, {"c", 12}, {"identity", true}};
  file.write(jellyfish_bytes(header.dump(), std::string("\x05\x00\x01\x00\x04\x00\x01\x00", 8)));
  const auto combine = [&] {
    kmer::Combiner combiner({file.path()}, {}, {});
    for (kmer::CountBlock block;
         combiner.read(block, [](const auto&) -> std::optional<std::uint64_t> { return 1; });) {
    }
  };
  CHECK_THROWS_AS(combine(), Error);
}

namespace {

std::string big_endian(std::uint64_t value, int n_bytes) {
  std::string bytes;
  for (int i = n_bytes - 1; i >= 0; --i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string kff_begin(std::uint64_t k, std::uint64_t max, std::uint64_t data_size,
                      std::uint64_t m = 0) {
  std::string bytes("KFF\1\0\x1b\1\0\0\0\0\0v", 13);
  bytes += big_endian(m > 0 ? 4 : 3, 8);
  const auto add = [&](const std::string& name, std::uint64_t value) {
    bytes += name + '\0' + big_endian(value, 8);
  };
  add("k", k);
  add("max", max);
  add("data_size", data_size);
  if (m > 0) add("m", m);
  return bytes;
}

}  // namespace

TEST_CASE("kmer.kff: numbers of the file size no memory and no loop", "[kmer]") {
  test::TemporaryFile file;
  const std::string all_ones = big_endian(UINT64_MAX, 8);
  for (const std::string& bytes : {
           kff_begin(9, UINT64_MAX, 1) + "r" + big_endian(1, 8) + all_ones,
           kff_begin(9, UINT64_MAX - 3, 1) + "r" + big_endian(1, 8) + big_endian(UINT64_MAX - 5, 8),
           kff_begin(9, std::uint64_t{1} << 47, 1) + "r" + big_endian(1, 8) +
               big_endian((std::uint64_t{1} << 47) - 1, 6) + "abcdef",
           kff_begin(9, 1, 1) + "r" + all_ones,
           kff_begin(1, 1, 0, 1) + "m\1" + all_ones,  // blocks of no bytes
           kff_begin(9, 1, 9),
           kff_begin(300, 1, 1),
           kff_begin(9, 1, 1, 10) + "m",
           kff_begin(9, 255, 1, 3) + "m\1" + big_endian(1, 8) + "\2\xff\1\1\1\1",
           kff_begin(9, 1, 1) + "v" + all_ones,
           kff_begin(9, 1, 1) + "i" + all_ones,
           kff_begin(9, 1, 1) + "q",
           std::string("KFF\1\0\x1b\1\0\0\0\0\0r", 13) + big_endian(3, 8),
           std::string("KFF\1\0\xff\1\0\0\0\0\0", 12) + kff_begin(9, 1, 1).substr(12) + "KFF",
       }) {
    file.write(bytes);
    CHECK_FALSE(error_of(file.path()).empty());
  }
}

TEST_CASE("kmer.kff: sequences of many k-mers are read across blocks", "[kmer]") {
  // ACGTACGT... of 200,002 3-mers: code 0x1b a byte.
  const std::uint64_t n = 200'002;
  test::TemporaryFile file;
  std::string counts;
  for (std::uint64_t i = 0; i < n; ++i) counts += static_cast<char>(1 + i % 3);
  file.write(kff_begin(3, 1u << 20, 1) + "r" + big_endian(1, 8) + big_endian(n, 3) +
             std::string((n + 2) / 4, '\x1b') + counts + "KFF");
  test::NaiveCounts expected;
  for (std::uint64_t i = 0; i < n; ++i)
    expected[std::string("ACGTACG").substr(i % 4, 3)] += 1 + i % 3;
  CHECK(test::read_database(file.path()) == expected);
}

TEST_CASE("kmer.bgk: what a file says of itself is compared with what is read", "[kmer]") {
  test::TemporaryFile file;
  test::write_database(file, test::header_for(19, 0, true, Format::bgk),
                       test::tricky_sequences(11, 3000));
  const std::string whole = file.read();
  REQUIRE(whole.size() > 8000);
  REQUIRE(error_of(file.path()).empty());
  // The head of each block zeroed: the rest would pass for the index.
  std::uint32_t n_bytes = 0;
  for (std::size_t at = 16; at + 12 < whole.size() && n_bytes < 100'000;) {
    std::memcpy(&n_bytes, whole.data() + at, 4);
    if (n_bytes == 0) break;
    std::string damaged = whole;
    damaged.replace(at, 8, 8, '\0');
    file.write(damaged);
    CHECK_FALSE(error_of(file.path()).empty());
    at += 12 + n_bytes;
  }
  // Any byte at all: heads, keys, counts, index, provenance and trailer.
  for (std::size_t at = 0; at < whole.size(); at += 1 + at % 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    file.write(damaged);
    CAPTURE(at);
    CHECK_FALSE(error_of(file.path()).empty());
  }
}

TEST_CASE("kmer.bgk: files of version 1 are read, and compared too", "[kmer]") {
  // AAC 1, AAG 300, CCC 2 in the form without checksums.
  const std::string payload("\x01\x01\x01\xac\x02\x13\x02", 7);
  const std::string json = "{}";
  const auto file_of = [&](std::uint64_t n_keys, std::uint64_t total, const std::string& records) {
    std::string bytes("BIOGPUK\1\3\0\0\0\0\0\0\0", 16);
    const auto add = [&](std::uint64_t value, int n) {
      for (int i = 0; i < n; ++i) bytes += static_cast<char>(value >> 8 * i);
    };
    add(records.size(), 4);
    add(3, 4);
    bytes += records;
    add(0, 8);
    const std::uint64_t index = bytes.size();
    bytes += '\1';
    add(16, 8);
    bytes += json;
    for (const std::uint64_t value : {n_keys, total, std::uint64_t{1}, index, json.size()})
      add(value, 8);
    return bytes + std::string("BIOGPUK\1", 8);
  };
  test::TemporaryFile file;
  file.write(file_of(3, 303, payload));
  CHECK(test::read_database(file.path()) ==
        test::NaiveCounts{{"AAC", 1}, {"AAG", 300}, {"CCC", 2}});
  std::uint64_t count = 0;
  const std::uint64_t key = 2;  // AAG
  kmer::Lookup::open(file.path())->find(&key, {&count, 1});
  CHECK(count == 300);
  for (const std::string& bytes :
       {file_of(2, 303, payload), file_of(3, 304, payload),
        file_of(3, 303, std::string("\x01\x01\x00\xac\x02\x13\x02", 7)),     // one key twice
        file_of(3, 303, std::string("\x01\x01\x7f\xac\x02\x13\x02", 7))}) {  // beyond 3 bases
    file.write(bytes);
    CHECK_FALSE(error_of(file.path()).empty());
  }
  file.write(file_of(3, 303, std::string("\x01\x01\x01\xab\x02\x13\x02", 7)));  // 299 for 300
  CHECK(error_of(file.path()).find("303") != std::string::npos);
}

TEST_CASE("kmer.bloom_counter: other formats and lying headers are refused", "[kmer]") {
  test::TemporaryFile file;
  const auto error = [&](const std::string& bytes) {
    file.write(bytes);
    try {
      kmer::BloomCounter::read(file.path());
    } catch (const Error& thrown) {
      CHECK(thrown.code() == ErrorCode::bad_input);
      CHECK(std::string(thrown.what()).starts_with(file.path() + ": "));
      return true;
    }
    return false;
  };
  std::vector<std::uint64_t> columns(10, 77);
  nlohmann::json header = {{"format", "bloomcounter"},
                           {"key_len", 10},
                           {"size", 40},
                           {"nb_hashes", 3},
                           {"matrix1", {{"columns", columns}}},
                           {"matrix2", {{"columns", columns}}}};
  const std::string counters(8, '\0');
  CHECK_FALSE(error(jellyfish_bytes(header.dump(), counters)));
  CHECK_FALSE(error(jellyfish_bytes(header.dump(), std::string(8, '\xf2'))));
  CHECK(error(jellyfish_bytes(header.dump(), "\xf3" + counters.substr(1))));
  CHECK(error(jellyfish_bytes(header.dump(), counters.substr(1) + "\xff")));
  CHECK(error(jellyfish_bytes(header.dump(), counters.substr(1))));
  CHECK(error("985000000{\"format\""));
  CHECK(error("123456789"));
  CHECK(error(""));
  CHECK(error(jellyfish_bytes(std::string(100'000, '['))));
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"format", 5},
                                                           {"format", nullptr},
                                                           {"format", "binary/sorted"},
                                                           {"key_len", 11},
                                                           {"key_len", -10},
                                                           {"key_len", "10"},
                                                           {"size", 0},
                                                           {"size", std::uint64_t{1} << 47},
                                                           {"size", UINT64_MAX},
                                                           {"nb_hashes", 0},
                                                           {"nb_hashes", 65},
                                                           {"matrix1", 4},
                                                           {"matrix2", {{"columns", {1, 2}}}},
                                                           {"canonical", 1}}) {
    nlohmann::json changed = header;
    changed[key] = value;
    CAPTURE(key, value.dump());
    CHECK(error(jellyfish_bytes(changed.dump(), counters)));
  }
}

TEST_CASE("kmer.sketch: a damaged file is refused", "[kmer]") {
  const nlohmann::json good = {
      {"format", "biogpu sketch"},
      {"version", 1},
      {"k", 11},
      {"size", 3},
      {"seed", 7},
      {"sketches", {{{"name", "a"}, {"length", 40}, {"hashes", {2, 5, 9}}}}}};
  kmer::SketchOptions options;
  CHECK(kmer::parse_sketches(good.dump(), "s.json", options)[0].hashes.size() == 3);
  const std::vector<std::function<void(nlohmann::json&)>> changes{
      [](auto& j) { j["k"] = 33; },
      [](auto& j) { j["k"] = 0; },
      [](auto& j) { j["k"] = (std::uint64_t{1} << 32) + 11; },
      [](auto& j) { j["size"] = 0; },
      [](auto& j) { j["size"] = 2; },
      [](auto& j) { j["seed"] = -1; },
      [](auto& j) { j["version"] = 2; },
      [](auto& j) { j["format"] = 1; },
      [](auto& j) { j["sketches"] = 4; },
      [](auto& j) { j["sketches"][0] = "a"; },
      [](auto& j) {
        j["sketches"][0]["hashes"] = {2, 9, 5};
      },
      [](auto& j) {
        j["sketches"][0]["hashes"] = {2, 2};
      },
      [](auto& j) { j["sketches"][0]["hashes"] = {-2}; },
      [](auto& j) { j["sketches"][0]["length"] = "x"; },
      [](auto& j) { j["sketches"][0]["length"] = 2; },  // below the number of hashes
      [](auto& j) { j["sketches"][0]["name"] = 5; },
      [](auto& j) { j.erase("k"); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    nlohmann::json changed = good;
    changes[i](changed);
    CHECK_THROWS_AS(kmer::parse_sketches(changed.dump(), "s.json", options), Error);
  }
  CHECK_THROWS_AS(kmer::parse_sketches(std::string(200'000, '['), "s.json", options), Error);
}
