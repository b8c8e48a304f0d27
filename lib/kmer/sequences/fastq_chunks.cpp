#include "lib/kmer/sequences/fastq_chunks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "lib/core/error.hpp"
#include "lib/io/file_kind.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/io/records/fastq_record.hpp"
#include "lib/io/sequence_reader.hpp"

namespace biogpu::kmer {
namespace {

using io::input::FastqParse;
using io::input::FastqRecord;
using io::input::parse_fastq_record;

constexpr std::size_t kMoreBytes = 64u << 10;  // read at a time to complete a chunk's last record

bool is_blank(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

// A text and how far it is parsed.
struct Cursor {
  const char* at;
  const char* end;

  std::size_t left() const { return static_cast<std::size_t>(end - at); }

  void skip_blanks() {
    while (at < end && is_blank(*at)) ++at;
  }

  // Those before a name on its line.
  void skip_indent() {
    while (at < end && *at != '\n' && is_blank(*at)) ++at;
  }

  // Moves to the next line; false where the text ends first.
  bool skip_line() {
    const void* newline = std::memchr(at, '\n', left());
    if (newline == nullptr) return false;
    at = static_cast<const char*>(newline) + 1;
    return true;
  }
};

// Whether a record seems to begin on this line: by its first three lines.
FastqParse begins_record(Cursor cursor) {
  cursor.skip_indent();
  if (cursor.left() == 0) return FastqParse::cut;
  if (*cursor.at != '@') return FastqParse::malformed;
  for (int i = 0; i < 2; ++i)
    if (!cursor.skip_line()) return FastqParse::cut;
  if (cursor.left() == 0) return FastqParse::cut;
  return *cursor.at == '+' ? FastqParse::whole : FastqParse::malformed;
}

// Moves to the first record that begins at a line's begin, and before `limit`. cut: more text is
// needed to tell; malformed: none begins there. A text without line ends is not read on: of a long
// record every chunk would be read to the record's end.
FastqParse seek_record(Cursor& cursor, const char* limit) {
  while (cursor.skip_line() && cursor.at < limit) {
    const FastqParse found = begins_record(cursor);
    if (found != FastqParse::malformed) return found;
  }
  return FastqParse::malformed;
}

// Where the line of `name` begins, from `at` on, which lies before it. A record belongs to the
// chunk that this is in: only a line's begin can be found from the middle of a text.
std::size_t line_begin(const io::CharBuffer& text, std::size_t at, const char* name) {
  const char* begin = name;
  while (begin > text.data() + at && begin[-1] != '\n') --begin;
  return static_cast<std::size_t>(begin - text.data());
}

}  // namespace

std::unique_ptr<FastqChunks> FastqChunks::open(const std::string& path, std::size_t chunk_bytes) {
  if (io::passes_once(path)) return nullptr;  // to open it would use it up
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;  // SequenceReader says why
  struct stat status {};
  char first = 0;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      pread(descriptor, &first, 1, 0) != 1 || first != '@') {
    close(descriptor);
    return nullptr;
  }
  // SAM begins with '@' too: its first line has a tag and tabs.
  std::array<char, 4> head{};
  if (pread(descriptor, head.data(), head.size(), 0) == 4 && head[3] == '\t') {
    close(descriptor);
    return nullptr;
  }
  return std::unique_ptr<FastqChunks>(
      new FastqChunks(path, descriptor, static_cast<std::uint64_t>(status.st_size), chunk_bytes));
}

FastqChunks::~FastqChunks() { close(descriptor_); }

std::size_t FastqChunks::n_chunks() const {
  return static_cast<std::size_t>((file_bytes_ + chunk_bytes_ - 1) / chunk_bytes_);
}

// Appends n bytes of the file, or what is left of it.
void FastqChunks::fetch(std::uint64_t offset, std::size_t n, io::CharBuffer& to) const {
  const std::size_t before = to.size();
  to.resize(before + n);
  std::size_t done = 0;
  while (done < n) {
    const ssize_t got =
        pread(descriptor_, to.data() + before + done, n - done, static_cast<off_t>(offset + done));
    if (got == 0 && offset + done < file_bytes_)
      throw Error(ErrorCode::failed, fmt::format("{}: {}", path_, io::kBecameShorter));
    if (got == 0) break;
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      throw Error(ErrorCode::failed, fmt::format("{}: cannot be read: {}", path_,
                                                 std::generic_category().message(errno)));
  }
  to.resize(before + done);
}

std::uint64_t FastqChunks::read(std::size_t chunk, io::CharBuffer& text, const Visit& visit) const {
  // One byte before the chunk tells whether a line begins with it.
  const std::uint64_t begin = chunk == 0 ? 0 : chunk * chunk_bytes_ - 1;
  const std::uint64_t end = std::min<std::uint64_t>((chunk + 1) * chunk_bytes_, file_bytes_);
  text.clear();
  fetch(begin, static_cast<std::size_t>(end - begin) + kMoreBytes, text);
  const auto n_own = static_cast<std::size_t>(end - begin);  // records that begin before are ours
  const auto more = [&] {
    const std::size_t before = text.size();
    fetch(begin + before, std::max(kMoreBytes, before), text);
    return text.size() > before;
  };
  std::size_t at = 0;
  if (chunk > 0) {
    // In a chunk before, whose reader goes on to the end of the last record that begins there.
    Cursor cursor{text.data(), text.data() + text.size()};
    for (FastqParse found;
         (found = seek_record(cursor, text.data() + n_own)) != FastqParse::whole;) {
      if (found == FastqParse::malformed || !more()) return 0;
      cursor = {text.data(), text.data() + text.size()};
    }
    at = static_cast<std::size_t>(cursor.at - text.data());
  }
  std::uint64_t n_records = 0;
  bool at_end = false;
  while (true) {
    Cursor cursor{text.data() + at, text.data() + text.size()};
    cursor.skip_blanks();
    if (cursor.left() == 0) {
      if (more()) continue;
      return n_records;
    }
    if (line_begin(text, at, cursor.at) >= n_own) {
      // The next chunk's first record: a file that is cut inside it must not pass for whole.
      const FastqParse next = begins_record(cursor);
      if (next == FastqParse::cut && more()) continue;
      if (next != FastqParse::whole) throw_bad_input();
      return n_records;
    }
    FastqRecord record;
    switch (parse_fastq_record(cursor.at, cursor.end, at_end, record)) {
      case FastqParse::malformed:
        throw_bad_input();
      case FastqParse::cut:
        at_end = !more();
        continue;
      case FastqParse::whole:
        break;
    }
    visit({record.sequence, record.n_residues}, {record.quality, record.n_symbols});
    ++n_records;
    at = static_cast<std::size_t>(record.next - text.data());
  }
}

// Reads the file once more, in order, for a message that names record and line.
void FastqChunks::throw_bad_input() const {
  io::SequenceReader reader(path_);
  for (io::SequenceBatch batch; reader.read(batch);) {
  }
  throw Error(ErrorCode::bad_input, fmt::format("{}: a record is malformed", path_));
}

}  // namespace biogpu::kmer
