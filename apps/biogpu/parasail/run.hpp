#pragma once

#include <memory>
#include <string>

#include "apps/biogpu/align/compute/compute.hpp"
#include "apps/biogpu/parasail/flags.hpp"
#include "apps/biogpu/parasail/seed_filter.hpp"
#include "apps/biogpu/run/log.hpp"

namespace biogpu::app {

// One run of `biogpu align parasail`, on the engine of `biogpu align`.
class ParasailRun {
 public:
  // Reads the database.
  explicit ParasailRun(const ParasailFlags& flags);
  void run();

 private:
  bool has_queries() const { return !flags_.query_path.empty(); }
  void choose_style();
  void set_filter();
  std::string header() const;
  void write_pairs();
  void align();

  const ParasailFlags& flags_;
  Log log_;
  UnitReader reader_;
  RowStyle style_;
  std::unique_ptr<SeedFilter> filter_;
  EncodedSet held_targets_;
};

}  // namespace biogpu::app
