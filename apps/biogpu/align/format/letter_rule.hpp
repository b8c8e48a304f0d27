#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace biogpu::app {

// Which letters a path calls equal ('='): the same ones, case aside unless it matters, and pairs
// given as aliases ("TU"). Scores do not depend on it.
class LetterRule {
 public:
  // aliases: pairs of letters one after the other. Throws Error{usage} for an odd number.
  explicit LetterRule(bool case_sensitive = false, const std::string& aliases = {});

  bool same(char a, char b) const;
  // Parasail's views (EMBOSS, SSW) compare aliases with the letters as they are written.
  bool same_in_view(char a, char b) const;
  // Residues of one class are the same letter unless the class stands for several.
  bool plain() const { return !case_sensitive_ && aliases_.empty(); }

 private:
  char folded(char c) const;
  bool aliased(char a, char b) const;
  bool case_sensitive_;
  std::string aliases_;  // folded
};

// The path with its columns of two residues marked '=' or 'X' by letters instead of classes.
// query and target begin where the path does.
void mark_by_letters(std::span<const std::uint32_t> path, std::string_view query,
                     std::string_view target, const LetterRule& rule,
                     std::vector<std::uint32_t>& marked);

}  // namespace biogpu::app
