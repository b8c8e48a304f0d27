#include "lib/models/proteinmpnn/ops/begin_scores.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using namespace biogpu::models;
using test::Bed;
using test::Indices;
using test::Pair;

// Two structures of 5 and 7 rows with a sequence each; letters are given in any order of decoding.
TEST_CASE("proteinmpnn.begin_scores: states take rows, letters and who comes before", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  constexpr int kRows = 12, kNeighbours = 4;
  std::vector<std::int32_t> neighbours, ranks, state_rows, sequence_of, letters, letter_states;
  for (int r = 0; r < kRows; ++r) {
    const int first = r < 5 ? 0 : 5, n = r < 5 ? 5 : 7;
    for (int e = 0; e < kNeighbours; ++e) neighbours.push_back(first + (r - first + e) % n);
    ranks.push_back((r - first) * 3 % n);  // 3 shares no factor with 5 and 7
    state_rows.push_back(r);
    sequence_of.push_back(r < 5 ? 0 : 1);
    letters.push_back(r == 6 ? proteinmpnn::kNoLetter : r * 5 % 21);
    letter_states.push_back(r % 3 == 0 ? 6 : r);
  }
  const proteinmpnn::Sequence sequences[] = {{0, 0, 5, 0, 1}, {5, 5, 7, 0, 1}};
  const Pair h = bed.random({kRows, proteinmpnn::kHidden}, 1, false);
  const Pair state_h = bed.unset({kRows, proteinmpnn::kHidden}, false);
  const Pair node_proj = bed.random({2 * kRows, proteinmpnn::kNodeProj}, 1, false);
  // A letter adds nothing to what a residue gives as receiver.
  std::vector<float> added(21 * 2 * proteinmpnn::kHidden);
  for (std::size_t i = 0; i < added.size(); ++i)
    added[i] = i / proteinmpnn::kHidden % 2 == 0 ? 0.0f : static_cast<float>(i % 97) / 16 - 3;
  const Pair table = bed.pair({21, 2 * proteinmpnn::kHidden}, added, false);
  const Indices rows = bed.indices(neighbours), of = bed.indices(sequence_of);
  const Indices at = bed.indices(state_rows), rank = bed.indices(ranks);
  const Indices given = bed.indices(letters), from = bed.indices(letter_states);
  const Indices senders = bed.indices(std::vector<std::int32_t>(kRows * kNeighbours, -1));
  const Indices ids = bed.indices(std::vector<std::int32_t>(kRows, -1));
  const auto make = [&](bool device, const proteinmpnn::Sequence* of_structures) {
    const auto side = [&](const auto& both) { return device ? both.device : both.host; };
    proteinmpnn::BeginScores op;
    op.rows = side(rows);
    op.rows.rank = 2;
    op.rows.shape = {kRows, kNeighbours};
    op.rows.stride = {kNeighbours, 1};
    op.senders = side(senders);
    op.senders.rank = 2;
    op.senders.shape = op.rows.shape;
    op.senders.stride = op.rows.stride;
    op.h = side(h);
    op.node_proj = side(node_proj);
    op.table = side(table);
    op.sequences = of_structures;
    op.sequence_of = side(of);
    op.state_rows = side(at);
    op.rank = side(rank);
    op.letters = side(given);
    op.letter_states = side(from);
    op.ids = side(ids);
    op.state_h = side(state_h);
    return op;
  };
  proteinmpnn::begin_scores(bed.reference(), make(false, sequences));
  auto* const on_device =
      static_cast<proteinmpnn::Sequence*>(bed.device().allocate(sizeof(sequences)));
  bed.device().copy_in(tensor::Tensor(on_device, tensor::DType::u8, {sizeof(sequences)}),
                       sequences);
  proteinmpnn::begin_scores(bed.device(), make(true, on_device));
  CHECK(bed.difference(state_h) == 0);
  CHECK(bed.difference(node_proj) == 0);  // one rounded sum each
  for (const auto* const written : {&senders, &ids}) {
    std::vector<std::int32_t> got(written->values.size());
    bed.device().copy_out(got.data(), written->device);
    bed.device().synchronize();
    CHECK(got == written->values);
  }
  // The second neighbour of row 0 is row 1, which comes later; that of row 2 is row 3, of rank 4,
  // before which it comes with rank 1; the third of row 1 is row 3.
  CHECK(senders.values[1] == 1);
  CHECK(ids.values[0] == 0);
}
