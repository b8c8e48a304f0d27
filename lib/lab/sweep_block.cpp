#include "lib/lab/sweep_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>

#include "lib/core/error.hpp"
#include "lib/lab/block_runner.hpp"

namespace biogpu::lab {
namespace {

using tensor::TiledProduct;
using tensor::TileTable;
using Clock = std::chrono::steady_clock;

constexpr int kMinRounds = 5;

// Products with another tile than by rule.
using Choices = std::map<TiledProduct, int>;

void choose(TileTable& table, const Choices& choices) {
  table.clear();
  for (const auto& [product, columns] : choices) table.choose(product, columns);
}

// The products of a block and their tiles by rule, after a comparison with double precision.
Choices find_products(tensor::Context& context, const Block& block, const Extents& extents,
                      RunSettings settings, TileTable& table) {
  Choices seen;
  table.clear();
  table.note(&seen);
  settings.min_runs = settings.max_runs = 0;
  settings.lists_kernels = false;
  try {
    run_block(context, block, extents, settings);
  } catch (...) {
    table.note(nullptr);
    throw;
  }
  table.note(nullptr);
  return seen;
}

class Sweep {
 public:
  Sweep(tensor::Context& context, const Block& block, const Extents& extents,
        const RunSettings& settings, TileTable& table)
      : context_(context),
        settings_(settings),
        table_(table),
        name_(fmt::format("{}, {}x{}", block.label(), extents.n, extents.c)),
        made_(block.make(extents, {context.compute_dtype(), settings.seed})) {
    made_->upload(context);
    runner_ = std::make_unique<BlockRunner>(context, *made_, name_);
  }
  ~Sweep() {
    runner_.reset();
    table_.clear();
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  void release() { made_->release(context_); }

  // The output of one run from the inputs.
  std::vector<float> output(const Choices& choices) {
    choose(table_, choices);
    made_->reload(context_);
    runner_->run(BlockRunner::make_key());
    const tensor::Tensor output = made_->output();
    std::vector<float> numbers(static_cast<std::size_t>(output.size()));
    context_.copy_out(numbers.data(), output);
    context_.synchronize();
    return numbers;
  }

  void require_bytes(const std::vector<float>& right, const TiledProduct& product, int columns) {
    const std::vector<float> got = output({{product, columns}});
    if (std::memcmp(got.data(), right.data(), right.size() * sizeof(float)) != 0)
      throw Error(ErrorCode::failed,
                  fmt::format("{}: {} with tiles of {} columns gives other bytes than by rule",
                              name_, product.operation, columns));
  }

  // Sorted seconds of runs with each of the choices, in turns.
  std::vector<std::vector<double>> measure(const std::vector<Choices>& ways) {
    std::vector<std::uint64_t> keys;
    for (const Choices& choices : ways) {
      keys.push_back(BlockRunner::make_key());
      choose(table_, choices);
      for (int run = 0; run < 2; ++run) runner_->run(keys.back());  // alone, then recorded
    }
    std::vector<std::vector<double>> seconds(ways.size());
    const auto begin = Clock::now();
    const double seconds_all = settings_.seconds_each * static_cast<double>(ways.size());
    for (int round = 0; round < settings_.max_runs; ++round) {
      const double so_far = std::chrono::duration<double>(Clock::now() - begin).count();
      if (round >= kMinRounds && so_far > seconds_all) break;
      for (std::size_t i = 0; i < ways.size(); ++i) {
        choose(table_, ways[i]);  // for contexts that record nothing
        seconds[i].push_back(runner_->run(keys[i]));
      }
    }
    for (auto& of_way : seconds) std::sort(of_way.begin(), of_way.end());
    return seconds;
  }

 private:
  tensor::Context& context_;
  const RunSettings settings_;
  TileTable& table_;
  const std::string name_;
  std::unique_ptr<BlockCase> made_;
  std::unique_ptr<BlockRunner> runner_;
};

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

// The range of the middle half, as a share of the median.
double spread(const std::vector<double>& sorted) {
  return (sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4]) / median(sorted);
}

bool is_faster(const std::vector<double>& other, const std::vector<double>& rule) {
  const double least = std::max({kWorthwhile, spread(other), spread(rule)});
  return median(other) < (1 - least) * median(rule);
}

}  // namespace

std::vector<SweptProduct> sweep_block(tensor::Context& context, const Block& block,
                                      const Extents& extents, const RunSettings& settings,
                                      TileTable& table, std::set<TiledProduct>& known) {
  std::vector<SweptProduct> swept;
  for (const auto& [product, by_rule] : find_products(context, block, extents, settings, table)) {
    if (!known.insert(product).second) continue;
    const int* const columns = tensor::find_tiled_operation(product.operation)->columns;
    SweptProduct& one = swept.emplace_back();
    one.product = product;
    one.by_rule = by_rule;
    one.other = columns[by_rule == columns[0] ? 1 : 0];
  }
  if (swept.empty()) return swept;
  Sweep sweep(context, block, extents, settings, table);
  const std::vector<float> right = sweep.output({});
  std::vector<Choices> ways(1);  // first by rule
  for (const SweptProduct& one : swept) {
    sweep.require_bytes(right, one.product, one.other);
    ways.push_back({{one.product, one.other}});
  }
  const auto seconds = sweep.measure(ways);
  Choices winners;
  for (std::size_t i = 0; i < swept.size(); ++i) {
    swept[i].rule_s = median(seconds[0]);
    swept[i].other_s = median(seconds[i + 1]);
    swept[i].noise = std::max(spread(seconds[0]), spread(seconds[i + 1]));
    if (is_faster(seconds[i + 1], seconds[0])) winners[swept[i].product] = swept[i].other;
  }
  if (!winners.empty()) {
    const auto again = sweep.measure({{}, winners});
    const bool hold = is_faster(again[1], again[0]);
    for (SweptProduct& one : swept) one.wins = hold && winners.count(one.product) > 0;
  }
  sweep.release();
  return swept;
}

}  // namespace biogpu::lab
