#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace biogpu::kmer {

// Buckets as `jellyfish histo` has them: of `increment` counts from low up to high, one before for
// all lower counts (none when low is 0) and one behind for all higher ones.
struct HistogramShape {
  std::uint64_t low = 1;
  std::uint64_t high = 10000;
  std::uint64_t increment = 1;
};

class Histogram {
 public:
  // Throws Error{usage} when high is below low or there would be too many buckets,
  // Error{host_memory} where they do not fit.
  explicit Histogram(const HistogramShape& shape);

  void add(std::span<const std::uint64_t> counts);

  // "count n\n" for each bucket; all of them, or those that hold something.
  std::string text(bool all) const;

  std::uint64_t base() const { return base_; }  // the first bucket's label
  std::uint64_t increment() const { return increment_; }
  const std::vector<std::uint64_t>& buckets() const { return buckets_; }

 private:
  std::uint64_t base_;
  std::uint64_t ceil_;
  std::uint64_t increment_;
  std::vector<std::uint64_t> buckets_;
};

}  // namespace biogpu::kmer
