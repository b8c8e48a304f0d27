#include "lib/bio/genome/faidx_file.hpp"

#include <fmt/format.h>
#include <htslib/faidx.h>
#include <htslib/hts_log.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "lib/bio/genome/line_lengths.hpp"
#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/io/output/atomic_file.hpp"

namespace biogpu::genome {
namespace {

constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << 62;  // sums of two do not overflow
constexpr std::uint64_t kMaxLineEnd = 16;                     // bytes of a line behind its letters

bool has_extra_field(std::string_view head) {  // of gzip, where bgzip has its block sizes
  return head.size() >= 16 && (head[3] & 4) != 0 && head[12] == 'B' && head[13] == 'C';
}

// A path that htslib cannot take for a URL.
std::string local_path(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> missing_files(const FaidxFiles& files) {
  std::vector<std::string> missing;
  if (!exists(files.fai)) missing.push_back(files.fai);
  if (files.compressed && !exists(files.gzi)) missing.push_back(files.gzi);
  return missing;
}

// An index file while htslib writes it: by its descriptor's name, as it has no other yet.
class NewIndexFile {
 public:
  NewIndexFile(const FaidxFiles& files, const std::string& path, bool wanted) {
    if (!wanted) return;
    try {
      target_.emplace(path);
    } catch (const Error& error) {
      throw Error(ErrorCode::failed,
                  fmt::format("{}: has no index: {}; run samtools faidx in a folder that can be "
                              "written",
                              files.fasta, error.what()));
    }
  }
  std::string path() const {
    return target_ ? fmt::format("/proc/self/fd/{}", target_->descriptor()) : "/dev/null";
  }
  void finish() {
    if (target_) target_->finish();
  }
  void commit() {
    if (target_) target_->commit();
  }

 private:
  std::optional<io::output::AtomicFile> target_;
};

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

}  // namespace

FaidxFiles::FaidxFiles(const std::string& path)
    : fasta(path), fai(path + ".fai"), gzi(path + ".gzi") {
  if (path == "-" || path == "/dev/stdin")
    throw Error(ErrorCode::usage, "a genome cannot be standard input; expected a FASTA file");
  io::input::RawFile file(path);
  const std::string head = file.peek(32);
  io::input::refuse_compression(head, path);
  compressed = head.starts_with("\x1f\x8b");
  fasta_bytes = file.file_bytes();
  if (compressed && !has_extra_field(head))
    throw Error(ErrorCode::bad_input,
                path +
                    ": is compressed by gzip, which allows no random access; expected plain "
                    "FASTA or FASTA compressed by bgzip");
  if (!compressed && !head.starts_with('>'))
    throw Error(ErrorCode::bad_input, path + ": does not begin with '>'; expected FASTA");
}

void require_index(const FaidxFiles& files) {
  const std::vector<std::string> missing = missing_files(files);
  if (!missing.empty())
    throw Error(ErrorCode::failed, fmt::format("{}: has no index {}; run samtools faidx",
                                               files.fasta, missing.front()));
}

void write_missing_index(const FaidxFiles& files) {
  const std::vector<std::string> missing = missing_files(files);
  if (missing.empty()) return;
  const auto is_missing = [&](const std::string& path) {
    return std::find(missing.begin(), missing.end(), path) != missing.end();
  };
  NewIndexFile fai(files, files.fai, is_missing(files.fai));
  NewIndexFile gzi(files, files.gzi, is_missing(files.gzi));
  require_equal_lines(files.fasta);
  hts_set_log_level(HTS_LOG_OFF);
  if (fai_build3(local_path(files.fasta).c_str(), fai.path().c_str(), gzi.path().c_str()) != 0)
    throw Error(ErrorCode::bad_input, files.fasta + ": cannot be indexed; expected FASTA");
  fai.finish();
  gzi.finish();
  const io::CommitGuard guard;
  gzi.commit();
  fai.commit();
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

}  // namespace biogpu::genome
