#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/kmer/count/sort_keys.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

// One device's side of an exchange of sort keys among n_parts devices: what it has for others, and
// what they sent. Belongs to the device that was current when it was made, which has to be current
// again for all that queues. Its memory stays from one exchange to the next.
class KeyExchange {
 public:
  // Makes room for n_out sort keys for each part, and n_in from others together. own[n_out] is for
  // its own part's. Others' copies into its memory must be over: see settle().
  void begin(std::size_t part, std::size_t n_parts, std::uint64_t n_out, std::uint64_t n_in,
             std::uint64_t* own, Stream& stream);

  // Waits for what it sends, also of an exchange that was not taken up.
  void settle() { copies_.synchronize(); }

  // Queues the encoding of a text.
  void encode(const SortKeysArgs& text, Stream& stream);
  // Waits for it. False where there was no room for all.
  bool finish_encoding(Stream& stream);

  // Queues the sending of what is new since it was last called, to a peer's memory of part `to`.
  // The device of this sends.
  void send(std::size_t to, KeyExchange& peer);
  // Lets the stream, of any device, wait for what was sent.
  void finish_sending();
  void wait_for_sent(Stream& stream) const { stream.wait_for(sent_); }

  std::uint64_t n_own() const { return n_encoded_[part_]; }
  std::uint64_t n_received() const { return n_received_; }
  const std::uint64_t* received() const { return received_.data(); }
  std::uint64_t bytes() const { return outgoing_.bytes() + received_.bytes(); }

 private:
  std::size_t part_ = 0;
  std::uint64_t room_ = 0;
  std::uint64_t* own_ = nullptr;
  DeviceBuffer<std::uint64_t> outgoing_;  // [n_parts][room_], the own part's unused
  DeviceBuffer<std::uint64_t> received_;
  DeviceBuffer<unsigned long long> counters_;  // of each part
  std::vector<unsigned long long> n_encoded_;  // for each part
  std::vector<unsigned long long> n_sent_;     // of those
  std::uint64_t n_received_ = 0;
  Stream copies_;  // destroyed, and so waited for, before the memory that it works on
  Event sent_;
};

}  // namespace biogpu::gpu::kmer
