#include "apps/biogpu/infer/proteins/record_table.hpp"

#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {

void run_table(const InferFlags& flags, const Table& table, const std::string& command_line) {
  SequenceRun run(flags, table.command, command_line);
  if (!run.info().has_logits)
    throw Error(ErrorCode::bad_input, flags.model + ": has no language model head");
  io::OutputFile out(flags.output, flags.shared.threads);
  out.write(table.header);
  run.expect(table.names);
  run.run(
      [&](models::ProteinModel& model, SequenceRun::Records& records,
          pipeline::RecordOutputs& result) {
        const auto record = [&](std::size_t i) -> Record {
          return {run, model.info().vocabulary, records.names[i], records.place,
                  i,   records.sequences[i]};
        };
        std::vector<tasks::Positions> positions;
        for (std::size_t i = 0; i < records.names.size(); ++i)
          positions.push_back(table.positions(record(i)));
        tasks::log_probabilities(model, records.sequences, positions, table.masked,
                                 run.budget_tokens(),
                                 [&](std::size_t i, const tasks::LogProbabilities& probabilities) {
                                   table.append(record(i), probabilities, result.text);
                                 });
      },
      [&](const pipeline::RecordOutputs& result) { out.write(result.text); });
  if (!run.missing().empty()) table.report_missing(run.missing(), run.log());
  run.finish(out.bytes(), [&] { out.commit(); });
}

}  // namespace biogpu::app
