// Index files whose checksum is right and whose numbers are not, as no damage makes but anyone can.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "lib/bwt/fm/fm_index.hpp"
#include "lib/bwt/fm/fm_search.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"

using namespace biogpu;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::string temporary_path() {
  return std::filesystem::temp_directory_path() / ("biogpu_fm_check_" + std::to_string(::getpid()));
}

Bytes index_bytes(const std::string& letters, std::uint64_t n_records, std::uint64_t sample_rate) {
  bwt::Reference reference;
  std::string all;
  for (std::uint64_t r = 0; r < n_records; ++r) {
    reference.contigs.push_back({std::to_string(r), "", all.size(), letters.size(), 1});
    reference.holes.push_back({all.size() + letters.size() / 3, 2, 'N'});
    all += letters;
  }
  reference.text = test::pack_bases(all);
  bwt::FmIndex::Settings settings;
  settings.sample_rate = sample_rate;
  const bwt::FmIndex index = bwt::FmIndex::build(reference, settings);
  return {index.data(), index.data() + index.bytes()};
}

bwt::FmHeader& header_of(Bytes& bytes) { return *reinterpret_cast<bwt::FmHeader*>(bytes.data()); }

template <class T>
T* section(Bytes& bytes, bwt::FmSection s) {
  return reinterpret_cast<T*>(bytes.data() + header_of(bytes).section[s].offset);
}

bwt::FmIndex open_sealed(Bytes bytes) {
  header_of(bytes).checksum = bwt::fm_checksum(bytes.data(), bytes.size(), 1);
  const std::string path = temporary_path();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  struct Remove {
    ~Remove() { std::filesystem::remove(path); }
    const std::string& path;
  } const remove{path};
  return bwt::FmIndex::open(path, 2);
}

// Everything that the commands ask of an index. True where nothing was refused.
bool can_be_used(const Bytes& bytes) {
  try {
    const bwt::FmIndex index = open_sealed(bytes);
    bwt::PatternSet patterns;
    for (const std::string& letters : {std::string("A"), std::string("ACG"), std::string(40, 'C'),
                                       std::string("GTTACAGTAC"), test::random_text(5, 60, "ACGT")})
      patterns.append(letters);
    bwt::CpuSearch search(index);
    std::vector<bwt::Hit> hits;
    for (const std::uint32_t k : {0, 2})
      bwt::locate_patterns(index, search, patterns, 0, patterns.size(), k, hits);
    for (const bwt::Hit& hit : hits) REQUIRE(hit.contig < index.contigs().size());
    for (std::uint64_t c = 0; c < index.contigs().size(); ++c)
      (void)index.extract(c, 0, std::min<std::uint64_t>(index.contigs()[c].length, 100000));
    (void)index.count_runs();
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return false;
  }
}

}  // namespace

TEST_CASE("bwt.fm_check: no number of a file with a right checksum leads out of it", "[bwt]") {
  const Bytes sound = index_bytes(test::random_text(5, 260, "ACGT"), 3, 4);
  REQUIRE(can_be_used(sound));
  // All numbers of the header, some of each section.
  std::vector<std::size_t> places;
  for (std::size_t at = 8; at < 240; at += at == 8 ? 4 : 8)
    places.push_back(at == 12 ? 12 : at / 8 * 8);
  Bytes copy = sound;
  for (const bwt::FmHeader::Section& s : header_of(copy).section)
    for (std::uint64_t at = 0; at + 8 <= s.bytes; at += 8 * (1 + s.bytes / 160))
      places.push_back(s.offset + at);
  for (const std::size_t place : places) {
    std::uint64_t before = 0;
    std::memcpy(&before, sound.data() + place, 8);
    for (const std::uint64_t value :
         {std::uint64_t{0}, before - 1, before + 1, before + 64, before * 2, before ^ 1u << 31,
          std::uint64_t{1} << 32, std::uint64_t{1} << 59, std::uint64_t{1} << 63,
          ~std::uint64_t{0}}) {
      Bytes bytes = sound;
      std::memcpy(bytes.data() + place, &value, 8);
      INFO("byte " << place << ", " << before << " is " << value);
      (void)can_be_used(bytes);
    }
  }
}

TEST_CASE("bwt.fm_check: sections that contradict each other are refused", "[bwt]") {
  const Bytes sound = index_bytes(test::random_text(7, 500, "ACGT"), 2, 8);
  const auto refused = [&](const std::function<void(Bytes&)>& change) {
    Bytes bytes = sound;
    change(bytes);
    CHECK_THROWS_AS(open_sealed(bytes), Error);
  };
  const auto n_rows = [](Bytes& b) { return header_of(b).n_rows; };
  refused([](Bytes& b) { header_of(b).n_segments += std::uint64_t{1} << 59; });
  refused([](Bytes& b) { header_of(b).sample_rate = ~std::uint64_t{0}; });
  refused([](Bytes& b) { std::swap(header_of(b).first_row[1], header_of(b).first_row[2]); });
  refused([&](Bytes& b) { section<std::uint32_t>(b, bwt::fm_samples)[3] = 1u << 31; });
  refused([&](Bytes& b) {
    section<std::uint32_t>(b, bwt::fm_samples)[5] = static_cast<std::uint32_t>(n_rows(b));
  });
  refused([&](Bytes& b) {
    section<std::uint32_t>(b, bwt::fm_table)[1] = static_cast<std::uint32_t>(n_rows(b) + 1);
  });
  refused([](Bytes& b) { section<bwt::FmStart>(b, bwt::fm_starts)[1].position += 3; });
  refused([](Bytes& b) { section<bwt::FmStart>(b, bwt::fm_starts)[0].row += 1; });
  refused([](Bytes& b) { section<bwt::FmSegment>(b, bwt::fm_segments)[0].length += 1; });
  refused([](Bytes& b) { section<bwt::FmSegment>(b, bwt::fm_segments)[2].contig = 9; });
  refused([](Bytes& b) { section<bwt::FmSegment>(b, bwt::fm_segments)[1].contig_begin += 400; });
  refused([](Bytes& b) { section<bwt::FmBlock>(b, bwt::fm_blocks)[2].count[1] += 1; });
  refused([](Bytes& b) { section<bwt::FmBlock>(b, bwt::fm_blocks)[1].low[0] ^= 2; });
  refused([](Bytes& b) { section<bwt::FmStretch>(b, bwt::fm_stretches)[0].count[0] = 5; });
  refused([](Bytes& b) { section<char>(b, bwt::fm_contigs)[0] = '9'; });  // 500 is 900
}

TEST_CASE("bwt.fm_check: rows that lead in a circle end with an error", "[bwt]") {
  // The transform of A...A has its sentinel in the last row. In another row, each row behind it
  // leads to itself.
  bwt::Reference reference;
  reference.text = test::pack_bases(std::string(90, 'A'));
  reference.contigs = {{"a", "", 0, 90, 0}};
  bwt::FmIndex::Settings settings;
  settings.sample_rate = 64;
  const bwt::FmIndex index = bwt::FmIndex::build(reference, settings);
  Bytes bytes(index.data(), index.data() + index.bytes());
  auto& block = *section<bwt::FmBlock>(bytes, bwt::fm_blocks);
  auto& start = *section<bwt::FmStart>(bytes, bwt::fm_starts);
  REQUIRE(start.row == 90);
  block.letter[1] |= std::uint64_t{1} << (90 - 64);
  block.letter[0] &= ~(std::uint64_t{1} << 17);
  start.row = 17;
  const bwt::FmIndex circular = open_sealed(bytes);
  bwt::PatternSet patterns;
  patterns.append("AAAA");
  bwt::CpuSearch search(circular);
  std::vector<bwt::Hit> hits;
  CHECK_THROWS_AS(bwt::locate_patterns(circular, search, patterns, 0, 2, 0, hits), Error);
}
