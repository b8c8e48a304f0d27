#include "lib/io/records/record_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/records/chunk_parser.hpp"
#include "lib/io/records/chunk_producers.hpp"

namespace biogpu::io::input {
namespace {

// More threads than that read faster than one can take the chunks.
constexpr int kMaxWorkers = 8;

int count_workers(int n_threads) { return std::clamp(n_threads, 1, kMaxWorkers); }

std::unique_ptr<BlockQueue> make_queue(std::unique_ptr<BlockProducer> producer, int n_threads) {
  const int n_workers = count_workers(n_threads);
  return std::make_unique<BlockQueue>(std::move(producer), n_workers,
                                      static_cast<std::size_t>(n_workers + 2));
}

// The text of a queue's blocks from a chunk on.
class QueueText : public ByteSource {
 public:
  QueueText(std::unique_ptr<BlockQueue> queue, std::string_view first)
      : queue_(std::move(queue)), left_(first) {}

  std::size_t read(char* to, std::size_t n) override {
    std::size_t done = 0;
    while (done < n) {
      if (left_.empty()) {
        const Block* block = queue_->next();
        if (block == nullptr) break;
        left_ = chunk_of(*block).text;
        continue;
      }
      const std::size_t part = std::min(n - done, left_.size());
      std::memcpy(to + done, left_.data(), part);
      left_.remove_prefix(part);
      done += part;
    }
    return done;
  }

 private:
  std::unique_ptr<BlockQueue> queue_;
  std::string_view left_;
};

}  // namespace

RecordChunks::RecordChunks(RawFile& file, std::uint64_t begin, const ChunkRules& rules,
                           int n_threads)
    : file_(&file),
      begin_(begin),
      line_(rules.first_line),
      parses_(std::make_shared<std::atomic<bool>>(true)),
      queue_(make_queue(std::make_unique<FileChunks>(file, begin, ChunkParser(rules, parses_)),
                        n_threads)) {}

RecordChunks::RecordChunks(std::unique_ptr<TextWindow> text, const ChunkRules& rules, int n_threads)
    : line_(rules.first_line),
      parses_(std::make_shared<std::atomic<bool>>(true)),
      queue_(make_queue(std::make_unique<TextChunks>(std::move(text), ChunkParser(rules, parses_)),
                        n_threads)) {}

RecordChunks::~RecordChunks() = default;

// Of a file that others write to, two chunks may have been cut where their texts do not meet.
bool RecordChunks::fits(const RecordChunk& chunk) const {
  return chunk.whole && (file_ == nullptr || chunk.begin == begin_);
}

RecordChunk* RecordChunks::next() {
  if (refused_ != nullptr) return nullptr;
  while (Block* block = queue_->next()) {
    RecordChunk& chunk = chunk_of(*block);
    if (chunk.whole && chunk.text.empty()) continue;
    if (!fits(chunk)) {
      refused_ = &chunk;
      *parses_ = false;
      return nullptr;
    }
    line_ += chunk.n_lines;
    n_records_ += chunk.records.size();
    begin_ += chunk.text.size();
    if (file_ != nullptr) file_->set_position(begin_);
    if (!chunk.records.empty()) return &chunk;
  }
  return nullptr;
}

std::unique_ptr<ByteSource> RecordChunks::take_rest() {
  if (refused_ == nullptr) return nullptr;
  if (file_ == nullptr) return std::make_unique<QueueText>(std::move(queue_), refused_->text);
  queue_.reset();
  file_->seek(begin_);
  return lend(*file_);
}

}  // namespace biogpu::io::input
