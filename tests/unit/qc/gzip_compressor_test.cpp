#include "lib/qc/output/gzip_compressor.hpp"

#include <string>

#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::qc;

TEST_CASE("qc.gzip_compressor: every level and form unpacks to the text", "[qc]") {
  std::string text;
  for (int i = 0; text.size() < 2500000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  for (const bool bgzf : {false, true})
    for (const int level : {1, 4}) {
      GzipCompressor compressor(level, bgzf);
      io::CharBuffer compressed;
      compressor.compress(text, compressed);
      compressor.compress("", compressed);
      std::string whole(compressed.view());
      whole += GzipCompressor::end_of_file(bgzf, false);
      CHECK(test::gunzip(whole) == text);
    }
}

TEST_CASE("qc.gzip_compressor: members hold about as much as each other", "[qc]") {
  const std::string text(900000, 'A');
  GzipCompressor compressor(1, false);
  io::CharBuffer half;
  compressor.compress(text.substr(0, 450000), half);
  io::CharBuffer whole;
  compressor.compress(text, whole);
  CHECK(whole.view() == std::string(half.view()) + std::string(half.view()));
}

TEST_CASE("qc.gzip_compressor: an empty file is a gzip file too", "[qc]") {
  for (const bool bgzf : {false, true})
    CHECK(test::gunzip(std::string(GzipCompressor::end_of_file(bgzf, true))).empty());
}
