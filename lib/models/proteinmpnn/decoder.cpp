#include "lib/models/proteinmpnn/decoder.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/models/proteinmpnn/residue.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

void log_softmax(const float* logits, float* out) {
  const float highest = *std::max_element(logits, logits + kLetterCount);
  double sum = 0;
  for (std::int64_t a = 0; a < kLetterCount; ++a)
    sum += std::exp(static_cast<double>(logits[a] - highest));
  const auto log_sum = static_cast<float>(std::log(sum));
  for (std::int64_t a = 0; a < kLetterCount; ++a) out[a] = logits[a] - highest - log_sum;
}

// One sequence while it is decoded: of layer l, seen[l] holds what each residue that is decoded
// adds to its neighbours' messages.
struct State {
  const DecodingOrder* order = nullptr;
  cpu::Floats seen[kLayers];  // [n][kHidden]
};

// A residue of a sequence.
struct Place {
  State* state = nullptr;
  std::int64_t residue = 0;
};

class Decoder {
 public:
  Decoder(const Weights& weights, const Encoded& encoded)
      : weights_(weights),
        encoded_(encoded),
        n_(encoded.graph.n),
        k_(encoded.graph.k),
        logit_width_(cpu::padded_width(kLetterCount)) {}

  std::int64_t logit_width() const { return logit_width_; }

  // Before anything is decoded: encoder states in layer 0, nothing in the others.
  State begin(const DecodingOrder& order) const {
    State state;
    state.order = &order;
    for (std::size_t l = 0; l < kLayers; ++l) {
      state.seen[l] = cpu::floats(n_ * kHidden);
      float* const to = state.seen[l].data();
      const float* const from = encoded_.neighbour[0].data();
      if (l == 0) {
        std::copy(from, from + n_ * kHidden, to);
      } else {
        std::fill(to, to + n_ * kHidden, 0.0f);
      }
    }
    return state;
  }

  void add_letter(const State& state, std::size_t layer, std::int64_t i, int letter) const {
    const float* const add = weights_.decoder[layer].letters.data() + letter * kHidden;
    float* const to = state.seen[layer].data() + i * kHidden;
    for (std::int64_t c = 0; c < kHidden; ++c) to[c] += add[c];
  }

  // Layer l of up to kBlock places: h and receiver rows in, h and what the next layer takes out.
  void layer(std::size_t l, const std::vector<Place>& places, cpu::Rows h, cpu::Rows receiver,
             Scratch& scratch) const {
    const DecoderLayer& layer = weights_.decoder[l];
    for (std::size_t r = 0; r < places.size(); ++r) {
      const auto [state, i] = places[r];
      const std::int32_t* const neighbours = encoded_.graph.neighbours.data() + i * k_;
      const auto& rank = state->order->rank;
      for (std::int64_t e = 0; e < k_; ++e) {
        const std::int64_t j = neighbours[e];
        const bool before = rank[static_cast<std::size_t>(j)] < rank[static_cast<std::size_t>(i)];
        const cpu::Floats& from = before ? state->seen[l] : encoded_.neighbour[l];
        scratch.rows[static_cast<std::size_t>(e)] = from.data() + j * kHidden;
      }
      const auto row = static_cast<std::int64_t>(r);
      cpu::add_ends(encoded_.edges[l].data() + i * k_ * kHidden, k_, kHidden,
                    {receiver.data + row * receiver.stride, scratch.rows.data()},
                    scratch.edge_a.data());
      float* const sum = scratch.sums.data() + row * (kHidden + 1);
      cpu::dense_sum(layer.message.middle, scratch.edge_a.data(), k_, nullptr, sum);
      sum[kHidden] = static_cast<float>(k_);
    }
    const auto n = static_cast<std::int64_t>(places.size());
    update_residues(layer.message.last, layer.residue, h, n, scratch);
  }

  // What residues of these states add in layer l, as receivers and to their neighbours.
  void hand_on(std::size_t l, const std::vector<Place>& places, cpu::Rows h, cpu::Rows ends) const {
    cpu::dense(weights_.decoder[l].message.ends, h, static_cast<std::int64_t>(places.size()), ends,
               false);
    for (std::size_t r = 0; r < places.size(); ++r) {
      const float* const from = ends.data + static_cast<std::int64_t>(r) * ends.stride + kHidden;
      std::copy(from, from + kHidden,
                places[r].state->seen[l].data() + places[r].residue * kHidden);
    }
  }

  void logits(cpu::Rows h, std::int64_t n_rows, float* out) const {
    cpu::dense(weights_.logits, h, n_rows, {out, logit_width_}, false);
  }

  // All layers of places that do not need each other.
  void all_layers(const std::vector<Place>& places, float* out, Scratch& scratch) const {
    cpu::Floats h = cpu::floats(kBlock * kHidden), ends = cpu::floats(kBlock * 2 * kHidden);
    const cpu::Rows h_rows{h.data(), kHidden}, end_rows{ends.data(), 2 * kHidden};
    for (std::size_t r = 0; r < places.size(); ++r) {
      const std::int64_t i = places[r].residue * kHidden;
      std::copy_n(encoded_.h.data() + i, kHidden, h.data() + r * kHidden);
      std::copy_n(encoded_.receiver.data() + i, kHidden, ends.data() + r * 2 * kHidden);
    }
    for (std::size_t l = 0; l < kLayers; ++l) {
      layer(l, places, h_rows, end_rows, scratch);
      if (l + 1 < kLayers) hand_on(l + 1, places, h_rows, end_rows);
    }
    logits(h_rows, static_cast<std::int64_t>(places.size()), out);
  }

  std::int64_t n() const { return n_; }
  std::int64_t k() const { return k_; }
  const Graph& graph() const { return encoded_.graph; }

 private:
  const Weights& weights_;
  const Encoded& encoded_;
  const std::int64_t n_, k_, logit_width_;
};

class Sampler {
 public:
  Sampler(const Decoder& decoder, const Complex& complex, const Constraints& constraints,
          std::span<Sample> samples)
      : decoder_(decoder), complex_(complex), constraints_(constraints), samples_(samples) {}

  void run() {
    for (Sample& sample : samples_) begin(sample);
    for (std::size_t s = 0; s < samples_.size(); ++s) find_levels(s);
    for (const std::vector<Unit>& level : levels_) {
      const std::size_t n_threads =
          static_cast<std::size_t>(std::max(1, tbb::this_task_arena::max_concurrency()));
      const std::size_t step = std::clamp<std::size_t>((level.size() + n_threads - 1) / n_threads,
                                                       1, static_cast<std::size_t>(kBlock));
      tbb::parallel_for(std::size_t{0}, (level.size() + step - 1) / step, [&](std::size_t block) {
        decode(level, block * step, std::min(level.size(), (block + 1) * step));
      });
    }
  }

 private:
  struct Unit {
    std::size_t sample = 0;
    std::int32_t begin = 0;  // into the order's residues
    std::int32_t end = 0;
  };
  struct Progress {
    std::array<float, kLetterCount> scaled{};  // summed over members
    int known = -1;  // the letter of a member that is not there, which all take
  };

  bool present(std::int64_t i) const { return complex_.present[static_cast<std::size_t>(i)] != 0; }

  void begin(Sample& sample) {
    const auto n = static_cast<std::size_t>(decoder_.n());
    sample.letters = complex_.letters;
    sample.probabilities.assign(n * kLetterRow, 0.0f);
    sample.log_probabilities.assign(n * kLetterRow, 0.0f);
    states_.push_back(decoder_.begin(sample.order));
  }

  // A unit's level: one above the highest that its members' earlier neighbours have.
  void find_levels(std::size_t s) {
    const DecodingOrder& order = samples_[s].order;
    std::vector<std::int32_t> level(static_cast<std::size_t>(decoder_.n()), 0);
    const std::int64_t k = decoder_.k();
    for (std::size_t u = 0; u + 1 < order.unit_begin.size(); ++u) {
      const std::int32_t first = order.unit_begin[u], end = order.unit_begin[u + 1];
      std::int32_t own = 0;
      for (std::int32_t t = first; t < end; ++t) {
        const std::int64_t i = order.residues[static_cast<std::size_t>(t)];
        if (!present(i)) continue;
        for (std::int64_t e = 0; e < k; ++e) {
          const auto j = static_cast<std::size_t>(
              decoder_.graph().neighbours[static_cast<std::size_t>(i * k + e)]);
          if (order.rank[j] < first) own = std::max(own, level[j] + 1);
        }
      }
      for (std::int32_t t = first; t < end; ++t)
        level[static_cast<std::size_t>(order.residues[static_cast<std::size_t>(t)])] = own;
      if (levels_.size() <= static_cast<std::size_t>(own))
        levels_.resize(static_cast<std::size_t>(own) + 1);
      levels_[static_cast<std::size_t>(own)].push_back({s, first, end});
    }
  }

  // Members of a unit one after the other, all units of the block side by side.
  void decode(const std::vector<Unit>& units, std::size_t begin, std::size_t end) {
    Scratch scratch(decoder_.k());
    cpu::Floats logits = cpu::floats(kBlock * decoder_.logit_width());
    std::vector<Progress> progress(end - begin);
    std::vector<Place> places;
    std::vector<std::size_t> owners;
    for (std::int32_t member = 0;; ++member) {
      places.clear();
      owners.clear();
      for (std::size_t u = begin; u < end; ++u) {
        const Unit& unit = units[u];
        Progress& own = progress[u - begin];
        if (unit.begin + member >= unit.end || own.known >= 0) continue;
        const std::int64_t i = residue(unit, member);
        if (!present(i)) {
          own.known = complex_.letters[static_cast<std::size_t>(i)];
          continue;
        }
        places.push_back({&states_[unit.sample], i});
        owners.push_back(u);
      }
      if (places.empty() && member > 0) break;
      if (places.empty()) continue;
      decoder_.all_layers(places, logits.data(), scratch);
      for (std::size_t r = 0; r < places.size(); ++r)
        take_logits(units[owners[r]], places[r].residue,
                    logits.data() + static_cast<std::int64_t>(r) * decoder_.logit_width(),
                    progress[owners[r] - begin]);
    }
    for (std::size_t u = begin; u < end; ++u) finish(units[u], progress[u - begin]);
  }

  std::int64_t residue(const Unit& unit, std::int32_t member) const {
    return samples_[unit.sample]
        .order.residues[static_cast<std::size_t>(unit.begin) + static_cast<std::size_t>(member)];
  }

  void take_logits(const Unit& unit, std::int64_t i, const float* logits, Progress& progress) {
    Sample& sample = samples_[unit.sample];
    const auto at = static_cast<std::size_t>(i);
    log_softmax(logits, sample.log_probabilities.data() + at * kLetterRow);
    const auto temperature = static_cast<float>(sample.temperature);
    const auto members = static_cast<float>(unit.end - unit.begin);
    const float weight = constraints_.tied_weight.empty() ? 1.0f : constraints_.tied_weight[at];
    for (std::size_t a = 0; a < kLetterRow; ++a)
      progress.scaled[a] += weight * (logits[a] / temperature) / members;
  }

  void finish(const Unit& unit, const Progress& progress) {
    Sample& sample = samples_[unit.sample];
    const std::int64_t last = residue(unit, unit.end - unit.begin - 1);
    const bool drawn = progress.known < 0;
    int letter = progress.known;
    std::array<double, kLetterCount> p{};
    if (drawn) {
      p = letter_probabilities(constraints_, last, progress.scaled.data(), sample.temperature);
      letter = letter_of(sample, last, p);
    }
    for (std::int32_t m = 0; m < unit.end - unit.begin; ++m) {
      const std::int64_t i = residue(unit, m);
      const auto at = static_cast<std::size_t>(i);
      sample.letters[at] = static_cast<std::uint8_t>(letter);
      for (std::size_t l = 0; l < kLayers; ++l)
        decoder_.add_letter(states_[unit.sample], l, i, letter);
      if (drawn && (!constraints_.tied.empty() || constraints_.free[at] != 0))
        for (std::size_t a = 0; a < kLetterRow; ++a)
          sample.probabilities[at * kLetterRow + a] = static_cast<float>(p[a]);
    }
  }

  int letter_of(const Sample& sample, std::int64_t i,
                const std::array<double, kLetterCount>& p) const {
    const auto at = static_cast<std::size_t>(i);
    if (constraints_.free[at] == 0) return complex_.letters[at];
    if (*std::max_element(p.begin(), p.end()) > 0) return draw_letter(p, sample.uniforms[at]);
    throw_no_letter(complex_, sample, i);
  }

  const Decoder& decoder_;
  const Complex& complex_;
  const Constraints& constraints_;
  const std::span<Sample> samples_;
  std::vector<State> states_;
  std::vector<std::vector<Unit>> levels_;
};

// Where nothing was computed the model's output is that of an empty state.
void fill_absent(const Weights& weights, const Complex& complex, std::vector<float>& out) {
  std::array<float, kLetterCount> empty;
  log_softmax(weights.logits.bias.data(), empty.data());
  for (std::size_t i = 0; i < complex.present.size(); ++i)
    if (complex.present[i] == 0)
      std::copy(empty.begin(), empty.end(),
                out.begin() + static_cast<std::ptrdiff_t>(i * kLetterRow));
}

}  // namespace

void throw_not_finite(const Complex& complex) {
  throw Error(ErrorCode::failed,
              complex.name + ": the result is NaN or infinite; look at the weights");
}

void throw_no_letter(const Complex& complex, const Sample& sample, std::int64_t i) {
  if (!std::isfinite(sample.log_probabilities[static_cast<std::size_t>(i) * kLetterRow]))
    throw_not_finite(complex);
  const auto c = static_cast<std::size_t>(complex.chain[static_cast<std::size_t>(i)]);
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: position {} of chain {} may have no residue: all are omitted",
                          complex.name, i - complex.begin[c] + 1, complex.chains[c]));
}

void draw_samples(const Weights& weights, const Encoded& encoded, const Complex& complex,
                  const Constraints& constraints, std::span<Sample> samples) {
  const Decoder decoder(weights, encoded);
  Sampler(decoder, complex, constraints, samples).run();
  for (Sample& sample : samples) {
    // A tied residue was decoded before its partners had letters; its score knows them.
    if (!constraints.tied.empty())
      sample.log_probabilities =
          score_letters(weights, encoded, complex, sample.order, sample.letters);
    else
      fill_absent(weights, complex, sample.log_probabilities);
  }
}

std::vector<float> score_letters(const Weights& weights, const Encoded& encoded,
                                 const Complex& complex, const DecodingOrder& order,
                                 const std::vector<std::uint8_t>& letters) {
  const Decoder decoder(weights, encoded);
  State state = decoder.begin(order);
  const std::int64_t n = decoder.n();
  cpu::Floats h = cpu::floats(n * kHidden), ends = cpu::floats(n * 2 * kHidden);
  std::vector<float> out(static_cast<std::size_t>(n) * kLetterRow);
  std::vector<std::int64_t> residues;
  for (std::int64_t i = 0; i < n; ++i)
    if (complex.present[static_cast<std::size_t>(i)] != 0) residues.push_back(i);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::size_t l = 0; l < kLayers; ++l)
      decoder.add_letter(state, l, i, letters[static_cast<std::size_t>(i)]);
  const auto blocks =
      tbb::blocked_range<std::size_t>(0, (residues.size() + static_cast<std::size_t>(kBlock) - 1) /
                                             static_cast<std::size_t>(kBlock));
  // Rows of h and ends are those of `residues`, so that a block's are side by side.
  for (std::size_t r = 0; r < residues.size(); ++r) {
    const auto row = static_cast<std::int64_t>(r);
    std::copy_n(encoded.h.data() + residues[r] * kHidden, kHidden, h.data() + row * kHidden);
    std::copy_n(encoded.receiver.data() + residues[r] * kHidden, kHidden,
                ends.data() + row * 2 * kHidden);
  }
  for (std::size_t l = 0; l < kLayers; ++l) {
    const auto for_blocks = [&](const auto& body) {
      tbb::parallel_for(blocks, [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t b = range.begin(); b < range.end(); ++b) {
          const std::size_t begin = b * static_cast<std::size_t>(kBlock);
          const std::size_t end =
              std::min(residues.size(), begin + static_cast<std::size_t>(kBlock));
          std::vector<Place> places;
          for (std::size_t r = begin; r < end; ++r) places.push_back({&state, residues[r]});
          const auto row = static_cast<std::int64_t>(begin);
          body(places, cpu::Rows{h.data() + row * kHidden, kHidden},
               cpu::Rows{ends.data() + row * 2 * kHidden, 2 * kHidden});
        }
      });
    };
    for_blocks([&](const std::vector<Place>& places, cpu::Rows h_rows, cpu::Rows end_rows) {
      Scratch scratch(decoder.k());
      decoder.layer(l, places, h_rows, end_rows, scratch);
      if (l + 1 == kLayers) {
        cpu::Floats logits = cpu::floats(kBlock * decoder.logit_width());
        decoder.logits(h_rows, static_cast<std::int64_t>(places.size()), logits.data());
        for (std::size_t r = 0; r < places.size(); ++r)
          log_softmax(logits.data() + static_cast<std::int64_t>(r) * decoder.logit_width(),
                      out.data() + static_cast<std::size_t>(places[r].residue) * kLetterRow);
      } else {
        decoder.hand_on(l + 1, places, h_rows, end_rows);
        for (const Place& place : places)
          decoder.add_letter(state, l + 1, place.residue,
                             letters[static_cast<std::size_t>(place.residue)]);
      }
    });
  }
  fill_absent(weights, complex, out);
  return out;
}

}  // namespace biogpu::models::proteinmpnn
