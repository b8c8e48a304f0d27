#include "lib/models/alphagenome/junctions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "lib/models/alphagenome/head_weights.hpp"
#include "lib/models/alphagenome/weight_reader.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models::alphagenome {
namespace {

using ops::Map;
using ops::MapCode;
using tensor::DType;
using tensor::Tensor;

constexpr float kMinProbability = 0.1f;
constexpr std::int64_t kMaxRotaryPosition = std::int64_t{1} << 20;
constexpr std::int64_t kTissuesOfPart = 16;  // whose sites are in memory at a time
constexpr std::array kClassNames{"pos_donor", "pos_acceptor", "neg_donor", "neg_acceptor"};

std::string strand_output(std::size_t strand) { return fmt::format("strand.{}", strand); }

// Cosines and sines [sites, channels / 2] of angles that are computed in double precision: a
// position is up to 2^20, so that fp32 angles would be off by hundredths.
struct RotaryTable {
  std::vector<float> cosines, sines;
};

RotaryTable site_rotations(const std::vector<std::int32_t>& positions, std::int64_t n_pairs) {
  RotaryTable table;
  const auto last = static_cast<double>(kMaxRotaryPosition - n_pairs + 1);
  std::vector<double> denominators;
  for (std::int64_t i = 0; i < n_pairs; ++i)
    denominators.push_back(
        static_cast<double>(i) +
        std::pow(last,
                 n_pairs == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(n_pairs - 1)));
  for (const std::int32_t position : positions)
    for (const double denominator : denominators) {
      const double angle = static_cast<double>(position) / denominator;
      table.cosines.push_back(static_cast<float>(std::cos(angle)));
      table.sines.push_back(static_cast<float>(std::sin(angle)));
    }
  return table;
}

// Sites of a class on the device: their projections and the turns of their positions.
struct ClassSites {
  std::int64_t n = 0;
  Tensor projected;       // f32 [n, 1, channels]
  Tensor cosines, sines;  // f32 [n, 1, channels / 2]
};

// [sites, tissues, channels] of tissues [begin, end): projection * scale + shift, turned.
Tensor turned_sites(Pass& pass, const ClassSites& sites, const Tensor& scale, const Tensor& shift,
                    std::int64_t begin, std::int64_t end) {
  tensor::Context& context = pass.context();
  const std::int64_t d = scale.shape[1], half = d / 2;
  const Tensor x = pass.arena().take(DType::f32, {sites.n, end - begin, d});
  const Tensor turned = pass.arena().take(DType::f32, {sites.n, end - begin, d});
  ops::map(context, ops::map_scale_shift(sites.projected, scale.slice(0, begin, end),
                                         shift.slice(0, begin, end), x));
  const Tensor even = x.slice(2, 0, half), odd = x.slice(2, half, d);
  // a cos + b sin, or a cos - b sin.
  const auto turn = [&](const Tensor& a, const Tensor& b, MapCode code, const Tensor& out) {
    ops::map(context, ops::make_map({b, sites.sines, a, sites.cosines},
                                    {{MapCode::multiply, 1},
                                     {MapCode::keep, Map::kKept},
                                     {MapCode::load, 2},
                                     {MapCode::multiply, 3},
                                     {code, Map::kKept}},
                                    out));
  };
  turn(even, odd, MapCode::subtract, turned.slice(2, 0, half));
  turn(odd, even, MapCode::add, turned.slice(2, half, d));
  return turned;
}

// Operand [1, width]: the largest of each column, by halves.
Tensor maximum_row(Pass& pass, const Tensor& rows) {
  tensor::Context& context = pass.context();
  const Tensor maximum = pass.arena().take(rows.dtype, {1, rows.shape[1]});
  const auto scope = pass.arena().scope();
  const Tensor x = pass.arena().take(DType::f32, {rows.shape[0], rows.shape[1]});
  ops::map(context, ops::map_copy(rows, x));
  for (std::int64_t n = rows.shape[0]; n > 1; n = (n + 1) / 2) {
    const Tensor first = x.slice(0, 0, n / 2), last = x.slice(0, (n + 1) / 2, n);
    ops::map(context, ops::make_map({first, last}, {{MapCode::maximum, 1}}, first));
  }
  ops::map(context, ops::map_copy(x.slice(0, 0, 1), maximum));
  return maximum;
}

// Even elements of each row before odd ones.
std::vector<double> even_first(const float* values, std::int64_t n) {
  Matrix row{n, 1, {values, values + n}, {}};
  row.halve_pairs(n);
  return row.weight;
}

}  // namespace

JunctionWeights read_junctions(WeightReader& reader, const std::vector<std::int64_t>& columns) {
  const Config& config = reader.config();
  const std::int64_t n_tissues = config.junction_tissues, d = config.junction_channels;
  JunctionWeights weights;
  std::array<std::vector<std::int64_t>, 2> tissues;
  for (std::int64_t i = 0; i < (columns.empty() ? 2 * n_tissues : std::ssize(columns)); ++i) {
    const std::int64_t column = columns.empty() ? i : columns[static_cast<std::size_t>(i)];
    const std::size_t strand = column < n_tissues ? 0 : 1;
    weights.columns.push_back({strand, tissues[strand].size()});
    tissues[strand].push_back(column % n_tissues);
  }
  weights.sites = read_splice_sites(reader, {});
  Matrix project =
      reader.organism_matrix("splice_sites_junction_head.conv", d, config.fine_width());
  project.halve_pairs(d);
  Matrix bias{d, 1, project.bias, {}};
  bias.halve_pairs(d);
  project.bias = bias.weight;
  weights.project = reader.upload(project);
  for (std::size_t c = 0; c < kClassNames.size(); ++c) {
    const std::vector<double> both = reader.of_organism(
        fmt::format("splice_sites_junction_head.rope_params.{}", kClassNames[c]), 2, n_tissues, d);
    const std::vector<float> numbers(both.begin(), both.end());
    std::vector<double> scale, shift;
    for (const std::int64_t tissue : tissues[c / 2]) {
      const std::vector<double> of_scale = even_first(numbers.data() + tissue * d, d);
      const std::vector<double> of_shift = even_first(numbers.data() + (n_tissues + tissue) * d, d);
      scale.insert(scale.end(), of_scale.begin(), of_scale.end());
      shift.insert(shift.end(), of_shift.begin(), of_shift.end());
    }
    const auto n = std::ssize(tissues[c / 2]);
    weights.scale[c] = reader.upload(scale, {n, d});
    weights.shift[c] = reader.upload(shift, {n, d});
  }
  return weights;
}

SpliceSites select_sites(std::span<const float> probabilities) {
  SpliceSites sites;
  const auto n = static_cast<std::int32_t>(std::ssize(probabilities) / kSpliceClasses);
  for (std::size_t c = 0; c < sites.size(); ++c) {
    const auto of = [&](std::int32_t base) {
      const float p = probabilities[static_cast<std::size_t>(base * kSpliceClasses) + c];
      return std::isnan(p) ? std::numeric_limits<float>::infinity() : p;
    };
    std::vector<std::int32_t>& found = sites[c];
    for (std::int32_t base = 0; base < n; ++base)
      if (of(base) >= kMinProbability) found.push_back(base);
    if (std::ssize(found) <= kMaxSites) continue;
    std::nth_element(
        found.begin(), found.begin() + kMaxSites, found.end(),
        [&](std::int32_t a, std::int32_t b) { return of(a) != of(b) ? of(a) > of(b) : a < b; });
    found.resize(kMaxSites);
    std::sort(found.begin(), found.end());
  }
  return sites;
}

void mark_unknown_sites(std::span<const float> probabilities, const SpliceSites& sites,
                        Outputs::Array& positions) {
  float* const places = positions.values.data();
  for (std::size_t c = 0; c < sites.size(); ++c)
    for (std::size_t i = 0; i < sites[c].size(); ++i)
      if (std::isnan(probabilities[static_cast<std::size_t>(sites[c][i] * kSpliceClasses) + c]))
        places[c * static_cast<std::size_t>(positions.shape[1]) + i] =
            std::numeric_limits<float>::quiet_NaN();
}

SiteRows own_rows(const SpliceSites& sites) {
  SiteRows rows;
  for (const std::vector<std::int32_t>& of_class : sites)
    rows.rows.insert(rows.rows.end(), of_class.begin(), of_class.end());
  return rows;
}

SiteRows rows_behind(const SiteRows& rows, std::int64_t first, std::int64_t n) {
  SiteRows moved = rows;
  const auto move = [&](std::int64_t row, std::int64_t end) {
    if (row < first || row - first >= end)
      throw std::out_of_range("a splice site whose base was not computed");
    return row - first;
  };
  bool has_maximum = false;
  for (std::int32_t& row : moved.rows) {
    has_maximum = has_maximum || row == SiteRows::kMaximum;
    if (row >= 0) row = static_cast<std::int32_t>(move(row, n));
  }
  if (!has_maximum) return moved;
  moved.max_begin = move(rows.max_begin, n);
  moved.max_end = move(rows.max_end, n + 1);
  return moved;
}

void predict_junctions(Pass& pass, const JunctionWeights& weights, const Tensor& rows,
                       const SpliceSites& sites, const SiteRows& of_sites) {
  const std::int64_t d = weights.project.n_out, half = d / 2;
  std::vector<std::int32_t> all;
  for (const std::vector<std::int32_t>& of_class : sites)
    all.insert(all.end(), of_class.begin(), of_class.end());
  const auto n_all = std::ssize(all);
  std::vector<std::int32_t> sources = of_sites.rows;
  const bool has_maximum =
      std::find(sources.begin(), sources.end(), SiteRows::kMaximum) != sources.end();
  const std::int64_t max_begin = of_sites.max_begin, n_of_maximum = of_sites.max_end - max_begin;
  std::replace(sources.begin(), sources.end(), SiteRows::kMaximum,
               static_cast<std::int32_t>(rows.shape[0]));
  pass.depends_on(has_maximum ? static_cast<std::uint64_t>(n_of_maximum) : 0);
  pass.depends_on(has_maximum ? static_cast<std::uint64_t>(max_begin) : 0);
  const RotaryTable rotary = site_rotations(all, half);
  const Tensor places = pass.upload(sources);
  const Tensor cosines = pass.upload(DType::f32, {n_all, 1, half}, rotary.cosines.data());
  const Tensor sines = pass.upload(DType::f32, {n_all, 1, half}, rotary.sines.data());
  std::array<Tensor, 2> counts;
  for (std::size_t strand = 0; strand < counts.size(); ++strand)
    counts[strand] = pass.output(strand_output(strand),
                                 {std::ssize(sites[2 * strand]), std::ssize(sites[2 * strand + 1]),
                                  weights.scale[2 * strand].shape[0]});
  pass.run([&] {
    tensor::Context& context = pass.context();
    tensor::Arena& arena = pass.arena();
    const auto scope = arena.scope();
    const Tensor chosen = arena.take(context.compute_dtype(), {n_all, rows.shape[1]});
    const Tensor projected = arena.take(DType::f32, {n_all, d});
    Tensor maximum;
    if (has_maximum)
      maximum = maximum_row(pass, rows.slice(0, max_begin, max_begin + n_of_maximum));
    ops::gather_rows(context, {rows, places, chosen, maximum});
    ops::gemm(context, {chosen, &weights.project, ops::Activation::none, {}, projected});
    const Tensor by_tissue(projected.data, projected.dtype, {n_all, 1, d});
    std::array<ClassSites, kJunctionClasses> of_class;
    std::int64_t first = 0;
    for (std::size_t c = 0; c < sites.size(); ++c) {
      const std::int64_t end = first + std::ssize(sites[c]);
      of_class[c] = {end - first, by_tissue.slice(0, first, end), cosines.slice(0, first, end),
                     sines.slice(0, first, end)};
      first = end;
    }
    for (std::size_t strand = 0; strand < counts.size(); ++strand) {
      const std::size_t donor = 2 * strand, acceptor = donor + 1;
      const Tensor& out = counts[strand];
      if (out.size() == 0) continue;
      for (std::int64_t begin = 0; begin < out.shape[2]; begin += kTissuesOfPart) {
        const auto part = arena.scope();
        const std::int64_t end = std::min(out.shape[2], begin + kTissuesOfPart);
        const Tensor donors = turned_sites(pass, of_class[donor], weights.scale[donor],
                                           weights.shift[donor], begin, end);
        const Tensor acceptors = turned_sites(pass, of_class[acceptor], weights.scale[acceptor],
                                              weights.shift[acceptor], begin, end);
        ops::matmul(context,
                    {tensor::permuted(donors, {1, 0, 2}), tensor::permuted(acceptors, {1, 2, 0}),
                     tensor::permuted(out.slice(2, begin, end), {2, 0, 1})});
      }
      ops::map(context, ops::map_function(MapCode::softplus, out, out));
    }
  });
}

Junctions join_strands(const JunctionWeights& weights, const SpliceSites& sites,
                       const Outputs& strands) {
  const auto n_of = [&](std::size_t c) { return std::ssize(sites[c]); };
  const std::int64_t n_donors = std::max(n_of(0), n_of(2));
  const std::int64_t n_acceptors = std::max(n_of(1), n_of(3));
  const std::int64_t n_sites = std::max(n_donors, n_acceptors);
  const auto n_columns = std::ssize(weights.columns);
  Junctions joined;
  joined.tracks.shape = {n_donors, n_acceptors, n_columns};
  joined.tracks.values =
      io::SharedArray::unset(static_cast<std::size_t>(n_donors * n_acceptors * n_columns));
  float* const to = joined.tracks.values.data();
  std::fill_n(to, joined.tracks.values.size(), 0.0f);
  for (std::int64_t column = 0; column < n_columns; ++column) {
    const auto [strand, tissue] = weights.columns[static_cast<std::size_t>(column)];
    const Outputs::Array& counts = strands.at(strand_output(strand));
    const float* const from = std::as_const(counts.values).data();
    for (std::int64_t i = 0; i < counts.shape[0]; ++i)
      for (std::int64_t k = 0; k < counts.shape[1]; ++k)
        to[(i * n_acceptors + k) * n_columns + column] =
            from[(i * counts.shape[1] + k) * counts.shape[2] + static_cast<std::int64_t>(tissue)];
  }
  joined.positions.shape = {kJunctionClasses, n_sites};
  joined.positions.values =
      io::SharedArray::unset(static_cast<std::size_t>(kJunctionClasses * n_sites));
  float* const places = joined.positions.values.data();
  std::fill_n(places, joined.positions.values.size(), -1.0f);
  for (std::size_t c = 0; c < sites.size(); ++c)
    for (std::size_t i = 0; i < sites[c].size(); ++i)
      places[c * static_cast<std::size_t>(n_sites) + i] = static_cast<float>(sites[c][i]);
  return joined;
}

}  // namespace biogpu::models::alphagenome
