#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/model_input.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

// Replaces folders by the structures in them, in the order of their names. Throws Error{bad_input}
// for a folder without any, Error{usage} where nothing is given.
std::vector<std::string> find_structures(const std::vector<std::string>& inputs);

// Files of structures, each a record; what they hold is read by the workers.
class StructureInput : public ModelInput {
 public:
  // Of the paths it takes the shard's.
  StructureInput(std::vector<std::string> paths, const io::Shard& shard);

  void set_batch(std::size_t n_structures) { n_at_once_ = n_structures; }
  std::span<const std::string> paths(std::size_t slot) const;
  // Batches in the order of the input, from 0.
  std::size_t number(std::size_t slot) const { return batches_[slot].number; }

  std::uint64_t n_records() const override { return paths_.size(); }
  bool read(std::size_t slot) override;
  std::vector<report::InputFile> files() const override;

 private:
  struct Batch {
    std::size_t number = 0;
    std::size_t begin = 0, end = 0;  // into the paths
  };
  void set_slots(std::size_t n_slots) override { batches_.resize(n_slots); }

  std::vector<std::string> paths_;
  std::size_t n_at_once_ = 1;
  std::size_t next_ = 0;
  std::size_t n_batches_ = 0;
  std::vector<Batch> batches_;
};

}  // namespace biogpu::app
