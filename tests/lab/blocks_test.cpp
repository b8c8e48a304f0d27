#include <set>

#include "lib/core/error.hpp"
#include "lib/lab/registry.hpp"
#include "lib/lab/run_block.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using lab::Block;
using lab::Extents;

namespace {

lab::RunSettings once(int n_rows) {
  lab::RunSettings settings;
  settings.min_runs = settings.max_runs = 1;
  settings.n_rows = n_rows;
  return settings;
}

std::string error_of_names(const std::vector<std::string>& names) {
  try {
    lab::find_blocks(names);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return "";
}

// A layer norm that claims to be a little more than it is.
class WrongCase final : public lab::BlockCase {
 public:
  WrongCase(const lab::CaseSettings& settings, std::unique_ptr<lab::BlockCase> right, double off)
      : BlockCase(settings), right_(std::move(right)), off_(off) {
    weights_.add_norm("unused", 1);
  }
  void run(const models::BlockContext& run) override { right_->run(run); }
  tensor::Tensor output() const override { return right_->output(); }
  lab::Row start(std::int64_t row) const override { return right_->start(row); }
  lab::Row expected(std::int64_t row) const override {
    lab::Row numbers = right_->expected(row);
    numbers[0] += off_;
    return numbers;
  }
  double operations() const override { return 1; }
  double bytes() const override { return 1; }

 private:
  void read(tensor::Context& context, tensor::WeightTable& table) override {
    right_->upload(context);
    table.take_norm(context, "block.unused", 1, 1e-5f);
  }

  std::unique_ptr<lab::BlockCase> right_;
  const double off_;
};

}  // namespace

TEST_CASE("lab.blocks: every block of any size equals double precision", "[lab]") {
  const auto context = ops::make_cpu_context(2);
  for (const Block& block : lab::blocks())
    for (const Extents extents : {Extents{1, 8}, {5, 20}, {16, 35}, {33, 32}}) {
      CAPTURE(block.label(), extents.n, extents.c);
      const lab::BlockResult result = lab::run_block(*context, block, extents, once(40));
      CHECK(result.error < 2e-5);
      CHECK(result.angle < 1e-10);
      CHECK(result.median_s > 0);
      CHECK(result.operations > 0);
      CHECK(result.bytes > 0);
    }
}

TEST_CASE("lab.blocks: atoms of several windows", "[lab]") {
  const auto context = ops::make_cpu_context(1);
  const Block& block = *lab::find_blocks({"window-attention"}).at(0);
  for (const std::int64_t n : {32, 129, 200})
    CHECK(lab::run_block(*context, block, {n, 16}, once(25)).error < 2e-5);
}

TEST_CASE("lab.blocks: names, variants and shapes", "[lab]") {
  std::set<std::string> labels;
  for (const Block& block : lab::blocks()) {
    CAPTURE(block.label());
    CHECK(labels.insert(block.label()).second);
    CHECK_FALSE(block.shapes.empty());
    CHECK_FALSE(block.description.empty());
    // A variant stands behind the block that it is one of.
    CHECK(labels.count(block.name) == 1);
  }
  CHECK(lab::find_blocks({}).size() == lab::blocks().size());
  CHECK(lab::find_blocks({"triangle-product-out"}).size() == 2);
  CHECK(lab::find_blocks({"triangle-product-out:separate"}).size() == 1);
  CHECK(lab::find_blocks({"triangle-product-out", "triangle-product-out:separate"}).size() == 2);
  CHECK(
      error_of_names({"nonsense"}).find("no block 'nonsense'; there are triangle-product-out, ") ==
      0);
  CHECK(error_of_names({"triangle-product-out:other"}).find("no block") == 0);
}

TEST_CASE("lab.blocks: a block that is wrong is not timed", "[lab]") {
  const auto context = ops::make_cpu_context(1);
  Block block = *lab::find_blocks({"layer-norm"}).at(0);
  const auto right = block.make;
  for (const double off : {0.0, 1e-3}) {
    block.make = [&](const Extents& extents, const lab::CaseSettings& settings) {
      return std::make_unique<WrongCase>(settings, right(extents, settings), off);
    };
    if (off == 0)
      CHECK_NOTHROW(lab::run_block(*context, block, {4, 16}, once(4)));
    else
      CHECK_THROWS_AS(lab::run_block(*context, block, {4, 16}, once(4)), Error);
  }
}

TEST_CASE("lab.blocks: other seeds give other numbers", "[lab]") {
  const Block& block = *lab::find_blocks({"pair-transition"}).at(0);
  const auto one = block.make({4, 8}, {}), same = block.make({4, 8}, {});
  const auto other = block.make({4, 8}, {tensor::DType::f32, 2});
  CHECK(one->expected(3) == same->expected(3));
  CHECK_FALSE(one->expected(3) == other->expected(3));
}
