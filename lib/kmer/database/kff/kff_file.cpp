#include "lib/kmer/database/kff/kff_file.hpp"

#include <algorithm>
#include <utility>

#include "lib/kmer/database/bgk/bgk_file.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kSectionRecords = 65536;
constexpr std::uint64_t kFooterBytes = 1 + 8 + 2 * (12 + 8);  // a section of two variables
constexpr unsigned char kEncoding = 0x1b;                     // two bits each for A, C, G, T

void append_big_endian(std::uint64_t value, int n_bytes, std::string& out) {
  for (int i = n_bytes - 1; i >= 0; --i) out += static_cast<char>(value >> 8 * i);
}

void append_variable(const char* name, std::uint64_t value, std::string& out) {
  out += name;
  out += '\0';
  append_big_endian(value, 8, out);
}

// The smallest number of bytes that other readers take and that holds the count: KMC's tools know
// counts of 1, 2 and 4 bytes and read all longer ones as 1.
int bytes_for_count(std::uint64_t count) {
  if (count <= UINT8_MAX) return 1;
  if (count <= UINT16_MAX) return 2;
  return count <= UINT32_MAX ? 4 : 8;
}

}  // namespace

KffEncoder::KffEncoder(const Header& header) : header_(header) { open_.clear(words_for(header.k)); }

std::string KffEncoder::begin() const {
  std::string bytes = "KFF";
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(kEncoding);
  bytes += '\1';  // each k-mer once
  bytes += header_.canonical ? '\1' : '\0';
  append_big_endian(0, 4, bytes);
  return bytes;
}

void KffEncoder::write(const CountBlock& block, io::OutputFile& out) {
  const auto n_words = static_cast<std::size_t>(block.n_words);
  for (std::size_t i = 0; i < block.size(); ++i) {
    open_.keys.insert(open_.keys.end(), block.key(i), block.key(i) + n_words);
    open_.counts.push_back(block.counts[i]);
    if (open_.size() == kSectionRecords) write_section(out);
  }
}

// k and the bytes of a count, for the sections behind.
void KffEncoder::write_variables(int count_bytes, io::OutputFile& out) {
  sections_.push_back({'v', out.bytes()});
  std::string bytes = "v";
  append_big_endian(4, 8, bytes);
  append_variable("k", static_cast<std::uint64_t>(header_.k), bytes);
  append_variable("max", 1, bytes);
  append_variable("data_size", static_cast<std::uint64_t>(count_bytes), bytes);
  append_variable("ordered", 1, bytes);
  out.write(bytes);
  count_bytes_ = count_bytes;
}

void KffEncoder::write_section(io::OutputFile& out) {
  if (open_.size() == 0) return;
  const int count_bytes =
      bytes_for_count(*std::max_element(open_.counts.begin(), open_.counts.end()));
  if (count_bytes != count_bytes_) write_variables(count_bytes, out);
  sections_.push_back({'r', out.bytes()});
  std::string bytes = "r";
  append_big_endian(open_.size(), 8, bytes);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    append_key_bytes(open_.key(i), header_.k, bytes);
    append_big_endian(open_.counts[i], count_bytes, bytes);
  }
  out.write(bytes);
  open_.clear(open_.n_words);
}

void KffEncoder::finish(io::OutputFile& out) {
  write_section(out);
  if (sections_.empty()) write_variables(1, out);  // a file without k-mers names its k too
  // An index of all sections, and where it lies: some readers find sections only through it.
  const std::uint64_t index = out.bytes();
  const std::uint64_t index_end = index + 1 + 8 + 9 * sections_.size() + 8;
  std::string bytes = "i";
  append_big_endian(sections_.size(), 8, bytes);
  for (const Section& section : sections_) {
    bytes += section.type;
    append_big_endian(section.offset - index_end, 8, bytes);
  }
  append_big_endian(0, 8, bytes);  // no further index
  bytes += 'v';
  append_big_endian(2, 8, bytes);
  append_variable("first_index", index, bytes);
  append_variable("footer_size", kFooterBytes, bytes);
  out.write(bytes + "KFF");
}

}  // namespace biogpu::kmer
