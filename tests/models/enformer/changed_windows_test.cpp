#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lib/models/layers/tower_reach.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/enformer/model_support.hpp"

using namespace biogpu;
using models::RowRange;
using models::TowerReach;

TEST_CASE("enformer.changed_windows: the bytes of a whole pass", "[enformer][model]") {
  test::LoadedEnformer loaded(ops::make_cpu_context(2));
  test::check_changed(loaded, test::tiny_windows(), {});
}

TEST_CASE("enformer.changed_windows: what is kept is not sent again", "[enformer][model]") {
  auto counting = std::make_unique<test::CountingContext>();
  test::CountingContext& context = *counting;
  test::LoadedEnformer loaded(std::move(counting));
  test::check_sent(loaded, context, test::tiny_windows()[0]);
}

TEST_CASE("enformer.changed_windows: windows that differ in much are not near",
          "[enformer][model]") {
  test::LoadedEnformer loaded(ops::make_cpu_context(2));
  const test::Letters window = test::tiny_windows()[0];
  test::check_near(loaded, window, 512);
  CHECK_FALSE(
      loaded.model.is_near(window, test::with_letters(test::with_letters(window, 0, 1), 1000, 1)));
}

namespace {

// Rows of the result that a letter reaches, by spreading marks through every level.
std::vector<bool> spread(std::vector<bool> marks, const std::vector<std::int64_t>& taps) {
  for (const std::int64_t n : taps) {
    const std::int64_t half = (n - 1) / 2, size = std::ssize(marks);
    std::vector<bool> wider(marks.size()), pooled(marks.size() / 2);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = std::max<std::int64_t>(0, i - half); j <= std::min(size - 1, i + half);
           ++j)
        if (marks[static_cast<std::size_t>(j)]) wider[static_cast<std::size_t>(i)] = true;
    for (std::size_t i = 0; i < pooled.size(); ++i) pooled[i] = wider[2 * i] || wider[2 * i + 1];
    marks = pooled;
  }
  return marks;
}

}  // namespace

TEST_CASE("layers.tower_reach: what a letter reaches", "[layers]") {
  const std::vector<std::int64_t> taps = {15, 5, 5, 5};
  const std::int64_t n = 512;
  const TowerReach reach(taps, n);
  CHECK(reach.bin_size() == 16);
  CHECK(reach.n_rows() == 32);
  CHECK(reach.margin() == 3);
  std::int64_t most = 0;
  for (std::int64_t at = 0; at < n; ++at) {
    std::vector<bool> marks(static_cast<std::size_t>(n));
    marks[static_cast<std::size_t>(at)] = true;
    const std::vector<bool> rows = spread(marks, taps);
    const auto first = std::find(rows.begin(), rows.end(), true);
    const auto last = std::find(rows.rbegin(), rows.rend(), true).base();
    const RowRange reached = reach.reached({at, at + 1});
    INFO("letter " << at);
    CHECK(reached == RowRange{first - rows.begin(), last - rows.begin()});
    most = std::max(most, reached.size());
    // What zeros in place of the letters around a part reach is not looked at.
    const std::int64_t n_part = reach.part_size(reached);
    const RowRange part = reach.part(reached, n_part);
    CHECK(part.size() == n_part);
    std::vector<bool> outside(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      outside[static_cast<std::size_t>(i)] = i < 16 * part.begin || i >= 16 * part.end;
    const std::vector<bool> wrong = spread(outside, taps);
    CHECK(std::find(wrong.begin() + reached.begin, wrong.begin() + reached.end, true) ==
          wrong.begin() + reached.end);
  }
  CHECK(most == 6);
}

TEST_CASE("models.kept_store: slots are free again when the last copy goes", "[layers]") {
  const auto context = ops::make_cpu_context(1);
  models::KeptStore store(*context, {{tensor::DType::f32, 3, 5}, {tensor::DType::f32, 2, 7}});
  CHECK(store.window_bytes() == 4 * (3 * 5 + 2 * 7));
  CHECK(store.bytes() == 0);
  std::vector<models::KeptStore::Slot> slots = store.take(2);
  CHECK(store.bytes() == 2 * store.window_bytes());
  CHECK(*slots[0] == 0);
  CHECK(*slots[1] == 1);
  // Rows of no two slots or arrays share memory.
  std::vector<const float*> ends;
  for (std::size_t array = 0; array < 2; ++array)
    for (std::size_t slot = 0; slot < 2; ++slot) {
      const tensor::Tensor rows = store.rows(array, slot);
      if (!ends.empty()) CHECK(rows.as<float>() >= ends.back());
      ends.push_back(rows.as<float>() + rows.size());
    }
  CHECK_THROWS_AS(store.take(1), std::logic_error);
  CHECK_THROWS_AS(store.reserve(3), std::logic_error);
  slots.erase(slots.begin());
  const models::KeptStore::Slot copy = slots[0];
  CHECK(*store.take(1)[0] == 0);
  slots.clear();
  CHECK_THROWS_AS(store.reserve(3), std::logic_error);
  CHECK(*copy == 1);
}
