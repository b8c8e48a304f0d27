#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace biogpu::molecule {

// Where in a line of an atom its fields are.
struct AtomColumns {
  std::optional<std::size_t> symbol = 0, atomic_number;  // one at least
  std::size_t position = 1;
  std::optional<std::size_t> velocity, momentum, mass, partial_charge, move_mask;
  std::size_t n_move_mask = 1;  // columns of it: an atom, or each of its axes
  std::size_t n_required = 4;
};

// What the comment line of an xyz frame says.
struct FrameHeader {
  AtomColumns columns;
  std::optional<std::array<double, 9>> box;
  std::optional<std::int32_t> charge;
  std::vector<std::pair<std::string, std::string>> info;
  bool is_qm9 = false;  // a molecule of QM9: three lines follow its atoms
};

// Any text is a comment of plain xyz. A line with Properties= or Lattice= is extended xyz and has
// to be well formed. Throws Error{bad_input}, without a place, for what is not, and for a box, axes
// or a charge that are told in a way that cannot be read.
FrameHeader read_frame_header(std::string_view line);

}  // namespace biogpu::molecule
