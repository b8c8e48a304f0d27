#include "lib/kmer/minhash_sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/core/bounded_json.hpp"
#include "lib/kmer/database/json_fields.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"
#include "lib/kmer/key/key.hpp"
#include "lib/kmer/sequences/sequence_keys.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::uint64_t kC1 = 0x87c37b91114253d5u;
constexpr std::uint64_t kC2 = 0x4cf5ad432745937fu;
constexpr std::uint64_t kFormatVersion = 1;

std::uint64_t finish_mix(std::uint64_t h) {
  h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
  h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
  return h ^ h >> 33;
}

std::uint64_t mix1(std::uint64_t word) { return std::rotl(word * kC1, 31) * kC2; }
std::uint64_t mix2(std::uint64_t word) { return std::rotl(word * kC2, 33) * kC1; }

// Up to eight bytes as an integer, the first lowest.
std::uint64_t partial_word(std::string_view bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), std::min<std::size_t>(8, bytes.size()));
  return word;
}

// The continued fraction of the incomplete beta function, by Lentz's method
// (W. Press et al., Numerical Recipes, section 6.4).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-15;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double h = d;
  for (int m = 1; m < 10000; ++m) {
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = std::abs(c) < kTiny ? kTiny : c;
      h *= d * c;
      if (std::abs(d * c - 1) < kEnough && term < 0) return h;
    }
  }
  return h;
}

// The regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// That n_common or more of n_compared hashes are shared by sequences of these lengths at random.
double p_value(const SketchDistance& d, std::uint64_t length_a, std::uint64_t length_b, int k) {
  if (d.n_common == 0) return 1;
  const double space = std::pow(4.0, k);
  const double share_a = 1 / (1 + space / static_cast<double>(length_a));
  const double share_b = 1 / (1 + space / static_cast<double>(length_b));
  const double both = share_a * share_b / (share_a + share_b - share_a * share_b);
  const auto x = static_cast<double>(d.n_common);
  return incomplete_beta(x, static_cast<double>(d.n_compared) - x + 1, both);
}

}  // namespace

std::uint64_t murmur_hash(std::string_view bytes, std::uint32_t seed) {
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;
  std::string_view rest = bytes;
  for (; rest.size() >= 16; rest.remove_prefix(16)) {
    h1 = (std::rotl(h1 ^ mix1(partial_word(rest)), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ mix2(partial_word(rest.substr(8))), 31) + h1) * 5 + 0x38495ab5;
  }
  if (rest.size() > 8) h2 ^= mix2(partial_word(rest.substr(8)));
  if (!rest.empty()) h1 ^= mix1(partial_word(rest));
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  return finish_mix(h1) + finish_mix(h2);
}

void Sketcher::add(std::string_view sequence) {
  constexpr std::size_t kWindows = 1u << 16;  // whose keys are held at a time
  const auto k = static_cast<std::size_t>(options_.k);
  std::string letters(k, 'A');
  // Mash hashes into 32 bits where all k-mers have room in them.
  const std::uint64_t mask = options_.k > 16 ? UINT64_MAX : 0xffffffffu;
  for (std::size_t begin = 0; begin + k <= sequence.size(); begin += kWindows) {
    keys_.clear();
    append_keys(sequence.substr(begin, kWindows + k - 1), options_.k, true, keys_);
    for (std::uint64_t key : keys_) {
      for (std::size_t i = k; i-- > 0; key >>= 2) letters[i] = "ACGT"[key & 3];
      const std::uint64_t hash = murmur_hash(letters, options_.seed) & mask;
      if (hash > limit_) continue;
      hashes_.push_back(hash);
      if (hashes_.size() >= 4 * options_.size + 4096) shrink();
    }
  }
}

void Sketcher::add(const Sketcher& other) {
  hashes_.insert(hashes_.end(), other.hashes_.begin(), other.hashes_.end());
  shrink();
}

void Sketcher::shrink() {
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  if (hashes_.size() < options_.size) return;
  hashes_.resize(options_.size);
  limit_ = hashes_.back();
}

Sketch Sketcher::finish(const std::string& name, std::uint64_t length) {
  shrink();
  return {name, length, hashes_};
}

SketchDistance compare(const Sketch& a, const Sketch& b, const SketchOptions& options) {
  SketchDistance d;
  std::uint64_t n_of_b = 0;
  auto i = a.hashes.begin();
  auto j = b.hashes.begin();
  for (; d.n_compared < options.size && i != a.hashes.end() && j != b.hashes.end();
       ++d.n_compared) {
    if (*i < *j) {
      ++i;
    } else {
      ++n_of_b;
      if (*j < *i) {
        ++j;
      } else {
        ++i;
        ++j;
        ++d.n_common;
      }
    }
  }
  const auto left = static_cast<std::uint64_t>(a.hashes.end() - i + (b.hashes.end() - j));
  const std::uint64_t missing = options.size - d.n_compared;
  n_of_b += std::min<std::uint64_t>(missing, static_cast<std::uint64_t>(b.hashes.end() - j));
  d.n_compared += std::min(missing, left);
  if (d.n_compared == 0) {
    d.distance = 0;
    return d;
  }
  d.jaccard = static_cast<double>(d.n_common) / static_cast<double>(d.n_compared);
  if (n_of_b > 0) d.containment = static_cast<double>(d.n_common) / static_cast<double>(n_of_b);
  if (d.n_common == d.n_compared)
    d.distance = 0;
  else if (d.n_common > 0)
    d.distance = std::min(1.0, -std::log(2 * d.jaccard / (1 + d.jaccard)) / options.k);
  d.p_value = p_value(d, a.length, b.length, options.k);
  return d;
}

std::string sketches_as_json(const std::vector<Sketch>& sketches, const SketchOptions& options) {
  nlohmann::ordered_json json = {{"format", "biogpu sketch"},
                                 {"version", kFormatVersion},
                                 {"k", options.k},
                                 {"size", options.size},
                                 {"seed", options.seed}};
  json["sketches"] = nlohmann::ordered_json::array();
  for (const Sketch& sketch : sketches)
    json["sketches"].push_back(
        {{"name", sketch.name}, {"length", sketch.length}, {"hashes", sketch.hashes}});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<Sketch> parse_sketches(const std::string& text, const std::string& label,
                                   SketchOptions& options) {
  const auto json = parse_bounded_json(text, label);
  const JsonFields fields(json, label);
  if (fields.text("format") != "biogpu sketch" ||
      fields.number("version", 0, UINT64_MAX) != kFormatVersion)
    throw_bad_input(label, "is no file of 'biogpu kmer sketch' that this version reads");
  options.k = static_cast<int>(fields.number("k", 1, kMaxSketchK));
  options.size = fields.number("size", 1, kMaxSketchSize);
  options.seed = static_cast<std::uint32_t>(fields.number("seed", 0, UINT32_MAX));
  std::vector<Sketch> sketches;
  for (const auto& entry : fields.array("sketches")) {
    const JsonFields of(entry, label);
    Sketch sketch{of.text("name"), of.number("length", 0, UINT64_MAX), {}};
    const std::size_t n = of.array("hashes").size();
    if (n > options.size)
      throw_bad_input(label,
                      fmt::format("a sketch has {} hashes; expected up to {}", n, options.size));
    if (n > sketch.length)
      throw_bad_input(label, fmt::format("a sketch has {} hashes of {} letters", n, sketch.length));
    sketch.hashes = of.numbers("hashes", n, UINT64_MAX);
    if (std::adjacent_find(sketch.hashes.begin(), sketch.hashes.end(), std::greater_equal<>()) !=
        sketch.hashes.end())
      throw_bad_input(label, "the hashes of a sketch do not ascend; the file is damaged");
    sketches.push_back(std::move(sketch));
  }
  return sketches;
}

}  // namespace biogpu::kmer
