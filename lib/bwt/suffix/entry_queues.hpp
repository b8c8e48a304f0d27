#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace biogpu::bwt {

// Queues of words in chunks of one memory. A chunk that was read is used again, so that the queues
// together take the room of what waits in them.
class EntryQueues {
 public:
  // Words of memory that n_queues with n_waiting words in all need at most. Each queue may have a
  // chunk that is read and one that is written, both in part.
  static std::size_t n_words(std::size_t n_queues, std::uint64_t n_waiting) {
    return (n_waiting / kChunk + 2 * n_queues + 2) * kStride;
  }

  // memory: room for n_words().
  EntryQueues(std::size_t n_queues, std::uint64_t* memory)
      : memory_(memory), tails_(n_queues), chunks_(n_queues) {}

  void push(std::size_t queue, std::uint64_t entry) { push_if(true, queue, entry); }

  // Stores the entry and keeps it where `keep`, without a branch on it.
  void push_if(bool keep, std::size_t queue, std::uint64_t entry) {
    Tail& to = tails_[queue];
    if (to.next == to.end) [[unlikely]]
      grow(queue);
    *to.next = entry;
    to.next += keep ? 1 : 0;
  }

  // Takes out all entries from the first on, and those that use() appends meanwhile.
  template <class Use>
  void read_forward(std::size_t queue, const Use& use) {
    const Tail& tail = tails_[queue];
    const std::vector<std::uint64_t*>& chunks = chunks_[queue];
    for (std::size_t k = 0; k < chunks.size(); ++k) {
      const std::uint64_t* entry = chunks[k];
      const std::uint64_t* const end = entry + kChunk;
      for (; entry != end && entry != tail.next; ++entry) use(*entry);
      free_.push_back(chunks[k]);
    }
    clear(queue);
  }

  // The same from the last one on; use() appends to other queues alone.
  template <class Use>
  void read_backward(std::size_t queue, const Use& use) {
    const std::vector<std::uint64_t*>& chunks = chunks_[queue];
    const std::uint64_t* entry = tails_[queue].next;
    for (std::size_t k = chunks.size(); k-- > 0;) {
      if (k + 1 < chunks.size()) entry = chunks[k] + kChunk;
      while (entry != chunks[k]) use(*--entry);
      free_.push_back(chunks[k]);
    }
    clear(queue);
  }

 private:
  // Entries of a chunk, and words of it: the end of one is not the beginning of another.
  static constexpr std::size_t kChunk = 511;
  static constexpr std::size_t kStride = kChunk + 1;

  struct Tail {
    std::uint64_t* next = nullptr;  // where the next entry goes
    std::uint64_t* end = nullptr;   // of the last chunk
  };

  void clear(std::size_t queue) {
    tails_[queue] = {};
    chunks_[queue].clear();
  }

  void grow(std::size_t queue) {
    std::uint64_t* chunk = memory_;
    if (free_.empty()) {
      memory_ += kStride;
    } else {
      chunk = free_.back();
      free_.pop_back();
    }
    tails_[queue] = {chunk, chunk + kChunk};
    chunks_[queue].push_back(chunk);
  }

  std::uint64_t* memory_;  // not used yet
  std::vector<std::uint64_t*> free_;
  std::vector<Tail> tails_;
  std::vector<std::vector<std::uint64_t*>> chunks_;
};

}  // namespace biogpu::bwt
