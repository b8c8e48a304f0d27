#include "lib/bio/genome/faidx_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <deque>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/file_kind.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/input/warnings.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::genome {
namespace {

constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;  // sums of two do not overflow
constexpr std::size_t kPieceBytes = 1u << 20;
constexpr std::size_t kHeadBytes = 16;              // of the text, to know it by
constexpr std::uint64_t kMaxBlockBytes = 1u << 16;  // of a BGZF block, packed and as text

bool has_extra_field(std::string_view head) {  // of gzip, where bgzip has its block sizes
  return head.size() >= 16 && (head[3] & 4) != 0 && head[12] == 'B' && head[13] == 'C';
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> missing_files(const FaidxFiles& files) {
  std::vector<std::string> missing;
  if (!exists(files.fai)) missing.push_back(files.fai);
  if (files.compressed && !exists(files.gzi)) missing.push_back(files.gzi);
  return missing;
}

std::optional<FaiEntry> parse_fai_line(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, '\t');
  if (fields.size() != 5 || fields[0].empty()) return std::nullopt;
  FaiEntry entry;
  entry.name = fields[0];
  std::uint64_t* const numbers[] = {&entry.length, &entry.offset, &entry.line_letters,
                                    &entry.line_bytes};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string_view text = fields[i + 1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *numbers[i]);
    if (error != std::errc{} || end != text.data() + text.size() || *numbers[i] > kMaxOffset)
      return std::nullopt;
  }
  return entry;
}

// Whether the letters can lie where the entry says. n_bytes: of the file, or kMaxOffset.
bool lies_inside(const FaiEntry& entry, std::uint64_t n_bytes) {
  if (entry.length == 0) return entry.offset <= n_bytes;
  if (entry.line_letters == 0 || entry.line_bytes < entry.line_letters ||
      entry.line_bytes - entry.line_letters > kMaxLineEnd)
    return false;
  const std::uint64_t n_lines = (entry.length - 1) / entry.line_letters;  // but the last
  if (entry.offset > n_bytes || n_lines > (n_bytes - entry.offset) / entry.line_bytes) return false;
  const std::uint64_t last = entry.length - n_lines * entry.line_letters;
  return last <= n_bytes - entry.offset - n_lines * entry.line_bytes;
}

std::vector<FaiEntry> read_fai(const FaidxFiles& files) {
  io::LineReader lines(files.fai, "the index of a FASTA file");
  std::unordered_set<std::string> names;
  std::vector<FaiEntry> entries;
  std::string line;
  while (lines.next(line)) {
    if (line.empty()) continue;
    const std::optional<FaiEntry> entry = parse_fai_line(line);
    if (!entry)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: line {}: malformed; expected a name and four numbers, as "
                              "samtools faidx writes them for FASTA",
                              files.fai, lines.number()));
    if (!lies_inside(*entry, files.compressed ? kMaxOffset : files.fasta_bytes))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: line {}: {} does not fit {}; remove the index, which may be "
                              "that of an earlier file",
                              files.fai, lines.number(), quoted(entry->name), files.fasta));
    if (names.emplace(entry->name).second) entries.push_back(*entry);
  }
  return entries;
}

std::uint64_t read_u64(const char* bytes) {  // little-endian, as the machine
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void append_u64(std::string& bytes, std::uint64_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// FASTA.gzi: the number of blocks but the first, and of each its two offsets.
std::vector<BgzfBlock> read_gzi(const FaidxFiles& files) {
  io::input::RawFile index(files.gzi);
  std::string bytes;
  for (std::size_t n = kPieceBytes; n == kPieceBytes;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPieceBytes);
    n = index.read(bytes.data() + before, kPieceBytes);
    bytes.resize(before + n);
  }
  std::vector<BgzfBlock> blocks{{}};
  bool whole = bytes.size() >= 8 && (bytes.size() - 8) % 16 == 0 &&
               read_u64(bytes.data()) == (bytes.size() - 8) / 16;
  for (std::size_t at = 8; whole && at < bytes.size(); at += 16) {
    const BgzfBlock block{read_u64(bytes.data() + at), read_u64(bytes.data() + at + 8)};
    whole = block.packed > blocks.back().packed && block.text >= blocks.back().text &&
            block.packed - blocks.back().packed <= kMaxBlockBytes &&
            block.text - blocks.back().text <= kMaxBlockBytes;
    blocks.push_back(block);
  }
  if (!whole)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: malformed; expected the index that bgzip makes of {}", files.gzi,
                            files.fasta));
  return blocks;
}

std::string fai_text(const std::vector<FaiEntry>& entries) {
  std::string text;
  for (const FaiEntry& entry : entries)
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\n", entry.name, entry.length,
                   entry.offset, entry.line_letters, entry.line_bytes);
  return text;
}

std::string gzi_bytes(const std::vector<BgzfBlock>& blocks) {
  std::string bytes;
  append_u64(bytes, blocks.empty() ? 0 : blocks.size() - 1);
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    append_u64(bytes, blocks[i].packed);
    append_u64(bytes, blocks[i].text);
  }
  return bytes;
}

// Files under their names when all are whole. Why they cannot be written; empty: they are.
std::string write_files(const std::vector<std::pair<std::string, std::string>>& texts) {
  try {
    std::deque<io::output::AtomicFile> written;
    for (const auto& [path, text] : texts) {
      written.emplace_back(path);
      written.back().write(text);
      written.back().finish();
    }
    const io::CommitGuard guard;
    for (io::output::AtomicFile& file : written) file.commit();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

FaidxFiles::FaidxFiles(const std::string& path)
    : fasta(path), fai(path + ".fai"), gzi(path + ".gzi") {
  io::require_regular_file(path, "the genome is read at any place");
  io::input::RawFile file(path);
  const std::string head = file.peek(io::input::RawFile::kMaxPeek);
  io::input::refuse_compression(head, path);
  compressed = head.starts_with("\x1f\x8b");
  fasta_bytes = file.file_bytes();
  if (compressed && !has_extra_field(head))
    throw Error(ErrorCode::bad_input,
                path +
                    ": is compressed by gzip, which allows no random access; expected plain "
                    "FASTA or FASTA compressed by bgzip");
  if (compressed) io::input::check_end_marker(file);
  const std::string text = compressed ? io::input::inflate_head(head, kHeadBytes) : head;
  mark_bytes = io::input::count_mark_bytes(text, path);
  const bool can_be_told = !compressed || !text.empty();  // what is damaged is told later
  if (can_be_told && !std::string_view(text).substr(mark_bytes).starts_with('>'))
    throw Error(ErrorCode::bad_input, path + ": does not begin with '>'; expected FASTA");
}

FaidxIndex open_index(const FaidxFiles& files, MissingIndex missing) {
  const std::vector<std::string> absent = missing_files(files);
  if (!absent.empty() && missing == MissingIndex::refuse)
    throw Error(ErrorCode::failed, fmt::format("{}: has no index {}; run samtools faidx",
                                               files.fasta, absent.front()));
  FaidxIndex index;
  std::vector<std::pair<std::string, std::string>> made;
  if (files.compressed && exists(files.gzi)) {
    index.blocks = read_gzi(files);
  } else if (files.compressed) {
    index.blocks = build_gzi(files.fasta);
    made.emplace_back(files.gzi, gzi_bytes(index.blocks));
  }
  if (exists(files.fai)) {
    index.entries = read_fai(files);
  } else {
    index.entries = build_fai(files.fasta, files.mark_bytes);
    made.emplace_back(files.fai, fai_text(index.entries));
  }
  const std::string why = made.empty() ? "" : write_files(made);
  if (!why.empty())
    io::add_warning(
        fmt::format("{}; the index is kept in memory, and made again in every run", why));
  return index;
}

}  // namespace biogpu::genome
