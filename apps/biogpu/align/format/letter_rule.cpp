#include "apps/biogpu/align/format/letter_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/align/align.hpp"
#include "lib/align/scoring/letter_case.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

using align::kCigarEqual;
using align::kCigarInsertion;
using align::kCigarMismatch;

void append_column(std::vector<std::uint32_t>& path, std::size_t first, std::uint32_t operation) {
  constexpr std::uint32_t kOne = 1u << 4;
  if (path.size() > first && (path.back() & 15) == operation)
    path.back() += kOne;
  else
    path.push_back(kOne | operation);
}

}  // namespace

LetterRule::LetterRule(bool case_sensitive, const std::string& aliases)
    : case_sensitive_(case_sensitive), aliases_(aliases) {
  if (aliases.size() % 2 != 0)
    throw Error(ErrorCode::usage,
                fmt::format("aliases '{}'; expected pairs of letters, as TU", aliases));
  for (char& c : aliases_) c = folded(c);
}

char LetterRule::folded(char c) const { return case_sensitive_ ? c : align::to_upper(c); }

bool LetterRule::aliased(char a, char b) const {
  for (std::size_t i = 0; i < aliases_.size(); i += 2)
    if ((aliases_[i] == a && aliases_[i + 1] == b) || (aliases_[i + 1] == a && aliases_[i] == b))
      return true;
  return false;
}

bool LetterRule::same(char a, char b) const {
  return folded(a) == folded(b) || aliased(folded(a), folded(b));
}

bool LetterRule::same_in_view(char a, char b) const {
  return folded(a) == folded(b) || aliased(a, b);
}

void mark_by_letters(std::span<const std::uint32_t> path, std::string_view query,
                     std::string_view target, const LetterRule& rule,
                     std::vector<std::uint32_t>& marked) {
  const std::size_t first = marked.size();
  std::size_t i = 0;
  std::size_t j = 0;
  for (const std::uint32_t run : path) {
    const std::uint32_t operation = run & 15;
    const std::size_t length = run >> 4;
    if (operation != kCigarEqual && operation != kCigarMismatch) {
      marked.push_back(run);
      (operation == kCigarInsertion ? i : j) += length;
      continue;
    }
    for (std::size_t column = 0; column < length; ++column, ++i, ++j)
      append_column(marked, first, rule.same(query[i], target[j]) ? kCigarEqual : kCigarMismatch);
  }
}

}  // namespace biogpu::app
