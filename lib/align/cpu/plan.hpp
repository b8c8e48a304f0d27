#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/cpu/group/group.hpp"

namespace biogpu::align {

// The narrowest scores a pair may be tried with.
enum class Width {
  narrow,           // 8 bits suffice
  narrow_at_first,  // 8 bits may saturate, which the kernel notices (local only)
  wide,             // 16 bits suffice, or the kernel notices (local only)
  single,           // 32 bits, on its own
};

// Chooses by the lengths, from bounds that hold for every cell.
class WidthChooser {
 public:
  explicit WidthChooser(const Options& options);
  Width choose(std::int64_t query_length, std::int64_t target_length) const;

 private:
  Width choose_local(std::int64_t highest) const;
  const Options& options_;
  GroupRange narrow_, wide_;
  std::int64_t max_score_;
  bool differences_fit_;
};

// A run of `order` that is aligned in lockstep.
struct Group {
  std::size_t begin = 0, end = 0;
  bool same_query = false;
};

// Pairs of one width, cut into groups of at most `lanes` pairs of like shape, so that lanes end
// together. Pairs for which a group does not pay come last, in `singles`.
struct Plan {
  std::vector<std::uint32_t> order;  // indices into Work::pairs
  std::vector<Group> groups;
  std::vector<std::uint32_t> singles;
};

Plan make_plan(const Work& work, const Options& options, std::span<const std::uint32_t> pairs,
               int lanes);

}  // namespace biogpu::align
