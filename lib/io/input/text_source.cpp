#include "lib/io/input/text_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/io/input/block_source.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/parallel_gzip.hpp"
#include "lib/io/input/warnings.hpp"

namespace biogpu::io::input {
namespace {

class Borrowed : public ByteSource {
 public:
  explicit Borrowed(RawFile& file) : file_(file) {}
  std::size_t read(char* to, std::size_t n) override { return file_.read(to, n); }

 private:
  RawFile& file_;
};

// Pieces take three times the work of one thread, so that fewer threads gain nothing.
constexpr int kThreadsWorthPieces = 8;
// Smaller files are inflated before more threads would have begun.
constexpr std::uint64_t kBytesWorthPieces = 8u << 20;

std::unique_ptr<ByteSource> open_bytes(RawFile& file, std::string_view head, int n_threads,
                                       EndMarker end_marker) {
  const int n_ahead = n_threads > 1 ? n_threads : 0;
  if (bgzf_block_bytes(head) > 0)
    return std::make_unique<BlockSource>(std::make_unique<BgzfProducer>(file, end_marker), n_ahead);
  if (!head.starts_with(kGzipMagic)) return lend(file);
  if (n_threads >= kThreadsWorthPieces && file.begin() == 0 &&
      file.file_bytes() >= kBytesWorthPieces)
    return std::make_unique<BlockSource>(std::make_unique<ParallelGzipProducer>(file),
                                         n_threads / 2);
  return std::make_unique<BlockSource>(std::make_unique<GzipProducer>(file, std::string_view()),
                                       std::min(n_ahead, 1));
}

}  // namespace

std::unique_ptr<ByteSource> lend(RawFile& file) { return std::make_unique<Borrowed>(file); }

std::unique_ptr<ByteSource> open_text(RawFile& file, std::string_view head, int n_threads,
                                      EndMarker end_marker) {
  return without_mark(open_bytes(file, head, n_threads, end_marker), file.label());
}

void check_unmarked_text(const std::string& label) {
  if (label == label_of("-")) return add_warning(fmt::format("{}: {}", label, kNoEndMarker));
  RawFile file(label);
  BgzfProducer blocks(file);
  for (Block block; blocks.take(block);) block.packed.resize(0);
}

void check_end_marker(const RawFile& file) {
  constexpr std::size_t kBytes = 28;
  std::string tail(kBytes, '\0');
  if (file.file_bytes() >= kBytes &&
      file.read_at(file.file_bytes() - kBytes, tail.data(), kBytes) == kBytes &&
      bgzf_block_bytes(tail) == static_cast<int>(kBytes))
    return;
  check_unmarked_text(file.label());
}

}  // namespace biogpu::io::input
