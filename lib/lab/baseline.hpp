#pragma once

#include <map>
#include <string>
#include <tuple>

#include "lib/lab/run_block.hpp"

namespace biogpu::lab {

// Times that an earlier run of the laboratory has recorded (`biogpu lab run --json`).
class Baseline {
 public:
  // Throws Error{bad_input} for a file that is none, Error{failed} for one that cannot be read.
  explicit Baseline(const std::string& path);

  const std::string& device() const { return device_; }
  const std::string& precision() const { return precision_; }
  // Seconds of the same block at the same extents; 0 where it was not measured.
  double seconds(const BlockResult& result) const;

 private:
  std::string device_, precision_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, double> seconds_;
};

}  // namespace biogpu::lab
