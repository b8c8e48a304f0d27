#include "lib/io/records/chunk_producers.hpp"

#include <algorithm>
#include <utility>

namespace biogpu::io::input {
namespace {

constexpr std::size_t kMoreBytes = 64u << 10;  // read at a time to complete a chunk's last record
constexpr std::size_t kMargin = 4096;          // read with the chunk: most records are shorter
// Records longer than so many chunks are left to a serial reader, for memory's sake.
constexpr std::size_t kMaxChunks = 8;
constexpr std::size_t kNone = std::string_view::npos;

}  // namespace

// What was read of the file so far from an offset on.
class FileChunks::Text {
 public:
  Text(const RawFile& file, std::uint64_t begin, CharBuffer& bytes)
      : file_(file), begin_(begin), bytes_(bytes) {}

  std::string_view view() const { return bytes_.view(); }
  std::uint64_t begin() const { return begin_; }
  bool at_end() const { return at_end_; }

  void extend(std::size_t n) {
    const std::size_t size = bytes_.size();
    bytes_.resize(size + n);
    const std::size_t got = file_.read_at(begin_ + size, bytes_.data() + size, n);
    bytes_.resize(size + got);
    at_end_ = got < n;
  }

  // The first record at from or behind it but before `to`; npos where there is none, and where it
  // is not found within max_bytes.
  std::size_t find(RecordFormat format, std::size_t from, std::size_t to, std::size_t max_bytes) {
    while (!find_record(view(), format, from)) {
      if (at_end_ || from >= to || view().size() > max_bytes) return kNone;
      extend(kMoreBytes);
    }
    return from < to ? from : kNone;
  }

 private:
  const RawFile& file_;
  const std::uint64_t begin_;
  CharBuffer& bytes_;
  bool at_end_ = false;
};

FileChunks::FileChunks(const RawFile& file, std::uint64_t begin, ChunkParser parser)
    : file_(file),
      begin_(begin),
      end_(file.file_bytes()),
      parser_(std::move(parser)),
      next_(begin) {}

bool FileChunks::take(Block& block) {
  if (next_ >= end_) return false;
  chunk_of(block).begin = next_;
  next_ += std::min<std::uint64_t>(parser_.rules().chunk_bytes, end_ - next_);
  return true;
}

void FileChunks::finish(Block& block) {
  RecordChunk& chunk = chunk_of(block);
  const bool is_first = chunk.begin == begin_;
  const bool is_last = end_ - chunk.begin <= parser_.rules().chunk_bytes;
  // From the byte before on, which tells whether a line begins with the chunk.
  Text text(file_, chunk.begin - (is_first ? 0 : 1), block.text);
  chunk.ends_file = false;
  cut(text, chunk, is_first, is_last);
  if (chunk.whole && !chunk.text.empty()) parser_.parse(chunk, block.text);
}

// Sets text, begin and ends_file, and `whole` unless no end was found.
void FileChunks::cut(Text& text, RecordChunk& chunk, bool is_first, bool is_last) const {
  const ChunkRules& rules = parser_.rules();
  const std::size_t lead = is_first ? 0 : 1;
  const std::size_t nominal = lead + rules.chunk_bytes;
  const std::size_t max_bytes = nominal + kMaxChunks * rules.chunk_bytes;
  chunk.text = {};
  chunk.whole = true;
  text.extend(nominal + kMargin);
  const std::size_t begin = is_first ? 0 : text.find(rules.format, lead, nominal, max_bytes);
  if (begin == kNone) {
    chunk.whole = text.view().size() <= max_bytes;
    return;  // no record begins here
  }
  std::size_t end = is_last ? kNone : text.find(rules.format, nominal, kNone, max_bytes);
  while (is_last && !text.at_end() && text.view().size() <= max_bytes) text.extend(kMoreBytes);
  if (end == kNone) {
    chunk.ends_file = text.at_end();
    chunk.whole = text.at_end();
    end = text.view().size();
  }
  chunk.begin = text.begin() + begin;
  chunk.text = text.view().substr(begin, end - begin);
}

// Reads until the text has `size` bytes; false where it ends before.
bool TextChunks::fill(CharBuffer& text, std::size_t size) {
  const std::size_t n = text.size();
  if (n >= size || at_end_) return n >= size;
  text.resize(size);
  const std::size_t got = text_->take(text.data() + n, size - n);
  text.resize(n + got);
  at_end_ = n + got < size;
  return !at_end_;
}

// Where the chunk ends; npos where none is found within bounds.
std::size_t TextChunks::find_end(CharBuffer& text) {
  const ChunkRules& rules = parser_.rules();
  std::size_t from = rules.chunk_bytes;
  if (text.size() <= from) return text.size();
  while (!find_record(text.view(), rules.format, from)) {
    if (at_end_) return text.size();
    if (text.size() > kMaxChunks * rules.chunk_bytes + kMoreBytes) return kNone;
    fill(text, text.size() + kMoreBytes);
  }
  return from;
}

bool TextChunks::take(Block& block) {
  RecordChunk& chunk = chunk_of(block);
  CharBuffer& text = block.text;
  text.append(tail_.data(), tail_.size());
  tail_.clear();
  fill(text, parser_.rules().chunk_bytes + kMoreBytes);
  if (text.size() == 0) return false;
  std::size_t end = splits_ ? find_end(text) : kNone;
  chunk.whole = splits_ = end != kNone;
  if (end == kNone) end = text.size();
  tail_.append(text.data() + end, text.size() - end);
  text.resize(end);
  chunk.text = text.view();
  chunk.ends_file = at_end_ && tail_.size() == 0;
  return true;
}

void TextChunks::finish(Block& block) {
  RecordChunk& chunk = chunk_of(block);
  if (chunk.whole) parser_.parse(chunk, block.text);
}

}  // namespace biogpu::io::input
