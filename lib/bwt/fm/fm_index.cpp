// The FM-index as a file, and what can be asked of it without a search.
#include "lib/bwt/fm/fm_index.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "lib/bwt/fm/fm_check.hpp"
#include "lib/core/error.hpp"
#include "lib/core/run_on_threads.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::bwt {
namespace {

constexpr char kContradicts[] =
    "contradicts itself: rows, counts or positions lead nowhere; index the genome again";

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

}  // namespace

void FmIndex::refuse_walk() const { refuse(path_, kContradicts); }

std::uint64_t fm_checksum(const std::uint8_t* data, std::uint64_t bytes, int n_threads) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 24;
  const std::uint64_t n_pieces = (bytes - sizeof(FmHeader) + kPiece - 1) / kPiece;
  std::vector<std::uint32_t> sums(1 + n_pieces);
  sums[0] = libdeflate_crc32(0, data, offsetof(FmHeader, checksum));
  run_on_threads(n_threads, n_pieces, [&](std::size_t, std::size_t piece) {
    const std::uint64_t begin = sizeof(FmHeader) + piece * kPiece;
    sums[1 + piece] = libdeflate_crc32(0, data + begin, std::min(kPiece, bytes - begin));
  });
  return libdeflate_crc32(0, sums.data(), sums.size() * sizeof sums[0]);
}

FmIndex FmIndex::open(const std::string& path, int n_threads) {
  {
    // Mapped by itself, for all pages are read, and ahead.
    const io::MappedFile whole(path);
    if (whole.size() < sizeof(FmHeader))
      refuse(path, "is no biogpu index; expected a file made by 'biogpu bwt index'");
    const auto& header = *reinterpret_cast<const FmHeader*>(whole.data());
    check_fm_header(header, whole.size(), path);
    if (fm_checksum(whole.data(), whole.size(), n_threads) != header.checksum)
      refuse(path, "is damaged: its checksum is another; index the genome again");
    FmIndex read;
    read.data_ = whole.data();
    read.attach();
    read.parse_contigs(path);
    if (!fm_sections_agree(read, n_threads)) refuse(path, kContradicts);
  }
  FmIndex index;
  index.path_ = path;
  index.file_ = io::MappedFile(path, io::MappedFile::Access::scattered);
  index.data_ = index.file_.data();
  check_fm_header(*reinterpret_cast<const FmHeader*>(index.data_), index.file_.size(), path);
  index.attach();
  index.parse_contigs(path);
  return index;
}

io::OutputFile FmIndex::write(const std::string& path) const {
  io::OutputFile file(path);
  file.write({reinterpret_cast<const char*>(data_), bytes()});
  file.finish();
  return file;
}

void FmIndex::attach() {
  header_ = reinterpret_cast<const FmHeader*>(data_);
  const auto at = [&](FmSection s) { return data_ + header_->section[s].offset; };
  blocks_ = reinterpret_cast<const FmBlock*>(at(fm_blocks));
  stretches_ = reinterpret_cast<const FmStretch*>(at(fm_stretches));
  text_ = reinterpret_cast<const std::uint64_t*>(at(fm_text));
  starts_ = {reinterpret_cast<const FmStart*>(at(fm_starts)), header_->n_segments};
  segments_ = {reinterpret_cast<const FmSegment*>(at(fm_segments)), header_->n_segments};
}

void FmIndex::parse_contigs(const std::string& label) {
  const FmHeader::Section& section = header_->section[fm_contigs];
  std::string_view text(reinterpret_cast<const char*>(data_ + section.offset), section.bytes);
  contigs_.clear();
  while (!text.empty()) {
    const std::size_t line_end = text.find('\n');
    const std::string_view line = text.substr(0, line_end);
    FmContig contig;
    const auto [end, error] =
        std::from_chars(line.data(), line.data() + line.size(), contig.length);
    const auto tab = static_cast<std::size_t>(end - line.data());
    if (error != std::errc{} || line_end == text.npos || tab >= line.size() || line[tab] != '\t')
      refuse(label, "has a damaged list of records; index the genome again");
    contig.name = line.substr(tab + 1);
    contigs_.push_back(std::move(contig));
    text.remove_prefix(line_end + 1);
  }
  if (contigs_.size() != header_->n_contigs)
    refuse(label, "has a damaged list of records; index the genome again");
}

const FmSegment& FmIndex::segment_of(std::uint64_t i) const {
  const auto after =
      std::upper_bound(segments_.begin(), segments_.end(), i,
                       [](std::uint64_t at, const FmSegment& s) { return at < s.begin; });
  return *(after - 1);
}

std::uint64_t FmIndex::count_runs() const {
  std::uint64_t n_runs = 0;
  unsigned before = 5;
  for (std::uint64_t row = 0; row < header_->n_rows; ++row) {
    const FmBlock& block = blocks_[row / kFmBlockRows];
    const std::uint64_t word = row / 64 % 2;
    const auto bit = [&](std::uint64_t plane) {
      return static_cast<unsigned>(plane >> row % 64 & 1);
    };
    const unsigned symbol =
        bit(block.letter[word]) == 0 ? 4 : bit(block.low[word]) | bit(block.high[word]) << 1;
    n_runs += symbol != before ? 1 : 0;
    before = symbol;
  }
  return n_runs;
}

std::string FmIndex::extract(std::uint64_t contig, std::uint64_t begin, std::uint64_t end) const {
  std::string letters(end - begin, 'N');
  auto segment = std::lower_bound(segments_.begin(), segments_.end(), std::pair(contig, begin),
                                  [](const FmSegment& s, const auto& at) {
                                    return std::pair(s.contig, s.contig_begin + s.length) <=
                                           std::pair(at.first, at.second);
                                  });
  for (; segment != segments_.end() && segment->contig == contig && segment->contig_begin < end;
       ++segment) {
    const std::uint64_t from = std::max(begin, segment->contig_begin);
    const std::uint64_t to = std::min(end, segment->contig_begin + segment->length);
    for (std::uint64_t i = from; i < to; ++i)
      letters[i - begin] = "ACGT"[text_word(segment->begin + i - segment->contig_begin) >> 62];
  }
  return letters;
}

}  // namespace biogpu::bwt
