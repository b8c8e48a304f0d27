// Reading KFF files: sections of raw sequences and of sequences around a minimizer; indexes are
// skipped. A number of the file sizes no memory before the bytes that it promises were read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kKeysAtOnceOfKff = 65536;
constexpr std::uint64_t kMaxKffKeys = std::uint64_t{1} << 48;  // of a block

// Bytes that numbers up to max take in a file.
int bytes_for_number(std::uint64_t max) {
  int n = 0;
  for (std::uint64_t rest = max - 1; rest > 0; rest >>= 8) ++n;
  return n;
}

// A block's sequence as the file packs it, a minimizer apart.
struct KffSequence {
  std::string packed;          // right-aligned in whole bytes
  std::uint64_t n_packed = 0;  // bases
  std::string minimizer;       // a code a base
  std::uint64_t minimizer_at = 0;
  std::uint64_t n_keys = 0;
  std::uint64_t next_key = 0;  // the first that is not yet read

  bool at_end() const { return next_key == n_keys; }
  std::uint64_t packed_code(std::uint64_t i) const {
    const std::uint64_t at = 4 * packed.size() - n_packed + i;
    return static_cast<unsigned char>(packed[at / 4]) >> (6 - 2 * (at % 4)) & 3;
  }
  // In the file's encoding.
  std::uint64_t code(std::uint64_t i) const {
    if (i < minimizer_at) return packed_code(i);
    if (i - minimizer_at < minimizer.size())
      return static_cast<std::uint64_t>(minimizer[i - minimizer_at]);
    return packed_code(i - minimizer.size());
  }
};

class KffSource : public DatabaseReader::Source {
 public:
  explicit KffSource(std::unique_ptr<io::input::RawFile> file) : file_(std::move(file)) {
    header.format = Format::kff;
    read_file_header();
    while (header.k == 0 && next_section()) {
    }
    if (header.k == 0) throw_bad_input("it has no k");
  }

  bool read(CountBlock& block) override {
    block.clear(words_for(header.k));
    while (block.size() < kKeysAtOnceOfKff) {
      if (!sequence_.at_end())
        read_keys(block);
      else if (blocks_left_ > 0)
        begin_block();
      else if (at_end_ || !next_section())
        break;
    }
    return block.size() > 0;
  }

 private:
  [[noreturn]] void throw_bad_input(const std::string& what) const {
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", file_->label(), what));
  }

  void take(void* to, std::size_t n) {
    if (file_->read(static_cast<char*>(to), n) < n)
      throw_bad_input("the file ends early; it may be cut short");
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
  // Grows with what is there.
  void take_text(std::uint64_t n, std::string& text) {
    constexpr std::uint64_t kStep = 1u << 20;
    text.clear();
    while (text.size() < n) {
      const std::size_t before = text.size();
      text.resize(before + static_cast<std::size_t>(std::min(kStep, n - before)));
      take(text.data() + before, text.size() - before);
    }
  }

  void read_file_header() {
    skip(3);  // "KFF"
    const std::uint64_t major = number(1);
    skip(1);
    if (major != 1) throw_bad_input(fmt::format("is KFF version {}; expected 1", major));
    const std::uint64_t encoding = number(1);
    unsigned seen = 0;
    for (std::size_t letter = 0; letter < 4; ++letter) {
      const std::uint64_t code = encoding >> (6 - 2 * letter) & 3;
      seen |= 1u << code;
      code_of_[code] = static_cast<std::uint8_t>(letter);
    }
    if (seen != 15)
      throw_bad_input(fmt::format("its encoding is 0x{:02x}: two letters are alike", encoding));
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
        sequence_.minimizer.clear();
        begin_sequences();
        return true;
      case 'm':
        read_minimizer();
        begin_sequences();
        return true;
      case 'i':
        skip_index();
        return true;
      case 'K':
        at_end_ = true;
        return false;
      default:
        throw_bad_input(fmt::format("a section of type '{}'", shortened({&type, 1})));
    }
  }

  void read_variables() {
    for (std::uint64_t n = number(8); n > 0; --n) {
      std::string name;
      for (char c = 0; (take(&c, 1), c) != '\0';) {
        name += c;
        if (name.size() > 256) throw_bad_input("a variable without an end");
      }
      variables_[name] = number(8);
    }
    const std::uint64_t k = variables_["k"];
    if (k < 1 || k > static_cast<std::uint64_t>(kMaxK))
      throw_bad_input(fmt::format("k is {}; expected 1 to {}", k, kMaxK));
    if (header.k != 0 && header.k != static_cast<int>(k))
      throw_bad_input("k changes inside the file");
    if (variables_["data_size"] > 8) throw_bad_input("counts of more than 8 bytes");
    if (variables_["max"] > kMaxKffKeys)
      throw_bad_input(fmt::format("max is {}; expected up to {}", variables_["max"], kMaxKffKeys));
    max_keys_ = std::max<std::uint64_t>(1, variables_["max"]);
    count_bytes_ = static_cast<int>(variables_["data_size"]);
    header.k = static_cast<int>(k);
    header.order = KeyOrder::unordered(header.k);
  }

  void require_k() const {
    if (header.k == 0) throw_bad_input("sequences come before k");
  }

  void begin_sequences() {
    require_k();
    blocks_left_ = number(8);
  }

  void read_minimizer() {
    require_k();
    const std::uint64_t n = variables_["m"];
    if (n == 0 || n > static_cast<std::uint64_t>(header.k))
      throw_bad_input("a minimizer without a length");
    KffSequence packed;
    packed.n_packed = n;
    packed.minimizer_at = n;
    take_text((n + 3) / 4, packed.packed);
    sequence_.minimizer.clear();
    for (std::uint64_t i = 0; i < n; ++i)
      sequence_.minimizer += static_cast<char>(packed.packed_code(i));
  }

  void skip_index() {
    for (std::uint64_t n = number(8); n > 0; --n) skip(9);
    skip(8);
  }

  // Reads what stands before the counts of a block.
  void begin_block() {
    const std::uint64_t begin = file_->bytes_read();
    const std::uint64_t n = max_keys_ > 1 ? number(bytes_for_number(max_keys_)) : 1;
    if (n > max_keys_) throw_bad_input("a block of more k-mers than it may have");
    --blocks_left_;
    sequence_.n_keys = n;
    sequence_.next_key = 0;
    if (n == 0) return;
    const auto k = static_cast<std::uint64_t>(header.k);
    const std::uint64_t n_minimizer = sequence_.minimizer.size();
    sequence_.n_packed = n + k - 1 - n_minimizer;
    sequence_.minimizer_at = sequence_.n_packed;
    if (n_minimizer > 0) sequence_.minimizer_at = number(bytes_for_number(k + max_keys_ - 1));
    if (sequence_.minimizer_at > sequence_.n_packed)
      throw_bad_input("a minimizer outside its sequence");
    take_text((sequence_.n_packed + 3) / 4, sequence_.packed);
    if (file_->bytes_read() == begin && count_bytes_ == 0)
      throw_bad_input("blocks that take no bytes: their number says nothing");
  }

  // The next k-mers of the block, and their counts.
  void read_keys(CountBlock& block) {
    const auto k = static_cast<std::uint64_t>(header.k);
    const std::uint64_t first = sequence_.next_key;
    const std::uint64_t n =
        std::min<std::uint64_t>(sequence_.n_keys - first, kKeysAtOnceOfKff - block.size());
    with_words(header.k, [&]<int kWords>() {
      RollingKey<kWords> window(header.k);
      for (std::uint64_t i = 0; i < n + k - 1; ++i) {
        window.push(code_of_[sequence_.code(first + i)]);
        if (i + 1 < k) continue;
        const Key<kWords>& key = header.canonical ? window.canonical() : window.forward();
        block.keys.insert(block.keys.end(), key.word.begin(), key.word.end());
      }
    });
    for (std::uint64_t i = 0; i < n; ++i)
      block.counts.push_back(count_bytes_ == 0 ? 1 : number(count_bytes_));
    sequence_.next_key += n;
  }

  std::unique_ptr<io::input::RawFile> file_;
  std::array<std::uint8_t, 4> code_of_{};  // ours for the file's
  std::map<std::string, std::uint64_t> variables_;
  std::uint64_t max_keys_ = 1;  // of a block
  int count_bytes_ = 0;
  std::uint64_t blocks_left_ = 0;
  KffSequence sequence_;
  bool at_end_ = false;
};

}  // namespace

bool is_kff(std::string_view head) { return head.substr(0, 3) == "KFF"; }

std::unique_ptr<DatabaseReader::Source> open_kff(const std::string& path,
                                                 std::unique_ptr<io::input::RawFile> file) {
  auto source = std::make_unique<KffSource>(std::move(file));
  source->path = path;
  return source;
}

}  // namespace biogpu::kmer
