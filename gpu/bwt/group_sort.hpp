#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::bwt {

// Items that share a prefix with others, in the order of their places in the sorted array.
struct TiedItems {
  std::uint32_t* place = nullptr;  // in the sorted array
  std::uint32_t* group = nullptr;  // the place where its group begins
};

// heads[i] = the place of item i where it begins a group, its key other than the one before it;
// else 0. place == nullptr: i itself.
void launch_heads(const std::uint64_t* keys, const std::uint32_t* place, std::uint32_t n,
                  std::uint32_t* heads, Stream& stream);
// rank[items[i]] = group[i] + 1, and sa[place[i]] = items[i]. place == nullptr: i itself; sa may be
// nullptr.
void launch_store_ranks(const std::uint32_t* items, const std::uint32_t* place,
                        const std::uint32_t* group, std::uint32_t n, std::uint32_t* rank,
                        std::uint32_t* sa, Stream& stream);
// keep[i] = 1 where item i shares its group with a neighbour in the list.
void launch_keep(const std::uint32_t* group, std::uint32_t n, std::uint32_t* keep, Stream& stream);
// sa[place[i]] = items[i].
void launch_store_order(const std::uint32_t* items, const std::uint32_t* place, std::uint32_t n,
                        std::uint32_t* sa, Stream& stream);
// Moves what is kept to the front; sum is the running sum of keep. from.place == nullptr: i itself.
void launch_compact(const std::uint32_t* items, const TiedItems& from, const std::uint32_t* sum,
                    std::uint32_t n, std::uint32_t* to_items, const TiedItems& to, Stream& stream);

// Sorts items by one key after the other: at first all, then in each step only those whose keys
// were equal so far. An item is a number below n; its rank is 1 + the place where its group begins,
// and is stored as soon as it is known.
//
// Memory: 32 bytes an item, 12 more for each tied one, and what the radix sort needs.
class GroupSorter {
 public:
  // What a step leaves behind for the caller; sa may be nullptr.
  struct Result {
    std::uint32_t* rank = nullptr;
    std::uint32_t* sa = nullptr;
  };

  void reserve(std::size_t n);

  // The caller fills keys() and items(), sort_first() sorts them, the caller has heads() filled for
  // the sorted ones, and settle_first() ends the first step.
  void sort_first(std::uint32_t n, int n_bits, Stream& stream);
  void settle_first(const Result& result, Stream& stream);
  // The caller has filled keys() for items(), their groups in the highest of n_bits.
  void split(int n_bits, const Result& result, Stream& stream);

  // The same where no two keys are equal: only Result::sa is stored, and none ties afterwards.
  void finish(int n_bits, std::uint32_t* sa, Stream& stream);

  // Items that tie.
  std::uint32_t n_tied() const { return n_tied_; }
  std::uint64_t* keys() { return keys_[0].data(); }
  std::uint32_t* items() { return items_[0].data(); }
  const std::uint32_t* groups() const { return tied_group_.data(); }
  // Room for a value for each item of the first step; lost with the next step.
  std::uint32_t* heads() { return heads_.data(); }
  std::uint32_t* scratch() { return group_.data(); }
  void sum_heads(std::uint32_t n, Stream& stream);    // the running sum, in place
  void max_scratch(std::uint32_t n, Stream& stream);  // the running maximum, in place
  std::uint64_t bytes() const;

 private:
  void sort(std::uint32_t n, int n_bits, Stream& stream);
  void settle(std::uint32_t n, const std::uint32_t* place, const Result& result, Stream& stream);

  DeviceBuffer<std::uint64_t> keys_[2];
  DeviceBuffer<std::uint32_t> items_[2], heads_, group_, place_[2], tied_group_;
  DeviceBuffer<std::uint8_t> workspace_;
  std::uint32_t n_first_ = 0;
  std::uint32_t n_tied_ = 0;
};

}  // namespace biogpu::gpu::bwt
