#include "lib/bio/genome/variant.hpp"

#include <algorithm>

namespace biogpu::genome {

Edit make_edit(std::int64_t position, const std::vector<LetterCode>& ref,
               const std::vector<LetterCode>& alt) {
  const std::size_t shorter = std::min(ref.size(), alt.size());
  std::size_t n_front = 0;
  while (n_front < shorter && ref[n_front] == alt[n_front]) ++n_front;
  std::size_t n_back = 0;
  while (n_back < shorter - n_front && ref[ref.size() - 1 - n_back] == alt[alt.size() - 1 - n_back])
    ++n_back;
  Edit edit;
  edit.begin = position + static_cast<std::int64_t>(n_front);
  edit.end = position + static_cast<std::int64_t>(ref.size() - n_back);
  edit.letters.assign(alt.begin() + static_cast<std::ptrdiff_t>(n_front),
                      alt.end() - static_cast<std::ptrdiff_t>(n_back));
  return edit;
}

}  // namespace biogpu::genome
