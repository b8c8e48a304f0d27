#include "lib/kmer/sequences/packed_text.hpp"

#include <atomic>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/unit/kmer/naive.hpp"

using namespace biogpu;

namespace {

std::string unpacked(const kmer::PackedText& text) {
  io::CharBuffer letters;
  text.unpack(letters);
  return std::string(letters.view());
}

std::vector<kmer::PackedText> pack(const std::vector<std::string>& sequences, int k,
                                   std::size_t max_letters) {
  std::vector<kmer::PackedText> texts;
  kmer::TextPacker packer(k, 0, max_letters);
  packer.pack(
      [&](const kmer::AddSequence& add) {
        for (const std::string& sequence : sequences) add(sequence, {});
      },
      [&](kmer::PackedText text) { texts.push_back(std::move(text)); });
  return texts;
}

}  // namespace

TEST_CASE("kmer.packed_text: holds every letter, and N for what is no base", "[kmer]") {
  std::mt19937 rng(3);
  for (std::size_t n = 1; n < 200; ++n) {
    CAPTURE(n);
    const std::string sequence = test::random_letters(rng, n, "ACGTacgtNRU-\xff");
    const auto texts = pack({sequence}, 5, 1024);
    REQUIRE(texts.size() == 1);
    std::string expected = sequence;
    for (char& c : expected) {
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      if (std::string_view("ACGT").find(c) == std::string_view::npos) c = 'N';
    }
    expected.resize((n + 1 + 63) / 64 * 64, 'N');
    CHECK(unpacked(texts[0]) == expected);
  }
}

TEST_CASE("kmer.packed_text: how sequences are cut changes no k-mer", "[kmer]") {
  const auto sequences = test::tricky_sequences(4, 3000);
  for (const int k : {1, 21, 55, 100}) {
    test::NaiveCounts expected;
    for (const std::string& sequence : sequences) test::count_naively(sequence, k, false, expected);
    for (const std::size_t max_letters : {128u, 192u, 4096u, 1u << 20}) {
      CAPTURE(k, max_letters);
      test::NaiveCounts found;
      for (const kmer::PackedText& text : pack(sequences, k, max_letters)) {
        REQUIRE(text.n_letters() <= max_letters);
        test::count_naively(unpacked(text), k, false, found);
      }
      CHECK(found == expected);
    }
  }
}

TEST_CASE("kmer.packed_text: low qualities hide their bases", "[kmer]") {
  kmer::TextPacker packer(3, 'B', 128);
  std::string found;
  packer.pack([](const kmer::AddSequence& add) { add("ACGTAC", "ABCABC"); },
              [&](const kmer::PackedText& text) { found = unpacked(text).substr(0, 8); });
  CHECK(found == "NCGNACNN");
}

TEST_CASE("kmer.waiting_texts: every text is released once or refused", "[kmer]") {
  constexpr std::size_t kTexts = 400;
  for (const std::uint64_t max_bytes : {0u, 1000u, 1u << 20}) {
    CAPTURE(max_bytes);
    kmer::WaitingTexts waiting(max_bytes);
    std::atomic<std::size_t> n_refused{0};
    std::size_t n_released = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
          for (std::size_t i = 0; i < kTexts; ++i) {
            io::CharBuffer letters;
            letters.append("ACGT", 4);
            kmer::PackedText text(letters);
            if (waiting.keep(text)) continue;
            ++n_refused;
            if (unpacked(text).substr(0, 5) != "ACGTN") n_refused += kTexts * 4;
          }
        });
      std::this_thread::yield();
      waiting.release([&](const kmer::PackedText&) { ++n_released; });
    }
    waiting.release([&](const kmer::PackedText&) { ++n_released; });
    CHECK(n_released + n_refused == 3 * kTexts);
    if (max_bytes == 0) CHECK(n_released == 0);
  }
}
