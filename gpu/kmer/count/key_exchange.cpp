#include "gpu/kmer/count/key_exchange.hpp"

#include <algorithm>

#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::kmer {

void KeyExchange::begin(std::size_t part, std::size_t n_parts, std::uint64_t n_out,
                        std::uint64_t n_in, std::uint64_t* own, Stream& stream) {
  part_ = part;
  room_ = n_out;
  own_ = own;
  outgoing_.reserve((n_parts - 1) * n_out);
  received_.reserve(n_in);
  counters_.reserve(n_parts);
  stream.fill(counters_.data(), 0, counters_.bytes());
  n_encoded_.assign(n_parts, 0);
  n_sent_.assign(n_parts, 0);
  n_received_ = 0;
}

void KeyExchange::encode(const SortKeysArgs& text, Stream& stream) {
  SortKeysToPartsArgs args;
  args.text = text;
  args.n_parts = static_cast<unsigned>(n_encoded_.size());
  std::uint64_t* out = outgoing_.data();
  for (std::size_t to = 0; to < n_encoded_.size(); ++to) {
    args.sort_keys[to] = to == part_ ? own_ : out;
    if (to != part_) out += room_;
    args.first_range[to + 1] = first_range_of(to + 1, n_encoded_.size());
  }
  args.capacity = room_;
  args.n_sort_keys = counters_.data();
  launch_sort_keys_to_parts(args, stream);
}

bool KeyExchange::finish_encoding(Stream& stream) {
  download(stream, n_encoded_, counters_.data());
  return std::all_of(n_encoded_.begin(), n_encoded_.end(), [&](auto n) { return n <= room_; });
}

void KeyExchange::send(std::size_t to, KeyExchange& peer) {
  const std::uint64_t n = n_encoded_[to] - n_sent_[to];
  if (n == 0) return;
  const std::uint64_t* const from =
      outgoing_.data() + (to < part_ ? to : to - 1) * room_ + n_sent_[to];
  copies_.copy_on_device(peer.received_.data() + peer.n_received_, from, n * sizeof *from);
  n_sent_[to] += n;
  peer.n_received_ += n;
}

void KeyExchange::finish_sending() { sent_.record(copies_); }

}  // namespace biogpu::gpu::kmer
