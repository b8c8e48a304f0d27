#include "lib/qc/stats/text_counts.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace biogpu::qc {
namespace {
constexpr std::size_t kFirstSlots = 1024;
// fastp 1's.
constexpr std::size_t kMostTexts = 20000;
constexpr std::size_t kMostOfAnyKind = 5000;

// Fewer than half of the letters differ from the one before.
bool has_low_complexity(std::string_view text) {
  std::size_t n_changes = 0;
  for (std::size_t i = 1; i < text.size(); ++i) n_changes += text[i] != text[i - 1];
  return n_changes < text.size() / 2;
}
}  // namespace

std::size_t TextCounts::find(std::uint64_t hash, std::string_view wanted) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].count != 0 && (slots_[at].hash != hash || text(slots_[at]) != wanted))
    at = (at + 1) & mask;
  return at;
}

void TextCounts::add(std::string_view wanted, std::uint64_t n) {
  if (2 * (n_used_ + 1) > slots_.size()) grow();
  const std::uint64_t hash = std::hash<std::string_view>()(wanted);
  Slot& slot = slots_[find(hash, wanted)];
  if (slot.count == 0) {
    slot = {hash, texts_.size(), 0, wanted.size()};
    texts_.append(wanted.data(), wanted.size());
    ++n_used_;
  }
  slot.count += n;
  total_ += n;
  total_length_ += n * wanted.size();
}

void TextCounts::add_bounded(std::string_view wanted, std::uint64_t n) {
  const bool may_be_new =
      n_used_ <= kMostTexts && (n_used_ <= kMostOfAnyKind || !has_low_complexity(wanted));
  if (may_be_new || count_of(wanted) > 0) add(wanted, n);
}

std::uint64_t TextCounts::count_of(std::string_view wanted) const {
  if (slots_.empty()) return 0;
  return slots_[find(std::hash<std::string_view>()(wanted), wanted)].count;
}

std::vector<std::string_view> TextCounts::frequent(double share) const {
  const double least = share * static_cast<double>(total_);
  std::vector<std::string_view> found;
  for (const Slot& slot : slots_)
    if (slot.count != 0 && static_cast<double>(slot.count) >= least) found.push_back(text(slot));
  return found;
}

void TextCounts::grow() {
  std::vector<Slot> old = std::move(slots_);
  slots_.assign(old.empty() ? kFirstSlots : 2 * old.size(), {});
  for (const Slot& slot : old)
    if (slot.count != 0) slots_[find(slot.hash, text(slot))] = slot;
}

std::vector<std::pair<std::string_view, std::uint64_t>> TextCounts::list() const {
  std::vector<const Slot*> used;
  used.reserve(n_used_);
  for (const Slot& slot : slots_)
    if (slot.count != 0) used.push_back(&slot);
  std::sort(used.begin(), used.end(), [](const Slot* a, const Slot* b) {
    return std::pair(a->begin, a->length) < std::pair(b->begin, b->length);
  });
  std::vector<std::pair<std::string_view, std::uint64_t>> all;
  all.reserve(used.size());
  for (const Slot* slot : used) all.emplace_back(text(*slot), slot->count);
  return all;
}

CommonTexts common_texts(const std::vector<const TextCounts*>& parts, double share) {
  CommonTexts common;
  std::set<std::string_view> candidates;
  for (const TextCounts* part : parts) {
    common.total += part->total();
    common.total_length += part->total_length();
    // A little below the share, whatever the rounding.
    for (const std::string_view text : part->frequent(0.999 * share)) candidates.insert(text);
  }
  common.n_others = common.total;
  for (const std::string_view text : candidates) {
    std::uint64_t n = 0;
    for (const TextCounts* part : parts) n += part->count_of(text);
    if (static_cast<double>(n) / static_cast<double>(common.total) < share) continue;
    common.texts.emplace_back(text, n);
    common.n_others -= n;
  }
  std::sort(common.texts.begin(), common.texts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.size(), std::string_view(a.first)) <
           std::pair(b.first.size(), std::string_view(b.first));
  });
  return common;
}

CommonTexts bounded_texts(const std::vector<const std::vector<TextCounts>*>& parts) {
  std::vector<TextCounts> workers(parts.front()->size());
  for (const std::vector<TextCounts>* part : parts)
    for (std::size_t w = 0; w < workers.size(); ++w)
      for (const auto& [text, n] : (*part)[w].list()) workers[w].add_bounded(text, n);
  std::vector<const TextCounts*> all;
  all.reserve(workers.size());
  for (const TextCounts& worker : workers) all.push_back(&worker);
  return common_texts(all, kShareReported);
}

}  // namespace biogpu::qc
