#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "lib/bio/molecule/molecule.hpp"
#include "lib/models/base/potential_model.hpp"

namespace biogpu::app {

// What a run does to each frame before it is computed: it gives it a charge where the frame tells
// none, and warns of what a frame tells that has no effect. Each warning is given once a run, with
// the first frame that it is about.
class FrameRules {
 public:
  using Warn = std::function<void(const std::string& what)>;
  // charge: of frames that tell none.
  FrameRules(const models::PotentialModel::Info& info, std::optional<std::int32_t> charge,
             Warn warn)
      : info_(info), charge_(charge), warn_(std::move(warn)) {}

  void apply(molecule::Molecule& molecule, const std::string& place);

 private:
  enum class Topic { charge_unused, charge_differs, charge_unknown, remark };
  void warn_once(Topic topic, const std::string& what) {
    if (warned_.insert(topic).second) warn_(what);
  }
  void set_charge(molecule::Molecule& molecule, const std::string& place);

  const models::PotentialModel::Info& info_;
  const std::optional<std::int32_t> charge_;
  const Warn warn_;
  std::set<Topic> warned_;
};

}  // namespace biogpu::app
