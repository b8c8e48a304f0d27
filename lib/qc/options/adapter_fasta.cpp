#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/qc/options/list_lines.hpp"
#include "lib/qc/options/options.hpp"

namespace biogpu::qc {
namespace {
constexpr std::size_t kShortestAdapter = 6;
}

std::vector<std::string> read_adapter_fasta(const std::string& path, Profile profile,
                                            std::vector<std::string>& remarks) {
  std::map<std::string, std::string> by_header;
  std::string* sequence = nullptr;
  for (const std::string& line : read_list_lines(path)) {
    if (!line.empty() && line[0] == '>') {
      sequence = &by_header[line.substr(1)];
      sequence->clear();
    } else if (sequence != nullptr) {
      for (const char c : line)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '*')
          *sequence += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else if (!line.empty()) {
      throw Error(ErrorCode::bad_input, path + ": record 1 (line 1): expected '>' and a name");
    }
  }
  std::vector<std::string> adapters;
  std::set<std::string_view> seen;
  for (const auto& [header, adapter] : by_header) {
    if (adapter.size() >= kShortestAdapter) {
      if (profile == Profile::fastp_0_23 || seen.insert(adapter).second)
        adapters.push_back(adapter);
    } else {
      remarks.push_back(
          fmt::format("skip too short adapter sequence in {} (6bp required): {}", path, adapter));
    }
  }
  return adapters;
}

}  // namespace biogpu::qc
