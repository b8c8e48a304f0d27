#include "apps/biogpu/infer/proteins/array_run.hpp"

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/infer/proteins/sequence_run.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"

namespace biogpu::app {

void add_array_output(CLI::App& command, InferFlags& flags) {
  OptionGroup(command)
      .option("-o,--output", flags.output,
              "write the results to this file, whose suffix gives the format [-, TSV on standard "
              "output]",
              "FILE")
      ->check(array_name());
}

void run_arrays(const ArrayFlags& flags, const char* name, const std::string& command_line) {
  const io::ArrayFormat format = io::array_format(flags.infer.output);
  InferFlags infer = flags.infer;
  if (format == io::ArrayFormat::npy)
    infer.also_written.push_back({"the index", io::npy_index(infer.output)});
  SequenceRun run(infer, name, command_line);
  tasks::ArrayOptions options = flags.arrays;
  options.layers = tasks::resolve_layers(options.layers, run.info());
  if (options.contacts && !run.info().has_contacts)
    throw Error(ErrorCode::bad_input, flags.infer.model + ": has no contact head");
  if (options.logits && !run.info().has_logits)
    throw Error(ErrorCode::bad_input, flags.infer.model + ": has no language model head");
  const auto writer = io::make_array_writer(flags.infer.output, format);
  run.run(
      [&](models::ProteinModel& model, SequenceRun::Records& records,
          pipeline::RecordOutputs& result) {
        tasks::compute_arrays(model, records.names, records.sequences, options, run.budget_tokens(),
                              result);
        // The arrays of a record lie side by side, as many for each.
        for (std::size_t i = 0; i < result.arrays.size(); ++i) {
          io::NamedArray& array = result.arrays[i];
          array.place = [place = records.place,
                         record = i * records.names.size() / result.arrays.size()] {
            return place(record);
          };
          run.require_finite(array.values, array.place);
        }
      },
      [&](const pipeline::RecordOutputs& result) {
        for (const io::NamedArray& array : result.arrays) writer->add(array);
      });
  run.finish(writer->bytes(), [&] { writer->commit(); });
}

Run run_one_kind(const std::shared_ptr<ArrayFlags>& flags, bool tasks::ArrayOptions::*kind,
                 const char* name) {
  return [=](const std::string& command_line) {
    flags->arrays = {};
    flags->arrays.mean = false;
    flags->arrays.*kind = true;
    run_arrays(*flags, name, command_line);
  };
}

}  // namespace biogpu::app
