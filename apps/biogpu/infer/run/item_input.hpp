#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/core/error.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

// Where the items of a run come from, one after the other: molecules, images, arrays, ... It gives
// those of the shard.
template <class Item>
class ItemSource {
 public:
  ItemSource() = default;
  virtual ~ItemSource() = default;
  ItemSource(const ItemSource&) = delete;
  ItemSource& operator=(const ItemSource&) = delete;

  // False at the end. Throws Error{bad_input} with the place of an item that is malformed.
  virtual bool next(Item& item) = 0;
  // How many there are; 0 where only the end tells.
  virtual std::uint64_t n_items() const { return 0; }
  // For the summary: those that were read to their end.
  virtual std::vector<report::InputFile> files() const = 0;

  // Gets the message of each item that is left out.
  using Report = std::function<void(const std::string& what)>;
  void set_report(Report report) { report_ = std::move(report); }
  void leave_out(const std::string& what) {
    ++n_skipped_;
    if (report_) report_(what);
  }
  std::uint64_t n_skipped() const { return n_skipped_; }

 private:
  Report report_;
  std::uint64_t n_skipped_ = 0;
};

// Items that are known before the first is read: files, regions, pairs of a table.
template <class Item>
class ListSource : public ItemSource<Item> {
 public:
  // Gives the items of the shard alone.
  ListSource(std::vector<Item> items, const io::Shard& shard) : items_(std::move(items)) {
    const io::RecordRange range = io::shard_range(shard, items_.size());
    items_.resize(range.end);
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(range.begin));
  }

  const std::vector<Item>& items() const { return items_; }
  bool next(Item& item) override {
    if (next_ == items_.size()) return false;
    item = items_[next_++];
    return true;
  }
  std::uint64_t n_items() const override { return items_.size(); }

 private:
  std::vector<Item> items_;
  std::size_t next_ = 0;
};

// The items of a source in batches whose costs add up to a bound, or of one that costs more.
template <class Item>
class ItemInput : public ModelInput {
 public:
  using Cost = std::function<std::uint64_t(const Item& item)>;
  // cost: of an item, in the parts that `words` names; one each where it is not given.
  ItemInput(RecordWords words, std::unique_ptr<ItemSource<Item>> source, Cost cost = {})
      : ModelInput(words), source_(std::move(source)), cost_(std::move(cost)) {}

  const ItemSource<Item>& source() const { return *source_; }
  std::uint64_t cost(const Item& item) const { return cost_ ? cost_(item) : 1; }
  // Before the first read(): of a batch.
  void set_max_cost(std::uint64_t max_cost) { max_cost_ = max_cost; }
  // Before the first read(): items for which check throws Error{bad_input} are left out.
  using Check = std::function<void(const Item& item)>;
  void leave_out_bad(Check check) { check_ = std::move(check); }
  // Before the first read(): gets the message of each item that is left out.
  void set_report(typename ItemSource<Item>::Report report) {
    source_->set_report(std::move(report));
  }

  std::vector<Item>& items(std::size_t slot) { return batches_[slot].items; }
  // Number of the batch in a slot: batches in the order of the input, from 0.
  std::size_t number(std::size_t slot) const { return batches_[slot].number; }
  // Whether the results that were there already have all been told.
  bool has_begun() const { return !batches_.empty(); }

  std::uint64_t n_records() const override { return source_->n_items(); }
  bool read(std::size_t slot) override {
    Batch& batch = batches_[slot];
    batch.items.clear();
    std::uint64_t sum = 0;
    while ((batch.items.empty() || sum < max_cost_) && (has_held_ || read_next())) {
      const std::uint64_t its = cost(held_);
      if (!batch.items.empty() && sum + its > max_cost_) break;
      sum += its;
      batch.items.push_back(std::move(held_));
      has_held_ = false;
    }
    if (batch.items.empty()) return false;
    batch.number = n_batches_++;
    return true;
  }
  std::vector<report::InputFile> files() const override { return source_->files(); }

 private:
  struct Batch {
    std::vector<Item> items;
    std::size_t number = 0;
  };
  void set_slots(std::size_t n_slots) override { batches_.resize(n_slots); }

  // The next that has no result yet, into held_.
  bool read_next() {
    while (source_->next(held_))
      if (is_good(held_) && skip(1) == 0) return has_held_ = true;
    return false;
  }
  bool is_good(const Item& item) {
    if (!check_) return true;
    try {
      check_(item);
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::bad_input) throw;
      source_->leave_out(error.what());
    }
    return false;
  }

  const std::unique_ptr<ItemSource<Item>> source_;
  const Cost cost_;
  std::uint64_t max_cost_ = 1;
  Check check_;
  std::vector<Batch> batches_;
  std::size_t n_batches_ = 0;
  Item held_{};  // read, and too much for the batch before
  bool has_held_ = false;
};

}  // namespace biogpu::app
