#include "lib/io/input/text_source.hpp"

#include <algorithm>

#include "lib/io/input/bgzf.hpp"
#include "lib/io/input/block_source.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/parallel_gzip.hpp"

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

std::unique_ptr<ByteSource> open_bytes(RawFile& file, std::string_view head, int n_threads) {
  const int n_ahead = n_threads > 1 ? n_threads : 0;
  if (bgzf_block_bytes(head) > 0)
    return std::make_unique<BlockSource>(std::make_unique<BgzfProducer>(file), n_ahead);
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

std::unique_ptr<ByteSource> open_text(RawFile& file, std::string_view head, int n_threads) {
  return without_mark(open_bytes(file, head, n_threads), file.label());
}

}  // namespace biogpu::io::input
