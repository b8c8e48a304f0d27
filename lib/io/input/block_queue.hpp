#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/io/char_buffer.hpp"

namespace biogpu::io::input {

// A piece of a stream on its way through a worker.
struct Block {
  CharBuffer packed;
  CharBuffer text;
  // What its producer needs to finish it, kept between uses. Not thread_local: glibc ends a process
  // that has no memory to note one.
  std::shared_ptr<void> tool;
};

// How a stream is cut into blocks. take() is called by one thread at a time, in stream order;
// finish() by many at once. Both throw Error{bad_input} on damage.
class BlockProducer {
 public:
  virtual ~BlockProducer() = default;
  // Reads the next block into an emptied one. False at the end of the stream.
  virtual bool take(Block& block) = 0;
  // Completes the block.
  virtual void finish(Block& block) = 0;
};

// A producer's blocks in order, with n_workers threads running ahead by at most n_slots blocks;
// with no workers, each block is made when it is asked for. What a worker throws is thrown by
// next() at the place in the stream where it happened.
class BlockQueue {
 public:
  BlockQueue(std::unique_ptr<BlockProducer> producer, int n_workers, std::size_t n_slots);
  ~BlockQueue();
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  // The next block, the caller's until the call after this one; nullptr at the end.
  Block* next();

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
  void release();

  std::unique_ptr<BlockProducer> producer_;
  std::vector<Slot> slots_;  // turn t lives in slot t % size
  bool have_block_ = false;  // the caller has the block after those consumed
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
