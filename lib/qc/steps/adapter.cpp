#include <algorithm>

#include "lib/qc/steps/adapter.hpp"
#include "lib/qc/steps/one_gap.hpp"

namespace biogpu::qc {
namespace {

constexpr int kOneMismatchIn = 8;

}  // namespace

int first_adapter_position(std::size_t adapter_length) {
  if (adapter_length >= 16) return -4;
  if (adapter_length >= 12) return -3;
  return adapter_length >= 8 ? -2 : 0;
}

bool adapter_matches(const char* sequence, int length, std::string_view adapter, int pos) {
  const int compared = std::min(length - pos, static_cast<int>(adapter.size()));
  const int allowed = compared / kOneMismatchIn;
  int mismatches = 0;
  for (int i = std::max(0, -pos); i < compared && mismatches <= allowed; ++i)
    mismatches += adapter[static_cast<std::size_t>(i)] != sequence[i + pos];
  return mismatches <= allowed;
}

int find_adapter_ref(const char* sequence, int length, std::string_view adapter,
                     int match_require) {
  for (int pos = first_adapter_position(adapter.size()); pos < length - match_require; ++pos)
    if (adapter_matches(sequence, length, adapter, pos)) return pos;
  return kNoAdapter;
}

int find_adapter_with_gap(std::string_view read, std::string_view adapter, int match_require) {
  const auto read_length = static_cast<int>(read.size());
  const auto length = static_cast<int>(adapter.size());
  // n_behind: bases of the read that the last position leaves for the gap.
  const auto search = [&](std::string_view longer, std::string_view shorter, int n_behind,
                          int most) {
    int last = -1;  // the number of bases compared last: only another one can change the answer
    for (int pos = 0; pos < read_length - match_require - n_behind; ++pos) {
      const int n = std::min(read_length - pos - n_behind, most);
      if (n == last) continue;
      last = n;
      if (matches_without_one(longer, shorter, n, n / kOneMismatchIn - 1)) return pos;
    }
    return kNoAdapter;
  };
  const int inserted = search(read, adapter, 1, length);
  return inserted != kNoAdapter ? inserted : search(adapter, read, 0, length - 1);
}

std::string_view trim_adapter(Mate& mate, std::string_view adapter, bool gapped,
                              int match_require) {
  int pos = find_adapter(mate.sequence, mate.length, adapter, match_require);
  if (pos == kNoAdapter && gapped)
    pos = find_adapter_with_gap({mate.sequence, static_cast<std::size_t>(mate.length)}, adapter,
                                match_require);
  if (pos == kNoAdapter) return {};
  if (pos < 0) {
    mate.length = 0;
    return adapter.substr(0, adapter.size() - static_cast<std::size_t>(-pos));
  }
  const std::string_view cut(mate.sequence + pos, static_cast<std::size_t>(mate.length - pos));
  mate.length = pos;
  return cut;
}

void trim_adapters(Mate& mate, const std::vector<std::string>& adapters, bool gapped,
                   std::vector<std::string_view>* cuts) {
  const int match_require = fasta_match_require(adapters.size());
  for (const std::string& adapter : adapters) {
    const std::string_view cut = trim_adapter(mate, adapter, gapped, match_require);
    if (cuts != nullptr && !cut.empty()) cuts->push_back(cut);
  }
}

bool trim_by_overlap(Mate& mate1, Mate& mate2, const Overlap& overlap, std::string_view& cut1,
                     std::string_view& cut2) {
  if (!overlap.found || overlap.offset >= 0) return false;
  const auto cut = [](Mate& mate, int kept) {
    const int before = mate.length;
    mate.keep_front(kept);
    return std::string_view(mate.sequence + mate.length,
                            static_cast<std::size_t>(before - mate.length));
  };
  cut1 = cut(mate1, overlap.length + mate2.front_trimmed);
  cut2 = cut(mate2, overlap.length + mate1.front_trimmed);
  return true;
}

}  // namespace biogpu::qc
