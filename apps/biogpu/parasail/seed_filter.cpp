#include "apps/biogpu/parasail/seed_filter.hpp"

#include <algorithm>
#include <utility>

#include "lib/align/scoring/letter_case.hpp"

namespace biogpu::app {
namespace {

// Seeds up to this length are their own hash: one byte a letter.
constexpr std::size_t kExact = sizeof(std::uint64_t);
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // odd; 2^64 / golden ratio

std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

}  // namespace

SeedFilter::SeedFilter(std::shared_ptr<const io::SequenceBatch> targets, std::size_t length,
                       bool case_sensitive)
    : targets_(std::move(targets)),
      length_(length),
      case_sensitive_(case_sensitive),
      found_(targets_->size(), false) {
  for (std::uint32_t target = 0; target < targets_->size(); ++target)
    for_each_seed(fold(targets_->sequence(target)), [&](std::uint64_t hash, std::size_t position) {
      seeds_.push_back({hash, target, position});
    });
  std::sort(seeds_.begin(), seeds_.end(), [](const Seed& a, const Seed& b) {
    return std::pair(a.hash, a.target) < std::pair(b.hash, b.target);
  });
}

std::string SeedFilter::fold(std::string_view text) const {
  std::string folded(text);
  if (!case_sensitive_)
    std::transform(folded.begin(), folded.end(), folded.begin(), align::to_upper);
  return folded;
}

template <class Function>
void SeedFilter::for_each_seed(std::string_view folded, Function&& function) const {
  if (folded.size() < length_) return;
  const bool exact = length_ <= kExact;
  const std::uint64_t base = exact ? 256 : kMultiplier;
  // Letters leave the hash from its highest place; an exact one shifts them out by itself.
  const std::uint64_t mask = length_ >= kExact ? ~std::uint64_t{0} : power(256, length_) - 1;
  const std::uint64_t highest = exact ? 0 : power(base, length_);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < folded.size(); ++i) {
    hash = hash * base + static_cast<unsigned char>(folded[i]);
    if (i >= length_) hash -= highest * static_cast<unsigned char>(folded[i - length_]);
    if (exact) hash &= mask;
    if (i + 1 >= length_) function(hash, i + 1 - length_);
  }
}

void SeedFilter::find(std::string_view text, std::uint32_t first,
                      std::vector<std::uint32_t>& targets) {
  const std::string folded = fold(text);
  const std::size_t begin = targets.size();
  for_each_seed(folded, [&](std::uint64_t hash, std::size_t position) {
    auto seed = std::lower_bound(
        seeds_.begin(), seeds_.end(), std::pair(hash, first),
        [](const Seed& a, const auto& b) { return std::pair(a.hash, a.target) < b; });
    for (; seed != seeds_.end() && seed->hash == hash; ++seed) {
      if (found_[seed->target]) continue;
      if (length_ > kExact &&
          fold(targets_->sequence(seed->target).substr(seed->position, length_)) !=
              folded.substr(position, length_))
        continue;
      found_[seed->target] = true;
      targets.push_back(seed->target);
    }
  });
  std::sort(targets.begin() + static_cast<std::ptrdiff_t>(begin), targets.end());
  for (std::size_t i = begin; i < targets.size(); ++i) found_[targets[i]] = false;
}

}  // namespace biogpu::app
