#include "apps/biogpu/parasail/tables.hpp"

#include <fmt/format.h>

#include <iterator>

#include "lib/io/output_file.hpp"

namespace biogpu::app {

void write_tables(const Item& item, const align::Options& options, const EncodedSet& held) {
  const Unit& unit = item.unit;
  for (const align::Pair& pair : unit.pairs) {
    const std::string_view query = unit.queries.sequence(pair.query);
    const std::string_view target = unit.targets.sequence(pair.target);
    const std::vector<std::int32_t> scores = align::score_matrix(
        options, item.queries.view().sequence(pair.query), held.view().sequence(pair.target));
    io::OutputFile out(fmt::format("parasail_{}_{}.txt", unit.queries.index(pair.query),
                                   unit.targets.index(pair.target)),
                       1);
    std::string line = " ";
    for (const char letter : target) fmt::format_to(std::back_inserter(line), "{:>4}", letter);
    line += '\n';
    out.write(line);
    for (std::size_t i = 0; i < query.size(); ++i) {
      line.assign(1, query[i]);
      for (std::size_t j = 0; j < target.size(); ++j)
        fmt::format_to(std::back_inserter(line), "{:4}", scores[i * target.size() + j]);
      line += '\n';
      out.write(line);
    }
    out.commit();
  }
}

}  // namespace biogpu::app
