// `biogpu infer fill-mask`: likely residues at masked positions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/proteins/record_table.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/tasks/score.hpp"

namespace biogpu::app {
namespace {

struct FillFlags {
  InferFlags infer;
  int top = 5;
};

// The likeliest words of every mask of a sequence.
void fill_sequence(int top, const Record& record, const tasks::LogProbabilities& probabilities,
                   std::string& text) {
  const models::Vocabulary& vocabulary = record.vocabulary;
  record.require_finite(probabilities.rows);
  const std::string name = io::as_field(record.name);
  std::vector<std::size_t> order(vocabulary.tokens.size());
  for (std::size_t i = 0; i < probabilities.positions.size(); ++i) {
    const auto row = probabilities.row(i);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    for (std::size_t rank = 0;
         rank < std::min<std::size_t>(order.size(), static_cast<std::size_t>(top)); ++rank)
      text += fmt::format("{}\t{}\t{}\t{}\t{:.6g}\n", name, probabilities.positions[i], rank + 1,
                          vocabulary.tokens[order[rank]],
                          std::exp(static_cast<double>(row[order[rank]])));
  }
}

void run_fill_mask(const FillFlags& flags, const std::string& command_line) {
  const auto masks = [](const Record& record) {
    return tasks::mask_positions(record.vocabulary, record.sequence);
  };
  const auto append = [&](const Record& record, const tasks::LogProbabilities& probabilities,
                          std::string& text) {
    fill_sequence(flags.top, record, probabilities, text);
  };
  run_table(
      flags.infer,
      {"infer fill-mask", "name\tposition\trank\tresidue\tprobability\n", false, masks, append},
      command_line);
}

}  // namespace

Run add_infer_fill_mask(CLI::App& command) {
  const auto flags = std::make_shared<FillFlags>();
  add_table_output(command, flags->infer);
  OptionGroup(command)
      .option("--top", flags->top, "write the N most likely tokens of each mask [5]", "N")
      ->transform(in_range(1, 33));
  add_infer_flags(command, flags->infer);
  command.footer(
      std::string(
          "Columns: name, position (from 1), rank, residue, probability (six significant digits).\n"
          "Masks are written <mask> or [MASK] in the sequence.\n\n"
          "Examples:\n"
          "  printf '>p\\nMKT<mask>LLA\\n' | biogpu infer fill-mask --model esm2_t6_8M_UR50D\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_fill_mask(*flags, command_line); };
}

}  // namespace biogpu::app
