#include "lib/ops/neighbours/neighbour_images.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/neighbours/image_cells.hpp"

namespace biogpu::ops {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();

struct ImageEdge {
  std::int32_t neighbour;
  BoxShift shift;
  std::array<double, 3> r;
  double squared;

  std::tuple<std::int32_t, BoxShift> order() const { return {neighbour, shift}; }
};
using ImageRow = std::vector<ImageEdge>;

std::optional<Box> image_box(const Tensor& boxes, std::int64_t segment) {
  if (boxes.empty()) return {};
  Box box{};
  std::copy_n(boxes.as<double>() + 9 * segment, 9, box.begin());
  if (std::all_of(box.begin(), box.end(), [](double x) { return x == 0; })) return {};
  return box;
}

// Adds the edge of atom i to an image of atom j where it is one.
void add_edge(const NeighbourList& op, const Box* box, std::int64_t i, std::int64_t j,
              const BoxShift& shift, ImageRow& row) {
  const auto* const x = op.positions.as<double>();
  const auto neighbour = static_cast<std::int32_t>(j);
  if (i == j && shift == BoxShift{}) {
    if (op.self_pairs) row.push_back({neighbour, shift, {}, 0});
    return;
  }
  const std::array<double, 3> r = displacement_of(x + 3 * i, x + 3 * j, shift, box);
  const double squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  if (squared >= op.cutoff_lower * op.cutoff_lower && squared < op.cutoff_upper * op.cutoff_upper)
    row.push_back({neighbour, shift, r, squared});
}

// The shifts of j, along one box vector, that can bring it within the cutoff of i: distances are
// no shorter than between faces of the box.
std::array<std::int32_t, 2> shifts_along(const double* x_i, const double* x_j,
                                         const std::array<double, 3>& inverse, double width,
                                         double cutoff) {
  double apart = 0;
  for (std::size_t k = 0; k < 3; ++k) apart += inverse[k] * (x_i[k] - x_j[k]);
  const double reach = cutoff / width * kCellMargin;
  return {static_cast<std::int32_t>(std::floor(apart - reach)),
          static_cast<std::int32_t>(std::ceil(apart + reach))};
}

// Every atom and every shift, in the order of the list.
void add_all(const NeighbourList& op, std::int64_t segment, std::vector<ImageRow>& rows) {
  const auto* const x = op.positions.as<double>();
  const std::optional<Box> box = image_box(op.boxes, segment);
  std::array<std::array<double, 3>, 3> inverse{};
  std::array<double, 3> widths{};
  if (box.has_value()) {
    inverse = inverse_of(*box);
    widths = face_distances(*box);
  }
  std::array<std::array<std::int32_t, 2>, 3> shifts{};
  for (std::int64_t i = op.segments->begin(segment); i < op.segments->end(segment); ++i)
    for (std::int64_t j = op.segments->begin(segment); j < op.segments->end(segment); ++j) {
      for (std::size_t k = 0; box.has_value() && k < 3; ++k)
        shifts[k] = shifts_along(x + 3 * i, x + 3 * j, inverse[k], widths[k], op.cutoff_upper);
      for (std::int32_t a = shifts[0][0]; a <= shifts[0][1]; ++a)
        for (std::int32_t b = shifts[1][0]; b <= shifts[1][1]; ++b)
          for (std::int32_t c = shifts[2][0]; c <= shifts[2][1]; ++c)
            add_edge(op, box.has_value() ? &*box : nullptr, i, j, {a, b, c},
                     rows[static_cast<std::size_t>(i)]);
    }
}

void add_by_cells(CpuContext& context, const NeighbourList& op, std::int64_t segment,
                  std::vector<ImageRow>& rows) {
  const std::optional<Box> optional_box = image_box(op.boxes, segment);
  const Box* const box = optional_box.has_value() ? &*optional_box : nullptr;
  const std::int64_t begin = op.segments->begin(segment), n = op.segments->length(segment);
  if (n == 0) return;
  const ImageCells cells(op.positions.as<double>() + 3 * begin, static_cast<std::size_t>(n), box,
                         op.cutoff_upper);
  context.for_each(n, [&](std::int64_t i) {
    ImageRow& row = rows[static_cast<std::size_t>(begin + i)];
    cells.for_candidates(static_cast<std::size_t>(i), [&](std::size_t j, const BoxShift& shift) {
      add_edge(op, box, begin + i, begin + static_cast<std::int64_t>(j), shift, row);
    });
    std::sort(row.begin(), row.end(),
              [](const ImageEdge& a, const ImageEdge& b) { return a.order() < b.order(); });
  });
}

// Where the row of its neighbour names the receiver; the edge itself where it is not there.
std::int32_t reverse_of(const Edges& edges, const std::vector<ImageRow>& rows, std::int64_t i,
                        std::int64_t e, const ImageEdge& edge) {
  const std::tuple<std::int32_t, BoxShift> wanted{static_cast<std::int32_t>(i),
                                                  {-edge.shift[0], -edge.shift[1], -edge.shift[2]}};
  const ImageRow& row = rows[static_cast<std::size_t>(edge.neighbour)];
  const auto found =
      std::find_if(row.begin(), row.end(), [&](const ImageEdge& x) { return x.order() == wanted; });
  const auto* const starts = edges.starts.as<std::int32_t>();
  const std::int64_t at = starts[edge.neighbour] + (found - row.begin());
  return static_cast<std::int32_t>(at < starts[edge.neighbour + 1] ? at : e);
}

void write_edge(const Edges& edges, std::int64_t e, std::int64_t i, const ImageEdge& edge) {
  edges.receivers.as<std::int32_t>()[e] = static_cast<std::int32_t>(i);
  edges.neighbours.as<std::int32_t>()[e] = edge.neighbour;
  edges.reverse.as<std::int32_t>()[e] = static_cast<std::int32_t>(e);
  for (std::size_t k = 0; k < 3; ++k)
    edges.displacement.as<float>()[3 * e + static_cast<std::int64_t>(k)] =
        static_cast<float>(edge.r[k]);
  edges.distance.as<float>()[e] = static_cast<float>(std::sqrt(edge.squared));
}

void write_rows(const std::vector<ImageRow>& rows, const Edges& edges) {
  const bool fills = !edges.neighbours.empty();
  const std::int64_t limit = fills ? edges.capacity() : kNoLimit;
  auto* const starts = edges.starts.as<std::int32_t>();
  std::int64_t count = 0;
  starts[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    count += static_cast<std::int64_t>(rows[i].size());
    starts[i + 1] = static_cast<std::int32_t>(std::min(count, limit));
  }
  *edges.count.as<std::int32_t>() = static_cast<std::int32_t>(std::min(count, kNoLimit));
  if (!fills) return;
  for (std::int64_t i = 0; i < edges.n_atoms(); ++i)
    for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
      const ImageEdge& edge =
          rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(e - starts[i])];
      write_edge(edges, e, i, edge);
      edges.reverse.as<std::int32_t>()[e] = reverse_of(edges, rows, i, e, edge);
    }
  for (std::int64_t e = starts[edges.n_atoms()]; e < limit; ++e)
    write_edge(edges, e, 0, {0, {}, {}, 0});
}

}  // namespace

void neighbour_images_ref(const NeighbourList& op) {
  std::vector<ImageRow> rows(static_cast<std::size_t>(op.edges.n_atoms()));
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s) add_all(op, s, rows);
  write_rows(rows, op.edges);
}

void neighbour_images_cpu(CpuContext& context, const NeighbourList& op) {
  std::vector<ImageRow> rows(static_cast<std::size_t>(op.edges.n_atoms()));
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s) add_by_cells(context, op, s, rows);
  write_rows(rows, op.edges);
}

}  // namespace biogpu::ops
