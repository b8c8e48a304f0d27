// Positions that keep their residue, as the command line lists them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/models/proteinmpnn/inputs/complex.hpp"
#include "lib/models/proteinmpnn/inputs/design_inputs.hpp"
#include "lib/models/proteinmpnn/inputs/design_json.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

struct Span {
  std::string chain;
  std::int64_t first = 0, last = 0;
};

Error bad_position(std::string_view word) {
  return Error(ErrorCode::usage,
               fmt::format("--fixed: {} is no position; expected chain and number as A10, A10-20 "
                           "or, for a chain with digits in its name, A1:10, and 10 for one without "
                           "a name",
                           biogpu::quoted(word)));
}

// "A10", "A10-20": the chain is what comes before the first digit; "10" is of one without a name.
Span parse_span(std::string_view word) {
  Span span;
  const std::size_t colon = word.rfind(':');
  const std::size_t name_end = std::min(colon, word.find_first_of("0123456789"));
  const std::size_t size = colon == std::string_view::npos ? name_end : colon;
  if (size == std::string_view::npos) throw bad_position(word);
  span.chain = std::string(word.substr(0, size));
  const std::size_t digit = size + (colon == std::string_view::npos ? 0 : 1);
  const char* const end = word.data() + word.size();
  auto read = std::from_chars(word.data() + digit, end, span.first);
  span.last = span.first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
    read = std::from_chars(read.ptr + 1, end, span.last);
  if (read.ec != std::errc() || read.ptr != end || span.last < span.first) throw bad_position(word);
  return span;
}

}  // namespace

void DesignInputs::fix_listed(const Complex& complex, Constraints& constraints) const {
  std::string_view rest = request_.fixed;
  while (!rest.empty()) {
    const std::size_t size = std::min(rest.size(), rest.find_first_of(" ,"));
    const std::string_view word = rest.substr(0, size);
    rest.remove_prefix(std::min(rest.size(), size + 1));
    if (word.empty()) continue;
    const Span span = parse_span(word);
    const auto chain = std::find(complex.chains.begin(), complex.chains.end(), span.chain);
    if (chain == complex.chains.end() && span.chain.empty()) throw bad_position(word);
    if (chain == complex.chains.end())
      throw_bad_entry("--fixed", complex.name,
                      fmt::format("has no chain {}; its chains are {}", shown_chain(span.chain),
                                  shown_chains(complex.chains)));
    const auto c = static_cast<std::size_t>(chain - complex.chains.begin());
    for (std::int64_t position = span.first; position <= span.last; ++position)
      constraints.free[residue_at("--fixed", complex, c, position)] = 0;
  }
}

}  // namespace biogpu::models::proteinmpnn
