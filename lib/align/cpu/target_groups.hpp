#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/cpu/group/group.hpp"

namespace biogpu::align {

// The targets of a search, cut into groups of vector lanes. Where lanes may hold several targets
// (LaneEnd), what a group's longest target leaves free in the other lanes is filled with shorter
// ones, so that few cells are padding.
class TargetGroups {
 public:
  // The targets of a group; ends[k] is that of targets[k]. Where every lane holds one, they come
  // by lane and ends is empty.
  struct Group {
    std::vector<std::uint32_t> targets;
    std::vector<LaneEnd> ends;
    std::uint64_t longest = 0;
  };

  TargetGroups(const SequenceSet& targets, int n_lanes, bool several_a_lane);

  const std::vector<Group>& groups() const { return groups_; }
  std::span<const std::uint32_t> empty() const { return empty_; }  // targets without residues

  // Fills lanes[l].target; where lanes hold several, with the residues that it writes to `text`.
  // Returns the number of lanes.
  std::size_t lay_out(const Group& group, std::vector<std::uint8_t>& text, LanePair* lanes) const;

 private:
  class Unplaced;
  void fill_lanes(Group& group, Unplaced& unplaced) const;

  const SequenceSet targets_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> empty_;
};

}  // namespace biogpu::align
