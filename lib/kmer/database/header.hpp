#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/kmer/key/key_order.hpp"

namespace biogpu::kmer {

enum class Format { jellyfish, jellyfish_text, bgk, kff };

// What a database says of itself.
struct Header {
  Format format = Format::jellyfish;
  int k = 0;
  bool canonical = false;
  int counter_bytes = 4;  // of jellyfish; a larger count is stored as the largest that fits
  KeyOrder order;
  int max_reprobe = 126;  // of jellyfish: carried along, its merge compares it
  // Who made it, where and when; all may be empty.
  std::vector<std::string> command;
  std::string program;
  std::string host;
  std::string folder;
  std::string time;
  std::string json;  // as read from a Jellyfish file; empty otherwise
};

// The table size that Jellyfish takes for `-s asked`: the next power of two, at most 4^k. Its order
// is lexicographic where asked reaches 4^k. asked of 0: a size that suits any input.
KeyOrder order_for_size(int k, std::uint64_t asked);

// Fills in command, program, host, folder and time of this process; where SOURCE_DATE_EPOCH is set,
// or `anonymous`, what would differ between two runs is replaced as Jellyfish does.
void add_provenance(Header& header, const std::vector<std::string>& command, bool anonymous);

}  // namespace biogpu::kmer
