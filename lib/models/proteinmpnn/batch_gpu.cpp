// Structures and sequences as the kernels of gpu/models/proteinmpnn take them.
#include "lib/models/proteinmpnn/batch_gpu.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace biogpu::models::proteinmpnn {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void Upload::send(gpu::Stream& stream) {
  host_.reserve(n_bytes_);
  device_.reserve(n_bytes_);
  for (const Piece& piece : pieces_)
    if (piece.n_bytes > 0) std::memcpy(host_.data() + piece.begin, piece.values, piece.n_bytes);
  stream.copy_to_device(device_.data(), host_.data(), n_bytes_);
}

void StructureBatch::add(const Work& work) {
  const Complex& complex = *work.complex;
  static const std::vector<float> no_noise;
  const Geometry geometry(complex, work.noise == nullptr ? no_noise : *work.noise);
  const auto n = static_cast<std::size_t>(complex.n);
  const auto first = static_cast<std::int32_t>(places_.size());
  first_rows_.push_back(first);
  places_.insert(places_.end(), n, {first, static_cast<std::int32_t>(n)});
  n_points_ = geometry.n_points();
  for (const auto& point : geometry.points())
    points_.insert(points_.end(), point.begin(), point.end());
  for (const auto& frame : geometry.frames())
    frames_.insert(frames_.end(), frame.begin(), frame.end());
  append(present_, complex.present);
  append(index_, complex.index);
  append(chain_, complex.chain);
  append(free_, work.constraints->free);
  if (work.constraints->tied_weight.empty())
    tied_weight_.insert(tied_weight_.end(), n, 1.0f);
  else
    append(tied_weight_, work.constraints->tied_weight);
  add_rules(*work.constraints, n);
}

void StructureBatch::add_rules(const Constraints& constraints, std::size_t n) {
  constexpr auto kWidth = static_cast<std::size_t>(kLetterCount);
  gpu::proteinmpnn::Rules rules;
  std::copy(constraints.bias.begin(), constraints.bias.end(), rules.bias);
  std::copy(constraints.omit.begin(), constraints.omit.end(), rules.omit);
  rules.is_tied = constraints.tied.empty() ? 0 : 1;
  rules.use_profile_bias = constraints.use_profile_bias ? 1 : 0;
  rules.use_log_odds = constraints.use_log_odds ? 1 : 0;
  rules.profile_weight = constraints.profile_weight;
  rules.log_odds_threshold = constraints.log_odds_threshold;
  if (!constraints.omit_at.empty()) {
    rules.omit_at = static_cast<std::int32_t>(omit_at_.size() / kWidth);
    append(omit_at_, constraints.omit_at);
  }
  if (!constraints.bias_at.empty()) {
    rules.bias_at = static_cast<std::int32_t>(bias_at_.size() / kWidth);
    append(bias_at_, constraints.bias_at);
  }
  if (!constraints.profiles.empty()) rules.profiles = static_cast<std::int32_t>(profiles_.size());
  for (std::size_t i = 0; i < n && !constraints.profiles.empty(); ++i) {
    const Profile& from = constraints.profiles[i];
    gpu::proteinmpnn::ProfileRow& to = profiles_.emplace_back();
    to.weight = from.weight;
    std::copy(from.bias.begin(), from.bias.end(), to.bias);
    std::copy(from.log_odds.begin(), from.log_odds.end(), to.log_odds);
  }
  rules_.push_back(rules);
}

// In the order of Array.
void StructureBatch::send(gpu::Stream& stream) {
  upload_.add(places_);
  upload_.add(points_);
  upload_.add(frames_);
  upload_.add(present_);
  upload_.add(index_);
  upload_.add(chain_);
  upload_.add(free_);
  upload_.add(tied_weight_);
  upload_.add(rules_);
  upload_.add(omit_at_);
  upload_.add(bias_at_);
  upload_.add(profiles_);
  upload_.send(stream);
}

gpu::proteinmpnn::Structures StructureBatch::structures() const {
  gpu::proteinmpnn::Structures s;
  s.n_rows = n_rows();
  s.n_points = n_points_;
  s.places = upload_.at<gpu::proteinmpnn::Place>(array_places);
  s.points = upload_.at<float>(array_points);
  s.frames = upload_.at<float>(array_frames);
  s.present = upload_.at<std::uint8_t>(array_present);
  s.index = upload_.at<std::int32_t>(array_index);
  s.chain = upload_.at<std::int32_t>(array_chain);
  return s;
}

gpu::proteinmpnn::RuleRows StructureBatch::rules() const {
  return {upload_.at<gpu::proteinmpnn::Rules>(array_rules),
          upload_.at<std::uint8_t>(array_free),
          upload_.at<float>(array_tied_weight),
          upload_.at<std::uint8_t>(array_omit_at),
          upload_.at<float>(array_bias_at),
          upload_.at<gpu::proteinmpnn::ProfileRow>(array_profiles)};
}

void SequenceBatch::add(const Complex& complex, std::size_t work, std::int32_t first_row,
                        const DecodingOrder& order, const std::vector<std::uint8_t>& letters,
                        double temperature, const std::vector<double>& uniforms) {
  gpu::proteinmpnn::Sequence sequence;
  sequence.first_row = first_row;
  sequence.first_state = static_cast<std::int32_t>(order_.size());
  sequence.n = static_cast<std::int32_t>(complex.n);
  sequence.rules = static_cast<std::int32_t>(work);
  sequence.temperature = temperature;
  const auto n = static_cast<std::size_t>(complex.n);
  sequence_of_.insert(sequence_of_.end(), n, static_cast<std::int32_t>(sequences_.size()));
  sequences_.push_back(sequence);
  append(order_, order.residues);
  append(rank_, order.rank);
  append(letters_, letters);
  append(uniforms_, uniforms);
  unit_begins_.push_back(order.unit_begin);
}

// The first unit of every sequence, then the second of every sequence.
void SequenceBatch::deal_units() {
  std::size_t most = 0;
  for (const auto& begins : unit_begins_) most = std::max(most, begins.size());
  for (std::size_t u = 0; u + 1 < most; ++u)
    for (std::size_t s = 0; s < unit_begins_.size(); ++s) {
      const auto& begins = unit_begins_[s];
      if (u + 1 < begins.size())
        units_.push_back({static_cast<std::int32_t>(s), begins[u], begins[u + 1] - begins[u]});
    }
}

// In the order of Array.
void SequenceBatch::send(gpu::Stream& stream) {
  deal_units();
  upload_.clear();
  upload_.add(sequences_);
  upload_.add(sequence_of_);
  upload_.add(order_);
  upload_.add(rank_);
  upload_.add(letters_);
  upload_.add(uniforms_);
  upload_.add(units_);
  upload_.send(stream);
}

gpu::proteinmpnn::Sequences SequenceBatch::sequences() const {
  gpu::proteinmpnn::Sequences q;
  q.n_states = static_cast<std::int32_t>(n_states());
  q.sequences = upload_.at<gpu::proteinmpnn::Sequence>(array_sequences);
  q.sequence_of = upload_.at<std::int32_t>(array_sequence_of);
  q.order = upload_.at<std::int32_t>(array_order);
  q.rank = upload_.at<std::int32_t>(array_rank);
  q.letters = upload_.at<std::uint8_t>(array_letters);
  return q;
}

}  // namespace biogpu::models::proteinmpnn
