#include "lib/models/proteinmpnn/design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/models/proteinmpnn/decoder.hpp"
#include "lib/models/proteinmpnn/random.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr std::uint32_t kNativeOrder = 0xffffffff;  // where samples count from 0

struct Task {
  Complex complex;
  Constraints constraints;
  std::vector<std::string> warnings;
};

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

Task make_task(const Weights& weights, const DesignInputs& inputs, const std::string& path) {
  const structure::Structure structure = structure::read_structure(path, weights.ca_only);
  Task task;
  task.complex = make_complex(structure, inputs.chains(structure), weights.ca_only, path);
  task.constraints = inputs.constraints(task.complex);
  add_warnings(structure, path, task);
  return task;
}

std::size_t length(const Task& task) { return static_cast<std::size_t>(task.complex.n); }

// Random numbers by counter, or those of a replay.
class Numbers {
 public:
  Numbers(const Replay& replay, std::uint64_t seed, const Task& task)
      : replay_(replay), random_(seed), name_(task.complex.name), n_(length(task)) {}

  std::vector<float> order(std::uint32_t sample) const {
    if (const auto row = replayed(sample == kNativeOrder ? "order_native" : "order",
                                  sample == kNativeOrder ? 0 : sample))
      return *row;
    std::vector<float> noise(n_);
    for (std::size_t i = 0; i < n_; ++i)
      noise[i] = random_.normal(Draw::order, sample, static_cast<std::uint32_t>(i));
    return noise;
  }

  std::vector<double> uniforms(std::uint32_t sample) const {
    if (const auto row = replayed("uniform", sample)) return {row->begin(), row->end()};
    std::vector<double> uniforms(n_);
    for (std::size_t i = 0; i < n_; ++i)
      uniforms[i] = random_.uniform(Draw::letter, sample, static_cast<std::uint32_t>(i));
    return uniforms;
  }

  // size: numbers of the structure's coordinates. None where the deviation is 0.
  std::vector<float> noise(std::uint32_t sample, double deviation, std::size_t size) const {
    std::vector<float> noise(deviation > 0 ? size : 0);
    for (std::size_t i = 0; i < noise.size(); ++i)
      noise[i] = static_cast<float>(deviation) *
                 random_.normal(Draw::noise, sample, static_cast<std::uint32_t>(i));
    return noise;
  }

 private:
  std::optional<std::vector<float>> replayed(const char* kind, std::uint32_t sample) const {
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

  const Replay& replay_;
  Random random_;
  std::string name_;
  std::size_t n_;
};

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

struct Scores {
  float designed = 0;  // over residues whose letters are drawn
  float all = 0;       // over all that are there
};

Scores scores_of(const Task& task, const std::vector<float>& log_probabilities,
                 const std::vector<std::uint8_t>& letters) {
  return {mean_score(task, log_probabilities, letters,
                     [&](std::size_t i) { return task.constraints.free[i] != 0; }),
          mean_score(task, log_probabilities, letters,
                     [&](std::size_t i) { return task.complex.present[i] != 0; })};
}

// The score's order ignores ties, as the original's does.
Scoring scoring_of(const Task& task, const std::vector<std::uint8_t>& letters,
                   const std::vector<float>& noise) {
  Constraints untied;
  untied.free = task.constraints.free;
  return {make_order(untied, noise), letters, {}};
}

// "['A', 'B']"
std::string python_list(const std::vector<std::string>& chains, std::size_t begin,
                        std::size_t end) {
  std::string text = "[";
  for (std::size_t c = begin; c < end; ++c)
    text += fmt::format("{}'{}'", c > begin ? ", " : "", chains[c]);
  return text + "]";
}

// As Python writes a float: 0.1, 1.0.
std::string python_float(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string native_record(const Weights& weights, const DesignOptions& options, const Task& task,
                          const Scores& scores) {
  const Complex& complex = task.complex;
  return fmt::format(
      ">{}, score={:.4f}, global_score={:.4f}, fixed_chains={}, designed_chains={}, {}={}, "
      "git_hash={}, seed={}\n{}\n",
      complex.name, scores.designed, scores.all,
      python_list(complex.chains, complex.n_designed, complex.chains.size()),
      python_list(complex.chains, 0, complex.n_designed),
      weights.ca_only ? "CA_model_name" : "model_name", weights.name, options.program, options.seed,
      designed_text(complex, complex.letters));
}

std::string sample_record(const Task& task, const Sample& sample, std::int64_t number) {
  const Scores scores = scores_of(task, sample.log_probabilities, sample.letters);
  std::size_t n_free = 0, n_same = 0;
  for (std::size_t i = 0; i < sample.letters.size(); ++i)
    if (task.constraints.free[i] != 0) {
      ++n_free;
      n_same += sample.letters[i] == task.complex.letters[i] ? 1 : 0;
    }
  return fmt::format(
      ">T={}, sample={}, score={:.4f}, global_score={:.4f}, seq_recovery={:.4f}\n{}\n",
      python_float(sample.temperature), number, scores.designed, scores.all,
      n_free == 0 ? std::numeric_limits<double>::quiet_NaN()
                  : static_cast<double>(n_same) / static_cast<double>(n_free),
      designed_text(task.complex, sample.letters));
}

template <class Get>
std::vector<float> joined(const std::vector<Sample>& samples, const Get& get) {
  std::vector<float> all;
  for (const Sample& sample : samples)
    all.insert(all.end(), get(sample).begin(), get(sample).end());
  return all;
}

void add_arrays(const Task& task, const std::vector<Sample>& samples,
                pipeline::BatchResult& result) {
  const auto n_samples = static_cast<std::int64_t>(samples.size()), n = task.complex.n;
  const auto add = [&](const std::string& kind, std::vector<std::int64_t> shape,
                       std::vector<float> values) {
    result.arrays.push_back(
        {task.complex.name + kind, std::move(shape), std::move(values), kind.size()});
  };
  const auto of_samples = [&](auto member) {
    return joined(
        samples, [=](const Sample& s) -> const auto& { return s.*member; });
  };
  add("/probs", {n_samples, n, kLetterCount}, of_samples(&Sample::probabilities));
  add("/log_probs", {n_samples, n, kLetterCount}, of_samples(&Sample::log_probabilities));
  add("/S", {n_samples, n}, of_samples(&Sample::letters));
  const auto& free = task.constraints.free;
  const auto& chain = task.complex.chain;
  add("/mask", {n}, {free.begin(), free.end()});
  add("/chain", {n}, {chain.begin(), chain.end()});
}

std::vector<Sample> make_samples(const DesignOptions& options, const Task& task,
                                 const Numbers& numbers) {
  std::vector<Sample> samples;
  for (const double temperature : options.temperatures)
    for (std::int64_t s = 0; s < options.n_sequences; ++s) {
      const auto index = static_cast<std::uint32_t>(samples.size());
      Sample& sample = samples.emplace_back();
      sample.temperature = temperature;
      sample.order = make_order(task.constraints, numbers.order(index));
      sample.uniforms = numbers.uniforms(index);
    }
  return samples;
}

std::vector<std::uint8_t> letters_of(const Task& task, const GivenSequence& given,
                                     const std::string& path) {
  const auto bad = [&](const std::string& what) {
    return Error(ErrorCode::bad_input,
                 fmt::format("{}: sequence {}: {}", path, shortened(given.name), what));
  };
  std::vector<std::uint8_t> letters = task.complex.letters;
  std::string text;
  std::vector<std::int64_t> ends;
  for (const char letter : given.letters) {
    if (letter != '/')
      text += letter;
    else
      ends.push_back(static_cast<std::int64_t>(text.size()));
  }
  const auto& begin = task.complex.begin;
  const auto n = static_cast<std::size_t>(begin[task.complex.n_designed]);
  ends.push_back(static_cast<std::int64_t>(text.size()));
  const auto last = begin.begin() + static_cast<std::ptrdiff_t>(task.complex.n_designed) + 1;
  if (ends.size() > 1 && !std::equal(ends.begin(), ends.end(), begin.begin() + 1, last))
    throw bad("the parts between '/' are not as long as the designed chains");
  if (text.size() != n)
    throw bad(fmt::format("has {} residues, the designed chains have {}", text.size(), n));
  for (std::size_t i = 0; i < n; ++i) {
    const int letter = letter_index(text[i]);
    if (letter < 0)
      throw bad(fmt::format("residue {} is {}", i + 1, biogpu::quoted(text.substr(i, 1))));
    letters[i] = static_cast<std::uint8_t>(letter);
  }
  return letters;
}

struct Moments {
  double mean = 0, deviation = 0;
};

Moments moments(const std::vector<float>& values) {
  Moments m;
  for (const float value : values) m.mean += static_cast<double>(value);
  m.mean /= static_cast<double>(values.size());
  for (const float value : values)
    m.deviation += (static_cast<double>(value) - m.mean) * (static_cast<double>(value) - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

class DesignJob : public StructureJob {
 public:
  DesignJob(const Weights& weights, const DesignInputs& inputs, const DesignOptions& options,
            const Replay& replay, const std::string& path)
      : weights_(weights), options_(options), task_(make_task(weights, inputs, path)) {
    const Numbers numbers(replay, options.seed, task_);
    native_.push_back(scoring_of(task_, task_.complex.letters, numbers.order(kNativeOrder)));
    samples_ = make_samples(options, task_, numbers);
    const std::size_t size = task_.complex.coordinates.size();
    native_noise_ = numbers.noise(kNativeOrder, options.backbone_noise, size);
    for (std::uint32_t s = 0; options.backbone_noise > 0 && s < samples_.size(); ++s)
      sample_noise_.push_back(numbers.noise(s, options.backbone_noise, size));
  }

  // With noise on the backbone every sample has its own, and so its own encoding.
  std::vector<Work> works() override {
    std::vector<Work> works{
        {&task_.complex, &task_.constraints, &native_noise_, {}, native_, nullptr}};
    if (sample_noise_.empty()) works[0].samples = samples_;
    for (std::size_t s = 0; s < sample_noise_.size(); ++s)
      works.push_back({&task_.complex,
                       &task_.constraints,
                       &sample_noise_[s],
                       std::span(samples_).subspan(s, 1),
                       {},
                       nullptr});
    return works;
  }

  const std::vector<std::string>& warnings() const override { return task_.warnings; }

  void write(pipeline::BatchResult& result) const override {
    result.text +=
        native_record(weights_, options_, task_,
                      scores_of(task_, native_[0].log_probabilities, task_.complex.letters));
    for (std::size_t s = 0; s < samples_.size(); ++s)
      result.text += sample_record(task_, samples_[s],
                                   static_cast<std::int64_t>(s) % options_.n_sequences + 1);
    if (options_.probabilities) add_arrays(task_, samples_, result);
    result.n_records += 1;
    result.n_residues += static_cast<std::uint64_t>(task_.complex.n);
  }

 private:
  const Weights& weights_;
  const DesignOptions& options_;
  const Task task_;
  std::vector<Scoring> native_;
  std::vector<Sample> samples_;
  std::vector<float> native_noise_;
  std::vector<std::vector<float>> sample_noise_;
};

class ScoreJob : public StructureJob {
 public:
  ScoreJob(const Weights& weights, const DesignInputs& inputs, const DesignOptions& options,
           const Replay& replay, const std::string& path, const std::vector<GivenSequence>& given)
      : n_orders_(static_cast<std::size_t>(options.n_sequences)),
        task_(make_task(weights, inputs, path)) {
    const Numbers numbers(replay, options.seed, task_);
    names_.emplace_back("native");
    add(task_.complex.letters, numbers);
    for (const GivenSequence& sequence : given) {
      names_.push_back(sequence.name);
      add(letters_of(task_, sequence, path), numbers);
    }
  }

  std::vector<Work> works() override {
    return {{&task_.complex, &task_.constraints, nullptr, {}, scorings_, nullptr}};
  }

  const std::vector<std::string>& warnings() const override { return task_.warnings; }

  void write(pipeline::BatchResult& result) const override {
    for (std::size_t q = 0; q < names_.size(); ++q) {
      std::vector<float> designed, everything;
      for (std::size_t o = 0; o < n_orders_; ++o) {
        const Scoring& scoring = scorings_[q * n_orders_ + o];
        const Scores scores = scores_of(task_, scoring.log_probabilities, scoring.letters);
        designed.push_back(scores.designed);
        everything.push_back(scores.all);
      }
      const Moments own = moments(designed), global = moments(everything);
      result.text +=
          fmt::format("{}\t{}\t{}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{}\n", task_.complex.name,
                      names_[q], designed_text(task_.complex, scorings_[q * n_orders_].letters),
                      own.mean, own.deviation, global.mean, global.deviation, n_orders_);
    }
    result.n_records += 1;
    result.n_residues += static_cast<std::uint64_t>(task_.complex.n);
  }

 private:
  void add(const std::vector<std::uint8_t>& letters, const Numbers& numbers) {
    for (std::uint32_t o = 0; o < n_orders_; ++o)
      scorings_.push_back(scoring_of(task_, letters, numbers.order(o)));
  }

  const std::size_t n_orders_;
  const Task task_;
  std::vector<std::string> names_;
  std::vector<Scoring> scorings_;  // all orders of a sequence, then of the next
};

}  // namespace

std::unique_ptr<StructureJob> design_job(const Weights& weights, const DesignInputs& inputs,
                                         const DesignOptions& options, const Replay& replay,
                                         const std::string& path) {
  return std::make_unique<DesignJob>(weights, inputs, options, replay, path);
}

std::string score_header() {
  return "structure\tsequence\tletters\tscore\tscore_sd\tglobal_score\tglobal_score_sd\torders\n";
}

std::unique_ptr<StructureJob> score_job(const Weights& weights, const DesignInputs& inputs,
                                        const DesignOptions& options, const Replay& replay,
                                        const std::string& path,
                                        const std::vector<GivenSequence>& given) {
  return std::make_unique<ScoreJob>(weights, inputs, options, replay, path, given);
}

}  // namespace biogpu::models::proteinmpnn
