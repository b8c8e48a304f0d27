#include "lib/qc/steps/umi.hpp"

#include <algorithm>

namespace biogpu::qc {
namespace {

constexpr std::size_t kShortestName = 5;

// Cuts the UMI and what is skipped behind it off the read, of which one base always stays.
std::string take_from_read(Mate& mate, const Options& options) {
  const int n = std::min(mate.length, options.umi_length);
  std::string umi(mate.sequence, static_cast<std::size_t>(n));
  const int cut = std::max(0, std::min(mate.length - 1, n + options.umi_skip));
  mate.sequence += cut;
  mate.quality += cut;
  mate.length -= cut;
  return umi;
}

void add_to_name(std::string& name, const std::string& umi, const Options& options) {
  std::string tag = options.umi_delimiter;
  if (!options.umi_prefix.empty()) tag += options.umi_prefix + "_";
  tag += umi;
  name.insert(std::min(name.find(' '), name.size()), tag);
}

}  // namespace

std::string_view first_index(std::string_view name) {
  if (name.size() < kShortestName) return {};
  std::size_t end = name.size();
  for (std::size_t i = name.size() - 2; i-- > 0;) {
    if (name[i] == '+') end = i;
    if (name[i] == ':') return name.substr(i + 1, end - i - 1);
  }
  return {};
}

std::string_view last_index(std::string_view name) {
  if (name.size() < kShortestName) return {};
  for (std::size_t i = name.size() - 2; i-- > 0;)
    if (name[i] == ':' || name[i] == '+') return name.substr(i + 1);
  return {};
}

bool fix_mgi_name(std::string_view name, std::string& fixed) {
  if (name.size() < 2 || (name.back() != '1' && name.back() != '2')) return false;
  const std::size_t slash = name.size() - 2;
  if (name[slash] != '/') return false;
  fixed.assign(name.substr(0, slash));
  fixed += ' ';
  fixed += name.substr(slash);
  return true;
}

void apply_umi(Mate& mate1, std::string& name1, Mate* mate2, std::string* name2,
               const Options& options) {
  std::string umi;
  bool always = false;  // even an empty tag is added
  switch (options.umi_location) {
    case UmiLocation::none:
      return;
    case UmiLocation::index1:
      umi = first_index(name1);
      break;
    case UmiLocation::index2:
      umi = last_index(*name2);
      break;
    case UmiLocation::read1:
      umi = take_from_read(mate1, options);
      break;
    case UmiLocation::read2:
      umi = take_from_read(*mate2, options);
      break;
    case UmiLocation::per_index:
      always = true;
      umi = first_index(name1);
      if (name2 != nullptr) umi.append("_").append(last_index(*name2));
      break;
    case UmiLocation::per_read:
      always = true;
      umi = take_from_read(mate1, options);
      if (mate2 != nullptr) umi.append("_").append(take_from_read(*mate2, options));
      break;
  }
  if (umi.empty() && !always) return;
  add_to_name(name1, umi, options);
  if (name2 != nullptr) add_to_name(*name2, umi, options);
}

}  // namespace biogpu::qc
