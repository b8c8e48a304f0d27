#include "lib/kmer/database/kff_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/kmer/database/native_file.hpp"
#include "lib/kmer/database/source.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kSectionRecords = 65536;
constexpr int kCountBytes = 8;
constexpr std::uint64_t kFileHeaderBytes = 12;
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

// Bytes that numbers up to max take in a file.
int bytes_for_number(std::uint64_t max) {
  int n = 0;
  for (std::uint64_t rest = max - 1; rest > 0; rest >>= 8) ++n;
  return n;
}

// Sections of raw sequences and of sequences around a minimizer; indexes are skipped.
class KffSource : public DatabaseReader::Source {
 public:
  explicit KffSource(std::unique_ptr<io::input::RawFile> file) : file_(std::move(file)) {
    header.format = Format::kff;
    read_file_header();
    while (header.k == 0 && next_section()) {
    }
    if (header.k == 0) refuse("it has no k");
  }

  bool read(CountBlock& block) override {
    block.clear(words_for(header.k));
    while (block.size() < kSectionRecords) {
      if (blocks_left_ > 0) {
        read_block(block);
        --blocks_left_;
      } else if (at_end_ || !next_section()) {
        break;
      }
    }
    return block.size() > 0;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", file_->label(), what));
  }

  void take(void* to, std::size_t n) {
    if (file_->read(static_cast<char*>(to), n) < n)
      refuse("the file ends early; it may be cut short");
  }
  std::uint64_t number(int n_bytes) {
    std::array<unsigned char, 8> bytes{};
    take(bytes.data(), static_cast<std::size_t>(n_bytes));
    std::uint64_t value = 0;
    for (int i = 0; i < n_bytes; ++i) value = value << 8 | bytes[static_cast<std::size_t>(i)];
    return value;
  }
  void skip(std::uint64_t n) {
    std::array<char, 4096> bytes{};
    for (; n > 0; n -= std::min<std::uint64_t>(n, bytes.size()))
      take(bytes.data(), static_cast<std::size_t>(std::min<std::uint64_t>(n, bytes.size())));
  }

  void read_file_header() {
    skip(3);  // "KFF"
    const std::uint64_t major = number(1);
    skip(1);
    if (major != 1) refuse(fmt::format("is KFF version {}; expected 1", major));
    const std::uint64_t encoding = number(1);
    for (std::size_t letter = 0; letter < 4; ++letter)
      code_of_[encoding >> (6 - 2 * letter) & 3] = static_cast<std::uint8_t>(letter);
    skip(1);  // unique
    header.canonical = number(1) != 0;
    skip(number(4));  // free text
  }

  // Stops behind the head of a section with sequences. False at the end of the file.
  bool next_section() {
    const auto type = static_cast<char>(number(1));
    switch (type) {
      case 'v':
        read_variables();
        return true;
      case 'r':
        minimizer_bases_ = 0;
        blocks_left_ = number(8);
        return true;
      case 'm':
        read_minimizer();
        return true;
      case 'i':
        skip_index();
        return true;
      case 'K':
        at_end_ = true;
        return false;
      default:
        refuse(fmt::format("a section of type '{}'", type));
    }
  }

  void read_variables() {
    for (std::uint64_t n = number(8); n > 0; --n) {
      std::string name;
      for (char c = 0; (take(&c, 1), c) != '\0';) {
        name += c;
        if (name.size() > 256) refuse("a variable without an end");
      }
      variables_[name] = number(8);
    }
    const std::uint64_t k = variables_["k"];
    if (k < 1 || k > static_cast<std::uint64_t>(kMaxK))
      refuse(fmt::format("k is {}; expected 1 to {}", k, kMaxK));
    if (header.k != 0 && header.k != static_cast<int>(k)) refuse("k changes inside the file");
    if (variables_["data_size"] > 8) refuse("counts of more than 8 bytes");
    header.k = static_cast<int>(k);
    header.order = KeyOrder::unordered(header.k);
  }

  void read_minimizer() {
    minimizer_bases_ = static_cast<std::size_t>(variables_["m"]);
    if (minimizer_bases_ == 0 || minimizer_bases_ > static_cast<std::size_t>(header.k))
      refuse("a minimizer without a length");
    minimizer_.clear();
    read_bases(minimizer_bases_, minimizer_);
    blocks_left_ = number(8);
  }

  void skip_index() {
    for (std::uint64_t n = number(8); n > 0; --n) skip(9);
    skip(8);
  }

  // Right-aligned in whole bytes.
  void read_bases(std::size_t n, std::string& bases) {
    std::string bytes((n + 3) / 4, '\0');
    take(bytes.data(), bytes.size());
    const std::size_t pad = 4 * bytes.size() - n;
    for (std::size_t i = pad; i < 4 * bytes.size(); ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i / 4]);
      bases += static_cast<char>(code_of_[byte >> (6 - 2 * (i % 4)) & 3]);
    }
  }

  void read_block(CountBlock& block) {
    const auto k = static_cast<std::size_t>(header.k);
    const std::uint64_t max = variables_["max"];
    const std::uint64_t n = max > 1 ? number(bytes_for_number(max)) : 1;
    if (n > std::max<std::uint64_t>(1, max)) refuse("a block of more k-mers than it may have");
    if (n == 0) return;
    const int count_bytes = static_cast<int>(variables_["data_size"]);
    const std::size_t n_bases = n + k - 1;
    std::string bases;
    if (minimizer_bases_ == 0) {
      read_bases(n_bases, bases);
    } else {
      const std::uint64_t at = number(bytes_for_number(k + max - 1));
      read_bases(n_bases - minimizer_bases_, bases);
      if (at > bases.size()) refuse("a minimizer outside its sequence");
      bases.insert(at, minimizer_);
    }
    with_words(header.k, [&]<int kWords>() {
      RollingKey<kWords> window(header.k);
      for (std::size_t i = 0; i < n_bases; ++i) {
        window.push(static_cast<std::uint64_t>(bases[i]));
        if (i + 1 < k) continue;
        const Key<kWords>& key = header.canonical ? window.canonical() : window.forward();
        block.keys.insert(block.keys.end(), key.word.begin(), key.word.end());
      }
    });
    for (std::uint64_t i = 0; i < n; ++i)
      block.counts.push_back(count_bytes == 0 ? 1 : number(count_bytes));
  }

  std::unique_ptr<io::input::RawFile> file_;
  std::array<std::uint8_t, 4> code_of_{};  // ours for the file's
  std::map<std::string, std::uint64_t> variables_;
  std::uint64_t blocks_left_ = 0;
  std::size_t minimizer_bases_ = 0;  // 0: a section of raw sequences
  std::string minimizer_;
  bool at_end_ = false;
};

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
  bytes += 'v';
  append_big_endian(4, 8, bytes);
  append_variable("k", static_cast<std::uint64_t>(header_.k), bytes);
  append_variable("max", 1, bytes);
  append_variable("data_size", kCountBytes, bytes);
  append_variable("ordered", 1, bytes);
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

void KffEncoder::write_section(io::OutputFile& out) {
  if (open_.size() == 0) return;
  raw_sections_.push_back(out.bytes());
  std::string bytes = "r";
  append_big_endian(open_.size(), 8, bytes);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    append_key_bytes(open_.key(i), header_.k, bytes);
    append_big_endian(open_.counts[i], kCountBytes, bytes);
  }
  out.write(bytes);
  open_.clear(open_.n_words);
}

void KffEncoder::finish(io::OutputFile& out) {
  write_section(out);
  // An index of all sections, and where it lies: some readers find sections only through it.
  const std::uint64_t index = out.bytes();
  const std::uint64_t n_sections = raw_sections_.size() + 1;
  const std::uint64_t index_end = index + 1 + 8 + 9 * n_sections + 8;
  std::string bytes = "i";
  append_big_endian(n_sections, 8, bytes);
  bytes += 'v';
  append_big_endian(kFileHeaderBytes - index_end, 8, bytes);
  for (const std::uint64_t section : raw_sections_) {
    bytes += 'r';
    append_big_endian(section - index_end, 8, bytes);
  }
  append_big_endian(0, 8, bytes);  // no further index
  bytes += 'v';
  append_big_endian(2, 8, bytes);
  append_variable("first_index", index, bytes);
  append_variable("footer_size", kFooterBytes, bytes);
  out.write(bytes + "KFF");
}

bool is_kff(std::string_view head) { return head.substr(0, 3) == "KFF"; }

std::unique_ptr<DatabaseReader::Source> open_kff(const std::string& path,
                                                 std::unique_ptr<io::input::RawFile> file) {
  auto source = std::make_unique<KffSource>(std::move(file));
  source->path = path;
  return source;
}

}  // namespace biogpu::kmer
