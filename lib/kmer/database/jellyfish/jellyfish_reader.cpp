// Jellyfish's databases from beginning to end, binary and text.
#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/io/char_buffer.hpp"
#include "lib/kmer/database/check_keys.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kJellyfishReadBytes = 1u << 20;

class JellyfishBinarySource : public DatabaseReader::Source {
 public:
  explicit JellyfishBinarySource(std::unique_ptr<io::input::RawFile> file)
      : file_(std::move(file)) {}

  bool read(CountBlock& block) override {
    block.clear(words_for(header.k));
    const std::size_t record = jellyfish_record_bytes(header);
    buffer_.resize(kJellyfishReadBytes / record * record);
    const std::size_t n = file_->read(buffer_.data(), buffer_.size());
    if (n % record != 0)
      throw_bad_input(file_->label(), "the file ends inside a record; it may be cut short");
    parse_jellyfish_records(header, {buffer_.data(), n}, block);
    check_key_bits(block, 0, header.k, file_->label());
    return n > 0;
  }

 private:
  std::unique_ptr<io::input::RawFile> file_;
  io::CharBuffer buffer_;
};

// Lines of a k-mer, a blank and a count.
class JellyfishTextSource : public DatabaseReader::Source {
 public:
  explicit JellyfishTextSource(std::unique_ptr<io::input::RawFile> file) : file_(std::move(file)) {}

  bool read(CountBlock& block) override {
    block.clear(words_for(header.k));
    std::string text = std::exchange(rest_, {});
    const std::size_t kept = text.size();
    text.resize(kept + kJellyfishReadBytes);
    const std::size_t got = file_->read(text.data() + kept, kJellyfishReadBytes);
    text.resize(kept + got);
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      parse_line(std::string_view(text).substr(begin, end - begin), block);
    rest_ = text.substr(begin);
    // A line that never ends is not collected.
    constexpr std::size_t kMaxCountText = 32;
    if (rest_.size() > static_cast<std::size_t>(header.k) + kMaxCountText)
      parse_line(std::exchange(rest_, {}), block);
    if (got < kJellyfishReadBytes && !rest_.empty()) parse_line(std::exchange(rest_, {}), block);
    return got > 0 || block.size() > 0;
  }

 private:
  void parse_line(std::string_view line, CountBlock& block) {
    ++line_;
    const auto k = static_cast<std::size_t>(header.k);
    std::uint64_t count = 0;
    const char* const end = line.data() + line.size();
    bool good = line.size() > k + 1 && line[k] == ' ';
    if (good) {
      const auto [at, error] = std::from_chars(line.data() + k + 1, end, count);
      good = error == std::errc{} && at == end;
    }
    std::vector<std::uint64_t> key(static_cast<std::size_t>(block.n_words), 0);
    for (std::size_t i = 0; good && i < k; ++i) {
      const std::size_t code = std::string_view("ACGT").find(line[i]);
      good = code != std::string_view::npos;
      const std::size_t from_end = k - 1 - i;
      key[key.size() - 1 - from_end / kBasesPerWord] |= static_cast<std::uint64_t>(code)
                                                        << 2 * (from_end % kBasesPerWord);
    }
    if (!good)
      throw_bad_input(file_->label(),
                      fmt::format("record {}: expected {} bases, a blank and a count", line_, k));
    block.keys.insert(block.keys.end(), key.begin(), key.end());
    block.counts.push_back(count);
  }

  std::unique_ptr<io::input::RawFile> file_;
  std::string rest_;
  std::uint64_t line_ = 0;
};

}  // namespace

std::unique_ptr<DatabaseReader::Source> open_jellyfish(const std::string& path,
                                                       std::unique_ptr<io::input::RawFile> file) {
  const std::string label = file->label();
  Header header = parse_jellyfish_header(read_jellyfish_header(*file), label);
  std::unique_ptr<DatabaseReader::Source> source;
  if (header.format == Format::jellyfish_text)
    source = std::make_unique<JellyfishTextSource>(std::move(file));
  else
    source = std::make_unique<JellyfishBinarySource>(std::move(file));
  source->header = std::move(header);
  source->path = path;
  return source;
}

}  // namespace biogpu::kmer
