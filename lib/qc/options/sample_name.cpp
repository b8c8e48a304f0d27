#include "lib/qc/options/sample_name.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace biogpu::qc {
namespace {

bool is_separator(char c) { return c == '_' || c == '.' || c == '-'; }

void remove_suffix(std::string& name, std::initializer_list<std::string_view> suffixes) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return;
  std::string suffix = name.substr(dot + 1);
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end()) name.resize(dot);
}

std::string file_stem(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  remove_suffix(name, {"gz", "bgz", "bgzf"});
  remove_suffix(name, {"fastq", "fq"});
  return name;
}

}  // namespace

std::string sample_name(const std::string& in1, const std::string& in2) {
  if (in1.empty() || in1 == "-" || in1 == "/dev/stdin") return "standard input";
  const std::string first = file_stem(in1);
  if (in2.empty()) return first;
  const std::string second = file_stem(in2);
  if (first == second) return first;
  const auto [end, unused] =
      std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  std::string name(first.begin(), end);
  // The R of _R1 and _R2.
  if (name.size() > 1 && (name.back() == 'R' || name.back() == 'r') &&
      is_separator(name[name.size() - 2]))
    name.pop_back();
  const std::size_t with_separators = name.size();
  while (!name.empty() && is_separator(name.back())) name.pop_back();
  // r1.fq and r2.fq have only a letter in common, which is no name.
  const bool is_name = name.size() > 1 || name.size() < with_separators;
  return is_name && !name.empty() ? name : first + ", " + second;
}

}  // namespace biogpu::qc
