#include "lib/bio/genome/vcf/vcf_header.hpp"

#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/kstring.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/hts_handles.hpp"
#include "lib/io/input/byte_order_mark.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kHeaderPieceBytes = 1u << 20;
// Of IDX, by which htslib sizes its tables: below a million.
constexpr std::ptrdiff_t kMaxIdxDigits = 6;

struct FreeLine {
  void operator()(kstring_t* line) const {
    std::free(line->s);
    delete line;
  }
};

// Whether htslib may take what begins at `at` for a key: behind "<" or ",", or behind any character
// that follows the end of a quoted value, and spaces.
bool may_be_key(std::string_view line, std::size_t at) {
  constexpr std::string_view kSeparators = "<,", kQuoteEnds = "\"]";
  const std::size_t before = line.find_last_not_of(' ', at - 1);
  if (before == line.npos) return false;
  return kSeparators.find(line[before]) != kSeparators.npos ||
         kQuoteEnds.find(line[before]) != kQuoteEnds.npos ||
         (before > 0 && kQuoteEnds.find(line[before - 1]) != kQuoteEnds.npos);
}

bool has_too_many_digits(std::string_view value) {
  std::ptrdiff_t n_digits = 0;
  for (const unsigned char c : value) {
    n_digits = std::isdigit(c) ? n_digits + 1 : 0;
    if (n_digits > kMaxIdxDigits) return true;
  }
  return false;
}

// Whether a line ##NAME=<...> has "IDX = number", quoted or not, with too many digits.
bool has_large_idx(std::string_view line) {
  constexpr std::string_view kKey = "IDX";
  const std::size_t open = line.find('=') + 1;  // 0 where there is none
  if (!line.starts_with("##") || open == 0 || open >= line.size() || line[open] != '<')
    return false;
  for (std::size_t at = open; (at = line.find(kKey, at)) != line.npos; at += kKey.size()) {
    const std::size_t equals = line.find_first_not_of(' ', at + kKey.size());
    if (equals == line.npos || line[equals] != '=' || !may_be_key(line, at)) continue;
    if (has_too_many_digits(line.substr(equals, line.find_first_of(",>", equals) - equals)))
      return true;
  }
  return false;
}

void require_columns(std::string_view line, const std::string& label) {
  constexpr std::string_view kColumns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO";
  if (line.starts_with(kColumns) &&
      (line.size() == kColumns.size() || line[kColumns.size()] == '\t'))
    return;
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: the header is malformed: its last line is {}; expected #CHROM, POS, "
                          "ID, REF, ALT, QUAL, FILTER and INFO, separated by tabs",
                          label, quoted(line)));
}

// Up to the line #CHROM. False where the file ends or has another line before it.
bool read_vcf_text(htsFile& file, std::string& text, const std::string& label) {
  const std::unique_ptr<kstring_t, FreeLine> owned(new kstring_t{0, 0, nullptr});
  while (hts_getline(&file, '\n', owned.get()) >= 0) {
    std::string_view line(owned->s, owned->l);
    if (text.empty()) {
      line = io::input::without_mark(line, label);
      if (!line.starts_with("##fileformat=VCF"))
        throw Error(ErrorCode::bad_input, fmt::format("{}: {}", label, kExpectedVcf));
    }
    if (line.empty()) continue;
    if (line.front() != '#') return false;
    text += line;
    text += '\n';
    if (line.starts_with("##")) continue;
    require_columns(line, label);
    return true;
  }
  return false;
}

bool read_bcf_text(BGZF* file, std::string& text) {
  constexpr std::string_view kMagic("BCF\2\2", 5);
  unsigned char head[9];
  if (bgzf_read(file, head, sizeof head) != sizeof head ||
      std::memcmp(head, kMagic.data(), kMagic.size()) != 0)
    return false;
  std::size_t n_left = head[5] | head[6] << 8 | head[7] << 16 | std::size_t{head[8]} << 24;
  while (n_left > 0) {
    const std::size_t n = std::min(n_left, kHeaderPieceBytes), before = text.size();
    text.resize(before + n);
    if (bgzf_read(file, text.data() + before, n) != static_cast<ssize_t>(n)) return false;
    n_left -= n;
  }
  text.resize(std::strlen(text.c_str()));  // BCF ends it by a null byte
  return true;
}

}  // namespace

bcf_hdr_t* read_vcf_header(htsFile& file, bool is_text, const std::string& label) {
  std::string text;
  if (is_text ? !read_vcf_text(file, text, label) : !read_bcf_text(file.fp.bgzf, text))
    return nullptr;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (has_large_idx(line))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: line {} of the header: IDX is too large; expected less than a "
                              "million",
                              label, number));
  }
  io::VcfHeader header(bcf_hdr_init("r"));
  if (!header || bcf_hdr_parse(header.get(), text.data()) < 0) return nullptr;
  return header.release();
}

}  // namespace biogpu::genome
