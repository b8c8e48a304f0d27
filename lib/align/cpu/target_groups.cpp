#include "lib/align/cpu/target_groups.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace biogpu::align {
namespace {

// Shorter targets are not put behind others: to clear the way for one costs what some tens of
// its columns do.
constexpr std::uint64_t kMinBehind = 96;
// Texts of lanes that hold several targets are longer than this only where one target is.
constexpr std::uint64_t kMaxColumnsOfGroup = 65536;

std::uint64_t padded(std::uint64_t length) {
  return static_cast<std::uint64_t>(whole_passes(static_cast<std::int64_t>(length)));
}

}  // namespace

// Targets from the longest to the shortest, which are taken out one by one.
class TargetGroups::Unplaced {
 public:
  Unplaced(const SequenceSet& targets, std::vector<std::uint32_t> order)
      : targets_(targets), order_(std::move(order)), next_(order_.size() + 1) {
    std::iota(next_.begin(), next_.end(), std::uint32_t{0});
  }

  bool empty() { return find(0) == order_.size(); }
  std::uint32_t take_longest() { return take(find(0)); }

  // The longest of those from `least` to `most` residues; false: there is none.
  bool take_fitting(std::uint64_t least, std::uint64_t most, std::uint32_t& target) {
    const auto first = std::partition_point(
        order_.begin(), order_.end(), [&](std::uint32_t t) { return targets_.length(t) > most; });
    const std::size_t at = find(static_cast<std::size_t>(first - order_.begin()));
    if (at == order_.size() || targets_.length(order_[at]) < least) return false;
    target = take(at);
    return true;
  }

 private:
  std::uint32_t take(std::size_t at) {
    next_[at] = static_cast<std::uint32_t>(at + 1);
    return order_[at];
  }

  // The first that is left from `at` on.
  std::size_t find(std::size_t at) {
    std::size_t end = at;
    while (next_[end] != end) end = next_[end];
    while (next_[at] != at) {
      const std::size_t next = next_[at];
      next_[at] = static_cast<std::uint32_t>(end);
      at = next;
    }
    return end;
  }

  const SequenceSet& targets_;
  const std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> next_;  // itself where it is left, else one behind
};

TargetGroups::TargetGroups(const SequenceSet& targets, int n_lanes, bool several_a_lane)
    : targets_(targets) {
  std::vector<std::uint32_t> order(targets.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return targets.length(a) > targets.length(b);
  });
  while (!order.empty() && targets.length(order.back()) == 0) {
    empty_.push_back(order.back());
    order.pop_back();
  }
  Unplaced unplaced(targets, std::move(order));
  while (!unplaced.empty()) {
    Group& group = groups_.emplace_back();
    while (!unplaced.empty() && std::ssize(group.targets) < n_lanes)
      group.targets.push_back(unplaced.take_longest());
    group.longest = targets.length(group.targets[0]);
    if (several_a_lane && group.longest <= kMaxColumnsOfGroup) fill_lanes(group, unplaced);
  }
}

void TargetGroups::fill_lanes(Group& group, Unplaced& unplaced) const {
  const std::uint64_t columns = padded(group.longest);
  struct Place {
    LaneEnd end;
    std::uint32_t target;
  };
  std::vector<Place> places;
  const std::size_t n_lanes = group.targets.size();
  for (std::size_t lane = 0; lane < n_lanes; ++lane) {
    std::uint32_t target = group.targets[lane];
    std::uint64_t end = 0;
    do {
      end += padded(targets_.length(target));
      places.push_back({{static_cast<std::int64_t>(end), static_cast<int>(lane)}, target});
    } while (unplaced.take_fitting(kMinBehind, columns - end, target));
  }
  if (places.size() == n_lanes) return;
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.end.column < b.end.column; });
  group.targets.clear();
  for (const Place& place : places) {
    group.targets.push_back(place.target);
    group.ends.push_back(place.end);
  }
}

std::size_t TargetGroups::lay_out(const Group& group, std::vector<std::uint8_t>& text,
                                  LanePair* lanes) const {
  if (group.ends.empty()) {
    for (std::size_t l = 0; l < group.targets.size(); ++l)
      lanes[l].target = targets_.sequence(group.targets[l]);
    return group.targets.size();
  }
  const std::size_t columns = padded(group.longest);
  text.assign(kMaxLanes * columns, kPad);
  std::size_t n_lanes = 0;
  for (std::size_t k = 0; k < group.targets.size(); ++k) {
    const auto target = targets_.sequence(group.targets[k]);
    const auto lane = static_cast<std::size_t>(group.ends[k].lane);
    const auto end = static_cast<std::size_t>(group.ends[k].column);
    std::uint8_t* of_lane = text.data() + lane * columns;
    std::memcpy(of_lane + end - padded(target.size()), target.data(), target.size());
    lanes[lane].target = {of_lane, end};  // the last of a lane has the last word
    n_lanes = std::max(n_lanes, lane + 1);
  }
  return n_lanes;
}

}  // namespace biogpu::align
