#include "lib/models/proteinmpnn/design/structure_task.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t kMaxListed = 10;
  std::string text;
  std::size_t n = 0;
  for (const std::string& name : names) {
    if (n++ == kMaxListed) return text + ", ...";
    text += (text.empty() ? "" : ", ") + shortened(name);
  }
  return text;
}

void add_warnings(const structure::Structure& structure, const std::string& path, Task& task) {
  if (!structure.unknown.empty())
    task.warnings.push_back(fmt::format("{}: residues of no known parent are read as X: {}", path,
                                        listed(structure.unknown)));
  if (!structure.left_out.empty())
    task.warnings.push_back(fmt::format("{}: HETATM residues of no known parent are left out: {}",
                                        path, listed(structure.left_out)));
}

// Negative mean log-probability of letters over residues that `use` says, NaN for none. Throws
// Error{failed} where one is NaN or infinite.
template <class Use>
float mean_score(const Task& task, const std::vector<float>& log_probabilities,
                 const std::vector<std::uint8_t>& letters, const Use& use) {
  double sum = 0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (use(i)) {
      sum -= static_cast<double>(log_probabilities[i * kLetterRow + letters[i]]);
      ++n;
    }
  if (!std::isfinite(sum)) throw_not_finite(task.complex);
  if (n == 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(sum / static_cast<double>(n));
}

}  // namespace

Task make_task(const Info& info, const DesignInputs& inputs, const std::string& path) {
  const structure::Structure structure = structure::read_structure(path, info.ca_only);
  Task task;
  task.complex = make_complex(structure, inputs.chains(structure), info.ca_only, path);
  task.constraints = inputs.constraints(task.complex);
  add_warnings(structure, path, task);
  return task;
}

Numbers::Numbers(const Replay& replay, std::uint64_t seed, const Task& task)
    : replay_(replay),
      random_(seed),
      name_(task.complex.name),
      n_(static_cast<std::size_t>(task.complex.n)) {}

std::vector<float> Numbers::order(std::uint32_t sample) const {
  if (const auto row = replayed(sample == kNativeOrder ? "order_native" : "order",
                                sample == kNativeOrder ? 0 : sample))
    return *row;
  std::vector<float> noise(n_);
  for (std::size_t i = 0; i < n_; ++i)
    noise[i] = random_.normal(Draw::order, sample, static_cast<std::uint32_t>(i));
  return noise;
}

std::vector<double> Numbers::uniforms(std::uint32_t sample) const {
  if (const auto row = replayed("uniform", sample)) return {row->begin(), row->end()};
  std::vector<double> uniforms(n_);
  for (std::size_t i = 0; i < n_; ++i)
    uniforms[i] = random_.uniform(Draw::letter, sample, static_cast<std::uint32_t>(i));
  return uniforms;
}

std::vector<float> Numbers::noise(std::uint32_t sample, double deviation, std::size_t size) const {
  std::vector<float> noise(deviation > 0 ? size : 0);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = static_cast<float>(deviation) *
               random_.normal(Draw::noise, sample, static_cast<std::uint32_t>(i));
  return noise;
}

std::optional<std::vector<float>> Numbers::replayed(const char* kind, std::uint32_t sample) const {
  if (!replay_) return std::nullopt;
  const std::string key = name_ + "/" + kind;
  const auto found = replay_->tensors().find(key);
  if (found == replay_->tensors().end())
    throw Error(ErrorCode::bad_input, fmt::format("{}: has no {}", replay_->files()[0], key));
  std::vector<float> all(static_cast<std::size_t>(found->second.size()));
  if (!found->second.to_floats(all.data()) || all.size() < (sample + std::size_t{1}) * n_)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} has too few numbers, or none", replay_->files()[0], key));
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(sample * n_);
  return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(n_));
}

Scores scores_of(const Task& task, const std::vector<float>& log_probabilities,
                 const std::vector<std::uint8_t>& letters) {
  return {mean_score(task, log_probabilities, letters,
                     [&](std::size_t i) { return task.constraints.free[i] != 0; }),
          mean_score(task, log_probabilities, letters,
                     [&](std::size_t i) { return task.complex.present[i] != 0; })};
}

Scoring scoring_of(const Task& task, const std::vector<std::uint8_t>& letters,
                   const std::vector<float>& noise) {
  Constraints untied;
  untied.free = task.constraints.free;
  return {make_order(untied, noise), letters, {}};
}

}  // namespace biogpu::models::proteinmpnn
