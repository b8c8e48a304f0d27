// All units that need nothing more of each other, of all sequences, are decoded together.
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "lib/core/parallel_for.hpp"
#include "lib/models/proteinmpnn/ops/decode_units.hpp"
#include "lib/models/proteinmpnn/ops/edge_block.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

using Units = std::vector<const Unit*>;

// A unit's level: one above the highest that its members' earlier neighbours have.
std::vector<Units> find_levels(const Decode& op) {
  std::vector<Units> levels;
  std::vector<std::size_t> level(static_cast<std::size_t>(op.rank.shape[0]), 0);
  const auto* const rank = op.rank.as<std::int32_t>();
  for (std::int64_t u = 0; u < op.n_units; ++u) {
    const Unit& unit = op.units[u];
    const Sequence& sequence = op.sequences[unit.sequence];
    std::size_t own = 0;
    for (std::int32_t m = 0; m < unit.n; ++m) {
      const std::int64_t row = sequence.first_row + member_of(op, unit, m);
      if (op.present.as<std::uint8_t>()[row] == 0) continue;
      for (std::int32_t e = 0; e < op.counts.as<std::int32_t>()[row]; ++e) {
        const std::int32_t state =
            sequence.first_state + op.rows.row<std::int32_t>(row)[e] - sequence.first_row;
        if (rank[state] < unit.begin)
          own = std::max(own, level[static_cast<std::size_t>(state)] + 1);
      }
    }
    for (std::int32_t m = 0; m < unit.n; ++m)
      level[static_cast<std::size_t>(sequence.first_state + member_of(op, unit, m))] = own;
    if (levels.size() <= own) levels.resize(own + 1);
    levels[own].push_back(&unit);
  }
  return levels;
}

// A residue of a sequence.
struct Place {
  const Sequence* sequence = nullptr;
  std::int64_t residue = 0;
};

// Memory of one thread for the residues of a block.
struct BlockRoom {
  static std::int64_t floats(std::int64_t k) {
    return EdgeRoom::floats(k, kHidden) + kNodesAtOnce * (3 * kHidden + kLetterCount);
  }
  BlockRoom(float* memory, std::int64_t k)
      : edges(memory, k, kHidden),
        h(memory + EdgeRoom::floats(k, kHidden)),
        node_proj(h + kNodesAtOnce * kHidden),
        logits(node_proj + kNodesAtOnce * 2 * kHidden) {}

  EdgeRoom edges;
  float* h;          // [places, kHidden]
  float* node_proj;  // [places, 2 kHidden]
  float* logits;     // [places, kLetterCount]
};

void run_layer(const Decode& op, int l, const std::vector<Place>& places, BlockRoom& room) {
  for (std::size_t r = 0; r < places.size(); ++r) {
    const auto [sequence, i] = places[r];
    const std::int64_t row = sequence->first_row + i, n = op.counts.as<std::int32_t>()[row];
    for (std::int64_t e = 0; e < n; ++e)
      room.edges.senders[static_cast<std::size_t>(e)] =
          sender_of(op, *sequence, i, op.rows.row<std::int32_t>(row)[e], l);
    const float* const edges = op.edges.row<float>(row) + l * kHidden;
    multiply_edges(
        nullptr,
        {edges, op.edges.stride[1], n, room.node_proj + r * 2 * kHidden, room.edges.senders.data()},
        kHidden, room.edges.edge_a);
    sum_messages(*op.layer[l].middle, room.edges.edge_a, n, nullptr, room.edges.sums + r * kHidden);
    room.edges.counts[r] = static_cast<float>(n);
  }
  update_nodes(op.layer[l].update, static_cast<std::int64_t>(places.size()), room.edges, room.h);
}

// All layers of places that do not need each other.
void run_layers(const Decode& op, const std::vector<Place>& places, BlockRoom& room) {
  const auto n = static_cast<std::int64_t>(places.size());
  for (std::size_t r = 0; r < places.size(); ++r) {
    const std::int64_t row = places[r].sequence->first_row + places[r].residue;
    std::copy_n(op.h.row<float>(row), kHidden, room.h + r * kHidden);
    std::copy_n(row_node_proj(op, row, 0), kHidden, room.node_proj + r * 2 * kHidden);
  }
  for (int l = 0; l < kLayers; ++l) {
    run_layer(op, l, places, room);
    if (l + 1 == kLayers) break;
    multiply_block(*op.layer[l + 1].node_proj, room.h, n, ops::Activation::none, room.node_proj);
    for (std::size_t r = 0; r < places.size(); ++r)
      std::copy_n(room.node_proj + (2 * r + 1) * kHidden, kHidden,
                  state_node_proj(op, places[r].sequence->first_state + places[r].residue, l + 1) +
                      kHidden);
  }
  multiply_block(*op.logits, room.h, n, ops::Activation::none, room.logits);
}

// Members of a unit one after the other, all units of the block side by side.
void decode_block(const Decode& op, const Unit* const* units, std::size_t n, BlockRoom& room) {
  std::vector<UnitProgress> progress(n);
  std::vector<Place> places;
  std::vector<std::size_t> owners;
  for (std::int32_t member = 0;; ++member) {
    places.clear();
    owners.clear();
    bool any = false;
    for (std::size_t u = 0; u < n; ++u) {
      if (member >= units[u]->n || progress[u].known >= 0) continue;
      any = true;
      const Sequence& sequence = op.sequences[units[u]->sequence];
      const std::int64_t i = member_of(op, *units[u], member);
      if (op.present.as<std::uint8_t>()[sequence.first_row + i] == 0) {
        progress[u].known = op.letters.as<std::int32_t>()[sequence.first_state + i];
        continue;
      }
      places.push_back({&sequence, i});
      owners.push_back(u);
    }
    if (!any) break;
    if (places.empty()) continue;
    run_layers(op, places, room);
    for (std::size_t r = 0; r < places.size(); ++r)
      take_logits(op, *units[owners[r]], places[r].residue, room.logits + r * kLetterCount,
                  progress[owners[r]]);
  }
  for (std::size_t u = 0; u < n; ++u) finish_unit(op, *units[u], progress[u]);
}

}  // namespace

void decode_cpu(CpuContext& context, const Decode& op) {
  const std::int64_t k = op.rows.shape[1];
  begin_states(op);
  context.execute([&] {
    const auto n_threads =
        static_cast<std::size_t>(std::max(1, tbb::this_task_arena::max_concurrency()));
    for (const Units& level : find_levels(op)) {
      const std::size_t step = std::clamp<std::size_t>((level.size() + n_threads - 1) / n_threads,
                                                       1, std::size_t{kNodesAtOnce});
      parallel_for_chunks(level.size(), step, [&](std::size_t, std::size_t begin, std::size_t end) {
        BlockRoom room(context.scratch().reserve(BlockRoom::floats(k)), k);
        decode_block(op, level.data() + begin, end - begin, room);
      });
    }
  });
}

}  // namespace biogpu::models::proteinmpnn
