#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "lib/models/proteinmpnn/residue.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

// Calls body(begin, end) for blocks of residues on the threads of the arena.
template <class Body>
void for_blocks(std::int64_t n, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, (n + kBlock - 1) / kBlock),
                    [&](const tbb::blocked_range<std::int64_t>& blocks) {
                      for (std::int64_t b = blocks.begin(); b < blocks.end(); ++b)
                        body(b * kBlock, std::min(n, (b + 1) * kBlock));
                    });
}

class Encoder {
 public:
  Encoder(const Weights& weights, const Complex& complex, const std::vector<float>& noise)
      : weights_(weights), complex_(complex), geometry_(complex, noise), n_(complex.n) {
    Graph& graph = encoded_.graph;
    graph.n = n_;
    graph.k = std::min(weights.n_neighbours, n_);
    graph.neighbours.resize(static_cast<std::size_t>(n_ * graph.k));
    graph.distances.resize(graph.neighbours.size());
    k_ = graph.k;
    edges_ = cpu::floats(n_ * k_ * kHidden);
    ends_ = cpu::floats(n_ * 2 * kHidden);
    encoded_.h = cpu::floats(n_ * kHidden);
    std::fill(h(0), h(0) + n_ * kHidden, 0.0f);
  }

  Encoded run(EncoderTaps* taps) {
    for_blocks(n_, [&](std::int64_t begin, std::int64_t end) {
      geometry_.find_neighbours(encoded_.graph, begin, end);
    });
    if (taps != nullptr) taps->features.resize(static_cast<std::size_t>(n_ * k_ * kHidden));
    for_blocks(n_, [&](std::int64_t begin, std::int64_t end) { features(begin, end, taps); });
    for (const EncoderLayer& layer : weights_.encoder) {
      prepare_ends(layer.message);
      for_blocks(n_, [&](std::int64_t begin, std::int64_t end) { residues(layer, begin, end); });
      prepare_ends(layer.edge);
      for_blocks(n_, [&](std::int64_t begin, std::int64_t end) { edges(layer, begin, end); });
    }
    if (taps != nullptr) {
      taps->graph = encoded_.graph;
      taps->h.assign(encoded_.h.data(), encoded_.h.data() + n_ * kHidden);
      taps->edges.assign(edges_.data(), edges_.data() + n_ * k_ * kHidden);
    }
    prepare_decoder();
    return std::move(encoded_);
  }

 private:
  float* h(std::int64_t i) const { return encoded_.h.data() + i * kHidden; }
  float* edges_of(std::int64_t i) const { return edges_.data() + i * k_ * kHidden; }
  const std::int32_t* neighbours(std::int64_t i) const {
    return encoded_.graph.neighbours.data() + i * k_;
  }
  bool present(std::int64_t i) const { return complex_.present[static_cast<std::size_t>(i)] != 0; }

  void features(std::int64_t begin, std::int64_t end, EncoderTaps* taps) {
    const std::int64_t n_pairs = geometry_.n_pairs(), basis = n_pairs * cpu::kBasis;
    const std::int64_t width = basis + geometry_.n_extra();
    cpu::Floats inputs = cpu::floats(k_ * width + cpu::kBasisSlack),
                out = cpu::floats(k_ * kHidden);
    std::vector<float> distances(static_cast<std::size_t>(n_pairs));
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t e = 0; e < k_; ++e) {
        const std::int64_t j = neighbours(i)[e];
        float* const row = inputs.data() + e * width;
        distances[0] = encoded_.graph.distances[static_cast<std::size_t>(i * k_ + e)];
        geometry_.pair_distances(i, j, distances.data());
        cpu::radial_basis(distances.data(), n_pairs, row);
        if (geometry_.n_extra() > 0) geometry_.orientation(i, j, row + basis);
      }
      cpu::dense(weights_.features, {inputs.data(), width}, k_, {out.data(), kHidden}, false);
      for (std::int64_t e = 0; e < k_; ++e) {
        const float* const position =
            weights_.positions.data() + position_class(complex_, i, neighbours(i)[e]) * kHidden;
        for (std::int64_t c = 0; c < kHidden; ++c) out.data()[e * kHidden + c] += position[c];
      }
      cpu::add_norm(weights_.feature_norm, {out.data(), kHidden}, {}, k_);
      if (taps != nullptr)
        std::copy(out.data(), out.data() + k_ * kHidden, taps->features.begin() + i * k_ * kHidden);
      cpu::dense(weights_.edges, {out.data(), kHidden}, k_, {edges_of(i), kHidden}, false);
    }
  }

  // What every residue adds to messages, as receiver and as neighbour.
  void prepare_ends(const Message& message) {
    for_blocks(n_, [&](std::int64_t begin, std::int64_t end) {
      cpu::dense(message.ends, {h(begin), kHidden}, end - begin,
                 {ends_.data() + begin * 2 * kHidden, 2 * kHidden}, false);
    });
  }

  cpu::Ends ends_of(std::int64_t i, Scratch& scratch) const {
    for (std::int64_t e = 0; e < k_; ++e)
      scratch.rows[static_cast<std::size_t>(e)] =
          ends_.data() + neighbours(i)[e] * 2 * kHidden + kHidden;
    return {ends_.data() + i * 2 * kHidden, scratch.rows.data()};
  }

  void residues(const EncoderLayer& layer, std::int64_t begin, std::int64_t end) {
    Scratch scratch(k_);
    std::vector<std::uint8_t> use(static_cast<std::size_t>(k_));
    for (std::int64_t i = begin; i < end; ++i) {
      float* const sum = scratch.sums.data() + (i - begin) * (kHidden + 1);
      std::int64_t n_used = 0;
      for (std::int64_t e = 0; e < k_; ++e) {
        const bool both = present(i) && present(neighbours(i)[e]);
        use[static_cast<std::size_t>(e)] = both ? 1 : 0;
        n_used += both ? 1 : 0;
      }
      cpu::dense_ends(layer.message.edge, edges_of(i), k_, ends_of(i, scratch),
                      scratch.edge_a.data());
      cpu::dense_sum(layer.message.middle, scratch.edge_a.data(), k_, use.data(), sum);
      sum[kHidden] = static_cast<float>(n_used);
    }
    update_residues(layer.message.last, layer.residue, {h(begin), kHidden}, end - begin, scratch);
    for (std::int64_t i = begin; i < end; ++i)
      if (!present(i)) std::fill(h(i), h(i) + kHidden, 0.0f);
  }

  void edges(const EncoderLayer& layer, std::int64_t begin, std::int64_t end) {
    Scratch scratch(k_);
    const cpu::Rows a{scratch.edge_a.data(), kHidden}, b{scratch.edge_b.data(), kHidden};
    for (std::int64_t i = begin; i < end; ++i) {
      cpu::dense_ends(layer.edge.edge, edges_of(i), k_, ends_of(i, scratch), a.data);
      cpu::dense(layer.edge.middle, a, k_, b, true);
      cpu::dense(layer.edge.last, b, k_, a, false);
      cpu::add_norm(layer.edge_norm, {edges_of(i), kHidden}, a, k_);
    }
  }

  void prepare_decoder() {
    encoded_.receiver = cpu::floats(n_ * kHidden);
    for (std::size_t l = 0; l < kLayers; ++l) {
      encoded_.edges[l] = cpu::floats(n_ * k_ * kHidden);
      encoded_.neighbour[l] = cpu::floats(n_ * kHidden);
    }
    for_blocks(n_, [&](std::int64_t begin, std::int64_t end) {
      cpu::Floats ends = cpu::floats(kBlock * 2 * kHidden);
      for (std::size_t l = 0; l < kLayers; ++l) {
        const Message& message = weights_.decoder[l].message;
        cpu::dense(message.edge, {edges_of(begin), kHidden}, (end - begin) * k_,
                   {encoded_.edges[l].data() + begin * k_ * kHidden, kHidden}, false);
        cpu::dense(message.ends, {h(begin), kHidden}, end - begin, {ends.data(), 2 * kHidden},
                   false);
        for (std::int64_t i = begin; i < end; ++i) {
          const float* const from = ends.data() + (i - begin) * 2 * kHidden;
          if (l == 0) std::copy(from, from + kHidden, encoded_.receiver.data() + i * kHidden);
          std::copy(from + kHidden, from + 2 * kHidden, encoded_.neighbour[l].data() + i * kHidden);
        }
      }
    });
  }

  const Weights& weights_;
  const Complex& complex_;
  const Geometry geometry_;
  const std::int64_t n_;
  std::int64_t k_ = 0;
  Encoded encoded_;
  cpu::Floats edges_;  // [n][k][kHidden]
  cpu::Floats ends_;   // [n][2 * kHidden]
};

}  // namespace

void update_residues(const cpu::Dense& last, const FeedForward& layer, cpu::Rows h,
                     std::int64_t n_rows, Scratch& scratch) {
  const cpu::Rows change{scratch.change.data(), kHidden};
  const cpu::Rows inner{scratch.inner.data(), 4 * kHidden};
  cpu::dense(last, {scratch.sums.data(), kHidden + 1}, n_rows, change, false);
  cpu::add_norm(layer.before, h, change, n_rows);
  cpu::dense(layer.in, h, n_rows, inner, true);
  cpu::dense(layer.out, inner, n_rows, change, false);
  cpu::add_norm(layer.after, h, change, n_rows);
}

Encoded encode(const Weights& weights, const Complex& complex, const std::vector<float>& noise,
               EncoderTaps* taps) {
  return Encoder(weights, complex, noise).run(taps);
}

}  // namespace biogpu::models::proteinmpnn
