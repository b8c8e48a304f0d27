#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "lib/core/error.hpp"
#include "lib/models/proteinmpnn/design.hpp"

namespace biogpu::models::proteinmpnn {

std::vector<GivenSequence> read_given(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::failed, path + ": cannot be read");
  std::vector<GivenSequence> sequences;
  std::string line;
  for (std::uint64_t number = 1; std::getline(file, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    if (line[0] == '>') {
      std::replace(line.begin(), line.end(), '\t', ' ');  // the name is a column of a table
      sequences.push_back({line.substr(1), {}});
    } else if (sequences.empty()) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: record 1 (line {}): no '>' before the sequence", path, number));
    } else {
      sequences.back().letters += line;
    }
  }
  return sequences;
}

}  // namespace biogpu::models::proteinmpnn
