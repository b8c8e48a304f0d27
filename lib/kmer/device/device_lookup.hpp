#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/key/key_order.hpp"

namespace biogpu::kmer {

// A database in the memory of one device. Errors: Error{device_memory}, Error{failed}.
class DeviceLookup {
 public:
  virtual ~DeviceLookup() = default;

  // Adds keys, words_for(k) words each, in the database's order. One thread.
  virtual void append(std::span<const std::uint64_t> keys,
                      std::span<const std::uint64_t> counts) = 0;
  // Called once, between the last append() and the first find().
  virtual void finish() = 0;
  // As Lookup::find(). Any thread, many at a time.
  virtual void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) = 0;
  virtual double find_s() const = 0;  // device seconds of the look-ups alone
};

// n_keys: how many will be added. Throws Error{device} where this build has no GPU backend or
// order.is_bijective() is false.
std::unique_ptr<DeviceLookup> make_device_lookup(int device, const KeyOrder& order,
                                                 std::uint64_t n_keys);

// A database that is copied to a device before look-ups begin. The same answers as Lookup::open().
std::unique_ptr<Lookup> open_device_lookup(const std::string& path, int device);

}  // namespace biogpu::kmer
