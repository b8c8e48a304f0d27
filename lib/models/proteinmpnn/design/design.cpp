#include "lib/models/proteinmpnn/design/design.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "lib/io/table_fields.hpp"
#include "lib/models/proteinmpnn/design/structure_task.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

// As Python writes a text: in double quotes where it has a single one.
std::string python_text(const std::string& text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string escaped;
  for (const char c : text) {
    if (c == quote || c == '\\') escaped += '\\';
    escaped += c;
  }
  return quote + io::as_field(escaped) + quote;
}

// "['A', 'B']"
std::string python_list(const std::vector<std::string>& chains, std::size_t begin,
                        std::size_t end) {
  std::string text = "[";
  for (std::size_t c = begin; c < end; ++c)
    text += (c > begin ? ", " : "") + python_text(chains[c]);
  return text + "]";
}

// As Python writes a float: 0.1, 1.0.
std::string python_float(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string native_record(const Info& info, const DesignOptions& options, const Task& task,
                          const Scores& scores) {
  const Complex& complex = task.complex;
  return fmt::format(
      ">{}, score={:.4f}, global_score={:.4f}, fixed_chains={}, designed_chains={}, {}={}, "
      "git_hash={}, seed={}\n{}\n",
      io::as_field(complex.name), scores.designed, scores.all,
      python_list(complex.chains, complex.n_designed, complex.chains.size()),
      python_list(complex.chains, 0, complex.n_designed),
      info.ca_only ? "CA_model_name" : "model_name", io::as_field(info.name), options.program,
      options.seed, designed_text(complex, complex.letters));
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
                pipeline::RecordOutputs& result) {
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

class DesignJob : public StructureJob {
 public:
  DesignJob(const Info& info, const DesignInputs& inputs, const DesignOptions& options,
            const Replay& replay, const std::string& path)
      : info_(info), options_(options), task_(make_task(info, inputs, path)) {
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

  void write(pipeline::RecordOutputs& result) const override {
    result.text +=
        native_record(info_, options_, task_,
                      scores_of(task_, native_[0].log_probabilities, task_.complex.letters));
    for (std::size_t s = 0; s < samples_.size(); ++s)
      result.text += sample_record(task_, samples_[s],
                                   static_cast<std::int64_t>(s) % options_.n_sequences + 1);
    if (options_.probabilities) add_arrays(task_, samples_, result);
    result.n_records += 1;
    result.n_residues += static_cast<std::uint64_t>(task_.complex.n);
  }

 private:
  const Info& info_;
  const DesignOptions& options_;
  const Task task_;
  std::vector<Scoring> native_;
  std::vector<Sample> samples_;
  std::vector<float> native_noise_;
  std::vector<std::vector<float>> sample_noise_;
};

}  // namespace

std::unique_ptr<StructureJob> design_job(const Info& info, const DesignInputs& inputs,
                                         const DesignOptions& options, const Replay& replay,
                                         const std::string& path) {
  return std::make_unique<DesignJob>(info, inputs, options, replay, path);
}

}  // namespace biogpu::models::proteinmpnn
