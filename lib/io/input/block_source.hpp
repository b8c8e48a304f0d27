#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/io/char_buffer.hpp"
#include "lib/io/input/byte_source.hpp"

namespace biogpu::io::input {

// A piece of a compressed stream on its way through a worker.
struct Block {
  CharBuffer packed;
  CharBuffer text;
  // What its producer needs to finish it, kept between uses. Not thread_local: glibc ends a process
  // that has no memory to note one.
  std::shared_ptr<void> tool;
};

// How a compressed format is cut into blocks. take() is called by one thread at a time, in stream
// order; finish() by many at once. Both throw Error{bad_input} on damage.
class BlockProducer {
 public:
  virtual ~BlockProducer() = default;
  // Reads the next block into an emptied one. False at the end of the stream.
  virtual bool take(Block& block) = 0;
  // Completes block.text.
  virtual void finish(Block& block) = 0;
};

// The text of a producer's blocks in order, with n_workers threads running ahead by a bounded
// number of blocks; with none, each block is made when it is asked for. What a worker throws is
// thrown by read() at the place in the stream where it happened.
class BlockSource : public ByteSource {
 public:
  BlockSource(std::unique_ptr<BlockProducer> producer, int n_workers);
  ~BlockSource() override;

  std::size_t read(char* to, std::size_t n) override;

 private:
  struct Slot {
    Block block;
    std::exception_ptr error;
    bool ready = false;
    bool last = false;  // nothing follows; the block is empty
  };

  void work();
  bool take_turn(std::size_t& turn);
  void finish_turn(std::size_t turn);
  bool next_block();
  void stop() noexcept;

  std::unique_ptr<BlockProducer> producer_;
  std::vector<Slot> slots_;   // turn t lives in slot t % size
  std::size_t position_ = 0;  // in the text of the current slot
  bool have_block_ = false;
  bool at_end_ = false;

  std::mutex take_mutex_;  // held by the worker whose turn it is to take
  std::mutex mutex_;       // guards what follows and every Slot's flags
  std::condition_variable slot_freed_;
  std::condition_variable slot_ready_;
  std::size_t n_taken_ = 0;
  std::size_t n_consumed_ = 0;
  bool no_more_ = false;  // the last block was taken, or an error ended the stream
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace biogpu::io::input
