#include "lib/qc/run/text_counts.hpp"

#include <functional>

namespace biogpu::qc {
namespace {
constexpr std::size_t kFirstSlots = 1024;
}

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
}

void TextCounts::grow() {
  std::vector<Slot> old = std::move(slots_);
  slots_.assign(old.empty() ? kFirstSlots : 2 * old.size(), {});
  for (const Slot& slot : old)
    if (slot.count != 0) slots_[find(slot.hash, text(slot))] = slot;
}

std::vector<std::pair<std::string_view, std::uint64_t>> TextCounts::list() const {
  std::vector<std::pair<std::string_view, std::uint64_t>> all;
  for (const Slot& slot : slots_)
    if (slot.count != 0) all.emplace_back(text(slot), slot.count);
  return all;
}

}  // namespace biogpu::qc
