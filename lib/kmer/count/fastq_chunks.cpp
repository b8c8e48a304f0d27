#include "lib/kmer/count/fastq_chunks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "lib/core/error.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/io/records/scan.hpp"
#include "lib/io/sequence_reader.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kMoreBytes = 64u << 10;  // read at a time to complete a chunk's last record

bool is_blank(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

// As io::input::FastqSource has it: a name right after '@', no carriage return inside the line.
bool is_header(std::string_view line) {
  return line.starts_with('@') && io::input::count_nonblank(line.data() + 1, line.size() - 1) > 0 &&
         line.find('\r') == std::string_view::npos;
}

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

  // The line at `at` without its end, which is skipped. Where the text ends first, what is left of
  // it; nothing unless that is the file's end.
  std::optional<std::string_view> line(bool at_end = false) {
    const void* newline = std::memchr(at, '\n', left());
    if (newline == nullptr && !at_end) return std::nullopt;
    const char* const stop = newline == nullptr ? end : static_cast<const char*>(newline);
    std::string_view text(at, static_cast<std::size_t>(stop - at));
    at = newline == nullptr ? end : stop + 1;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    return text;
  }
};

struct Record {
  std::string_view sequence;
  std::string_view quality;
};

enum class Parsed { whole, cut, malformed };

// One record; `at_end`: the text's end is the file's.
Parsed parse_record(Cursor& cursor, bool at_end, Record& record) {
  if (*cursor.at != '@') return Parsed::malformed;
  const auto name = cursor.line(at_end);
  const auto sequence = name ? cursor.line(at_end) : std::nullopt;
  const auto plus = sequence ? cursor.line(at_end) : std::nullopt;
  const auto quality = plus ? cursor.line(at_end) : std::nullopt;
  if (!quality) return Parsed::cut;
  if (!is_header(*name) || !plus->starts_with('+')) return Parsed::malformed;
  record = {*sequence, *quality};
  const bool good =
      sequence->size() == quality->size() &&
      io::input::count_residues(sequence->data(), sequence->size()) == sequence->size() &&
      io::input::count_qualities(quality->data(), quality->size()) == quality->size();
  return good ? Parsed::whole : Parsed::malformed;
}

// Whether a record seems to begin on this line: by its first three lines.
Parsed begins_record(Cursor cursor) {
  cursor.skip_indent();
  if (cursor.left() == 0) return Parsed::cut;
  if (*cursor.at != '@') return Parsed::malformed;
  for (int i = 0; i < 2; ++i)
    if (!cursor.line()) return Parsed::cut;
  if (cursor.left() == 0) return Parsed::cut;
  return *cursor.at == '+' ? Parsed::whole : Parsed::malformed;
}

// Moves to the first record that begins at a line's begin in the text; false: more text is needed.
bool seek_record(Cursor& cursor) {
  while (cursor.line()) {
    const Parsed found = begins_record(cursor);
    if (found == Parsed::whole) return true;
    if (found == Parsed::cut) return false;
  }
  return false;
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
  if (path == "-") return nullptr;
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
    Cursor cursor{text.data(), text.data() + text.size()};
    while (!seek_record(cursor)) {
      if (!more()) return 0;  // the last record began in an earlier chunk
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
      const Parsed next = begins_record(cursor);
      if (next == Parsed::cut && more()) continue;
      if (next != Parsed::whole) refuse();
      return n_records;
    }
    Record record;
    switch (parse_record(cursor, at_end, record)) {
      case Parsed::malformed:
        refuse();
      case Parsed::cut:
        at_end = !more();
        continue;
      case Parsed::whole:
        break;
    }
    visit(record.sequence, record.quality);
    ++n_records;
    at = static_cast<std::size_t>(cursor.at - text.data());
  }
}

// Reads the file once more, in order, for a message that names record and line.
void FastqChunks::refuse() const {
  io::SequenceReader reader(path_);
  for (io::SequenceBatch batch; reader.read(batch);) {
  }
  throw Error(ErrorCode::bad_input, fmt::format("{}: a record is malformed", path_));
}

}  // namespace biogpu::kmer
