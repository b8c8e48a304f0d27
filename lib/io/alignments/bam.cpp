#include "lib/io/alignments/bam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::io::input {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");

constexpr std::string_view kMagic("BAM\1", 4);
constexpr std::size_t kNumberBytes = sizeof(std::uint32_t);
constexpr std::uint32_t kMaxNumber = 0x7fffffff;  // the format's numbers are signed

// Where a record holds what, from the byte after its size.
constexpr std::size_t kNameBytes = 8;
constexpr std::size_t kCigarLength = 12;
constexpr std::size_t kFlag = 14;
constexpr std::size_t kSequenceLength = 16;
constexpr std::size_t kFixedBytes = 32;

template <class Number>
Number read_at(const char* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(number));
  return number;
}

}  // namespace

bool is_bam(std::string_view head) { return head.substr(0, kMagic.size()) == kMagic; }

BamSource::BamSource(TextWindow& text, std::string label) : text_(text), label_(std::move(label)) {
  skip(kMagic.size());
  skip(take_number());  // the header as text
  const std::uint32_t n_targets = take_number();
  for (std::uint32_t i = 0; i < n_targets; ++i) {
    skip(std::uint64_t{take_number()} + kNumberBytes);  // name and length
  }
}

bool BamSource::next(SequenceBatch& batch) {
  for (;;) {
    if (!text_.has_text()) return false;
    ++record_;
    const bool has_size = has(kNumberBytes);
    const std::size_t size = has_size ? read_at<std::uint32_t>(text_.begin()) : 0;
    if (has_size && (size < kFixedBytes || size > kMaxNumber)) {
      refuse_record(label_, record_, 0, "malformed: its size is out of range");
    }
    if (!has_size || !has(kNumberBytes + size)) {
      refuse_record(label_, record_, 0, "ends inside the record; the file may be cut short");
    }
    const char* const record = text_.begin() + kNumberBytes;
    const PackedRead read = parse(record, size);
    if (read.is_primary()) appender_.append(batch, read);
    text_.skip_to(record + size);
    if (read.is_primary()) return true;
  }
}

// Checks that the fields fit into the record.
PackedRead BamSource::parse(const char* record, std::size_t n_bytes) const {
  PackedRead read;
  const std::size_t name_bytes = read_at<std::uint8_t>(record + kNameBytes);
  const std::size_t cigar_bytes = kNumberBytes * read_at<std::uint16_t>(record + kCigarLength);
  const auto n_residues = read_at<std::uint32_t>(record + kSequenceLength);
  const std::size_t begin = kFixedBytes + name_bytes + cigar_bytes;
  const std::uint64_t end = begin + (std::uint64_t{n_residues} + 1) / 2 + n_residues;
  if (n_residues > kMaxNumber || end > n_bytes) {
    refuse_record(label_, record_, 0, "malformed: its fields do not fit into its size");
  }
  const char* const name = record + kFixedBytes;
  if (name_bytes == 0 || name[name_bytes - 1] != '\0') {
    refuse_record(label_, record_, 0, "malformed: its name does not end");
  }
  read.name = name;  // up to the first zero byte: some writers pad with more of them
  if (read.name.empty()) refuse_record(label_, record_, 0, "the name is empty");
  read.flag = read_at<std::uint16_t>(record + kFlag);
  read.n_residues = n_residues;
  read.residues = reinterpret_cast<const std::uint8_t*>(record + begin);
  read.phred = read.residues + (n_residues + 1) / 2;
  return read;
}

// Whether n_bytes are left; they then lie at text_.begin().
bool BamSource::has(std::size_t n_bytes) {
  while (text_.size() < n_bytes) {
    if (!text_.refill()) return false;
  }
  return true;
}

// The next number of the header.
std::uint32_t BamSource::take_number() {
  if (!has(kNumberBytes)) refuse_header();
  const auto number = read_at<std::uint32_t>(text_.begin());
  if (number > kMaxNumber) refuse_header();
  text_.skip_to(text_.begin() + kNumberBytes);
  return number;
}

void BamSource::skip(std::uint64_t n_bytes) {
  while (n_bytes > 0) {
    if (!text_.has_text()) refuse_header();
    const std::uint64_t part = std::min<std::uint64_t>(n_bytes, text_.size());
    text_.skip_to(text_.begin() + part);
    n_bytes -= part;
  }
}

void BamSource::refuse_header() const {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: the BAM header is malformed or cut short", label_));
}

}  // namespace biogpu::io::input
