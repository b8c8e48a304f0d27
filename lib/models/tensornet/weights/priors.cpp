#include "lib/models/tensornet/weights/priors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/core/quote.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::models::tensornet {
namespace {

using Keys = std::vector<std::string>;

void check_arguments(const ModelConfig& arguments, const std::string& prior, const Keys& known) {
  for (const std::string& key : arguments.keys())
    if (arguments.has(key.c_str()) && std::find(known.begin(), known.end(), key) == known.end())
      arguments.fail(fmt::format("{} of {} is not supported", quoted(key), prior));
}

double read_positive(const ModelConfig& arguments, const char* key) {
  if (!arguments.has(key)) arguments.fail(fmt::format("has no {}", key));
  const double value = arguments.number_or(key, 0);
  if (!(value > 0 && std::isfinite(value)))
    arguments.fail(fmt::format("{} is {}; expected a number above 0", key, value));
  return value;
}

double read_cutoff(const ModelConfig& arguments) {
  const double cutoff = read_positive(arguments, "cutoff_distance");
  if (cutoff > 100)
    arguments.fail(fmt::format("cutoff_distance is {}; expected Angstrom up to 100", cutoff));
  return cutoff;
}

std::vector<std::int32_t> read_atomic_numbers(const ModelConfig& arguments) {
  std::vector<std::int32_t> numbers;
  for (const double number : arguments.numbers("atomic_number")) {
    if (!(number >= 0 && number <= structure::kMaxAtomicNumber && number == std::floor(number)))
      arguments.fail(fmt::format("atomic_number has {}; expected whole numbers from 0 to {}",
                                 number, structure::kMaxAtomicNumber));
    numbers.push_back(static_cast<std::int32_t>(number));
  }
  return numbers;
}

void read_scales(const ModelConfig& arguments, Prior& prior) {
  prior.metres_per_length = read_positive(arguments, "distance_scale");
  prior.joules_per_energy = read_positive(arguments, "energy_scale");
}

void read_switch(const ModelConfig& arguments, Prior& prior) {
  prior.switch_begin = arguments.number_or("lower_switch_distance", -1);
  prior.switch_end = read_positive(arguments, "upper_switch_distance");
  if (!(prior.switch_begin >= 0 && prior.switch_begin < prior.switch_end))
    arguments.fail(fmt::format("lower_switch_distance is {}; expected nm from 0 to below {}",
                               prior.switch_begin, prior.switch_end));
}

void read_arguments(const ModelConfig& arguments, Prior& prior) {
  switch (prior.kind) {
    case Prior::Kind::atomref:
      check_arguments(arguments, prior.name, {"max_z", "trainable", "enable"});
      prior.is_on = arguments.flag_or("enable", true);
      return;
    case Prior::Kind::zbl:
    case Prior::Kind::d2:
      check_arguments(arguments, prior.name,
                      {"cutoff_distance", "max_num_neighbors", "atomic_number", "distance_scale",
                       "energy_scale"});
      prior.cutoff = read_cutoff(arguments);
      prior.atomic_numbers = read_atomic_numbers(arguments);
      return read_scales(arguments, prior);
    case Prior::Kind::coulomb:
      check_arguments(arguments, prior.name,
                      {"lower_switch_distance", "upper_switch_distance", "max_num_neighbors",
                       "distance_scale", "energy_scale"});
      read_switch(arguments, prior);
      return read_scales(arguments, prior);
  }
}

Prior::Kind kind_of(const ModelConfig& config, const std::string& name) {
  if (name == "Atomref") return Prior::Kind::atomref;
  if (name == "ZBL") return Prior::Kind::zbl;
  if (name == "D2") return Prior::Kind::d2;
  if (name == "Coulomb") return Prior::Kind::coulomb;
  config.fail(fmt::format("prior_model has {}; known are 'Atomref', 'ZBL', 'D2' and 'Coulomb'",
                          quoted(name)));
}

}  // namespace

std::vector<Prior> read_priors(const ModelConfig& config) {
  std::vector<Prior> priors;
  auto named = config.named_objects("prior_model");
  if (!named.empty() && config.has("prior_args")) {
    const std::vector<ModelConfig> arguments = config.objects("prior_args");
    if (arguments.size() != named.size())
      config.fail(fmt::format("prior_args has {} objects for {} of prior_model", arguments.size(),
                              named.size()));
    for (std::size_t k = 0; k < named.size(); ++k) named[k].second = arguments[k];
  }
  for (const auto& [name, arguments] : named) {
    Prior prior;
    prior.name = name;
    prior.kind = kind_of(config, name);
    if (prior.kind != Prior::Kind::atomref && arguments.keys().empty())
      config.fail(fmt::format("has no prior_args, which {} needs", name));
    read_arguments(arguments, prior);
    priors.push_back(std::move(prior));
  }
  return priors;
}

}  // namespace biogpu::models::tensornet
