#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/tasks/dna/tracks.hpp"
#include "lib/tasks/dna/window_source.hpp"

namespace biogpu::app {

// Windows of DNA in batches of so many.
class WindowInput : public ModelInput {
 public:
  WindowInput() : ModelInput({"windows", "bases", true}) {}

  // Before the first read(). unknown: the code of letters that are none of A, C, G, T.
  void open(std::unique_ptr<tasks::WindowSource> source, std::uint8_t unknown);
  void set_batch(std::int64_t n_windows) { n_per_batch_ = static_cast<std::size_t>(n_windows); }

  const tasks::DnaWindows& windows(std::size_t slot) const { return batches_[slot].windows; }
  // Of a window of a slot, for errors.
  const std::string& place(std::size_t slot, std::size_t window) const {
    return batches_[slot].places[window];
  }

  std::span<const genome::Contig> contigs() const { return source_->contigs(); }
  std::uint64_t n_skipped() const { return source_->n_skipped(); }
  // Of a genome: where a window begins, and the bases that are wanted of it, where not all are.
  struct Position {
    std::size_t contig = 0;
    std::int64_t begin = 0;
    std::int64_t wanted_begin = 0;
    std::int64_t wanted_end = 0;
  };
  // Positions of the windows of a slot; none where they are records of files.
  const std::vector<Position>& positions(std::size_t slot) const {
    return batches_[slot].positions;
  }
  // Called with each window as it is read; what it throws ends the run.
  void on_window(std::function<void(const tasks::InputWindow& window)> check) {
    check_ = std::move(check);
  }

  bool read(std::size_t slot) override;
  std::vector<report::InputFile> files() const override;

 private:
  struct Batch {
    tasks::DnaWindows windows;
    std::vector<std::string> places;
    std::vector<Position> positions;
  };
  void set_slots(std::size_t n_slots) override { batches_.resize(n_slots); }

  std::unique_ptr<tasks::WindowSource> source_;
  std::function<void(const tasks::InputWindow& window)> check_;
  std::size_t n_per_batch_ = 1;
  std::uint8_t unknown_ = 0;
  std::vector<Batch> batches_;
};

}  // namespace biogpu::app
