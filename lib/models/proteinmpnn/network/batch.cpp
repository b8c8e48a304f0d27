#include "lib/models/proteinmpnn/network/batch.hpp"

#include <algorithm>

#include "lib/models/proteinmpnn/network/geometry.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

template <class To, class From>
void extend(std::vector<To>& to, const std::vector<From>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Batch::Batch(std::span<const Work> works) {
  for (const Work& work : works) add_structure(work);
  add_sequences(works);
  deal_units();
  list_scored();
}

void Batch::add_structure(const Work& work) {
  const Complex& complex = *work.complex;
  static const std::vector<float> no_noise;
  const Geometry geometry(complex, work.noise == nullptr ? no_noise : *work.noise);
  const auto n = static_cast<std::size_t>(complex.n);
  const auto first = static_cast<std::int32_t>(n_rows());
  first_rows_.push_back(first);
  for (std::size_t i = 0; i < n; ++i)
    segments_.insert(segments_.end(), {first, static_cast<std::int32_t>(n)});
  n_points_ = geometry.n_points();
  for (const auto& point : geometry.points())
    points_.insert(points_.end(), point.begin(), point.end());
  for (const auto& frame : geometry.frames())
    frames_.insert(frames_.end(), frame.begin(), frame.end());
  extend(present_, complex.present);
  extend(numbers_, complex.index);
  extend(chains_, complex.chain);
  rules_.add(*work.constraints);
}

void Batch::add_sequence(const Work& work, std::size_t number, const DecodingOrder& order,
                         const std::vector<std::uint8_t>& letters, double temperature) {
  Sequence sequence;
  sequence.first_row = static_cast<std::int32_t>(first_rows_[number]);
  sequence.first_state = static_cast<std::int32_t>(order_.size());
  sequence.n = static_cast<std::int32_t>(work.complex->n);
  sequence.rules = static_cast<std::int32_t>(number);
  sequence.temperature = temperature;
  sequences_.push_back(sequence);
  extend(order_, order.residues);
  extend(rank_, order.rank);
  extend(letters_, letters);
}

void Batch::add_sequences(std::span<const Work> works) {
  for (std::size_t w = 0; w < works.size(); ++w)
    for (const Sample& sample : works[w].samples) {
      add_sequence(works[w], w, sample.order, works[w].complex->letters, sample.temperature);
      extend(uniforms_, sample.uniforms);
      unit_begins_.push_back(&sample.order.unit_begin);
    }
  n_samples_ = sequences_.size();
  n_drawn_ = n_states();
  for (std::size_t w = 0; w < works.size(); ++w)
    for (const Scoring& scoring : works[w].scorings)
      add_sequence(works[w], w, scoring.order, scoring.letters, 1);
  std::size_t number = 0;
  for (std::size_t w = 0; w < works.size(); ++w)
    for (const Sample& sample : works[w].samples) {
      if (!works[w].constraints->tied.empty()) {
        add_sequence(works[w], w, sample.order, works[w].complex->letters, 1);
        redrawn_.push_back(number);
      }
      ++number;
    }
}

// The first unit of every sequence, then the second of every sequence.
void Batch::deal_units() {
  std::size_t most = 0;
  for (const auto* const begins : unit_begins_) most = std::max(most, begins->size());
  for (std::size_t u = 0; u + 1 < most; ++u)
    for (std::size_t s = 0; s < unit_begins_.size(); ++s) {
      const auto& begins = *unit_begins_[s];
      if (u + 1 < begins.size())
        units_.push_back({static_cast<std::int32_t>(s), begins[u], begins[u + 1] - begins[u]});
    }
  unit_begins_.clear();
}

void Batch::list_scored() {
  const std::size_t first_redrawn = sequences_.size() - redrawn_.size();
  for (std::size_t s = n_samples_; s < sequences_.size(); ++s) {
    const Sequence& own = sequences_[s];
    const Sequence& from = s < first_redrawn ? own : sequences_[redrawn_[s - first_redrawn]];
    for (std::int32_t i = 0; i < own.n; ++i) {
      sequence_of_.push_back(static_cast<std::int32_t>(s));
      state_rows_.push_back(own.first_row + i);
      letter_states_.push_back(from.first_state + i);
    }
  }
}

BatchInputs Batch::upload(Pass& pass) {
  using tensor::DType;
  inputs_ = {};
  const std::size_t segments = inputs_.add(segments_), points = inputs_.add(points_),
                    frames = inputs_.add(frames_), present = inputs_.add(present_),
                    numbers = inputs_.add(numbers_), chains = inputs_.add(chains_),
                    free = inputs_.add(rules_.free), tied_weight = inputs_.add(rules_.tied_weight),
                    rules = inputs_.add(rules_.rules), omit_at = inputs_.add(rules_.omit_at),
                    bias_at = inputs_.add(rules_.bias_at), profiles = inputs_.add(rules_.profiles),
                    sequences = inputs_.add(sequences_), order = inputs_.add(order_),
                    rank = inputs_.add(rank_), letters = inputs_.add(letters_),
                    uniforms = inputs_.add(uniforms_), units = inputs_.add(units_),
                    sequence_of = inputs_.add(sequence_of_), state_rows = inputs_.add(state_rows_),
                    letter_states = inputs_.add(letter_states_);
  inputs_.upload(pass);
  const std::int64_t n = n_rows(), s = n_states();
  BatchInputs in;
  in.segments = inputs_.at(segments, DType::i32, {n, 2});
  in.points = inputs_.at(points, DType::f32, {n, n_points_, 3});
  if (!frames_.empty()) in.frames = inputs_.at(frames, DType::f32, {n, 9});
  in.present = inputs_.at(present, DType::u8, {n});
  in.numbers = inputs_.at(numbers, DType::i32, {n});
  in.chains = inputs_.at(chains, DType::i32, {n});
  in.rules = {inputs_.at<Rules>(rules),       inputs_.at<std::uint8_t>(free),
              inputs_.at<float>(tied_weight), inputs_.at<std::uint8_t>(omit_at),
              inputs_.at<float>(bias_at),     inputs_.at<ProfileRow>(profiles)};
  in.sequences = inputs_.at<Sequence>(sequences);
  in.order = inputs_.at(order, DType::i32, {s});
  in.rank = inputs_.at(rank, DType::i32, {s});
  in.letters = inputs_.at(letters, DType::i32, {s});
  in.uniforms = inputs_.at(uniforms, DType::f64, {n_drawn_});
  in.units = inputs_.at<Unit>(units);
  in.sequence_of = inputs_.at(sequence_of, DType::i32, {n_scored()});
  in.state_rows = inputs_.at(state_rows, DType::i32, {n_scored()});
  in.letter_states = inputs_.at(letter_states, DType::i32, {n_scored()});
  return in;
}

namespace {

// Takes up to n from the front.
template <class T>
std::span<T> take(std::span<T>& from, std::int64_t n) {
  const auto count = std::min(from.size(), static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
  const std::span<T> taken = from.first(count);
  from = from.subspan(count);
  return taken;
}

}  // namespace

std::vector<std::vector<Work>> divide(std::span<const Work> works, std::int64_t max_rows,
                                      std::int64_t max_states) {
  std::vector<std::vector<Work>> batches(1);
  std::int64_t n_rows = 0, n_states = 0;
  for (const Work& work : works) {
    const std::int64_t n = work.complex->n;
    // Samples with ties are scored, too.
    const std::int64_t per_sample = work.constraints->tied.empty() ? n : 2 * n;
    Work rest = work;
    do {
      const bool fits = n_rows + n <= max_rows && n_states + per_sample <= max_states;
      if (!fits && !batches.back().empty()) {
        batches.emplace_back();
        n_rows = n_states = 0;
      }
      // At least one sequence, of any size.
      const std::int64_t n_free = std::max(max_states - n_states, per_sample);
      Work part = rest;
      part.samples = take(rest.samples, n_free / std::max<std::int64_t>(1, per_sample));
      const std::int64_t taken = static_cast<std::int64_t>(part.samples.size()) * per_sample;
      part.scorings = take(rest.scorings, (n_free - taken) / std::max<std::int64_t>(1, n));
      batches.back().push_back(part);
      n_rows += n;
      n_states += taken + static_cast<std::int64_t>(part.scorings.size()) * n;
      rest.taps = nullptr;
    } while (!rest.samples.empty() || !rest.scorings.empty());
  }
  return batches;
}

}  // namespace biogpu::models::proteinmpnn
