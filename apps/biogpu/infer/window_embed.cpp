#include "apps/biogpu/infer/window_embed.hpp"

#include <utility>

#include "apps/biogpu/infer/window_run.hpp"
#include "lib/io/arrays/array_writer.hpp"

namespace biogpu::app {

void run_window_embed(WindowFlags flags, bool both_strands, const std::string& command_line) {
  const std::string output = flags.dna.infer.output;
  const io::ArrayFormat format = io::array_format(output);
  if (format == io::ArrayFormat::npy)
    flags.dna.infer.also_written.push_back({"the index", io::npy_index(output)});
  WindowRun run(checked_flags(std::move(flags)), "infer embed", command_line);
  const auto writer = io::make_array_writer(output, format);
  tasks::TrackOptions options;
  options.request.tracks = false;
  options.request.embedding = true;
  options.both_strands = both_strands;
  run.run(options, [&](const pipeline::BatchResult& result) {
    for (const io::NamedArray& array : result.arrays) writer->add(array);
  });
  run.finish(writer->bytes(), [&] { writer->commit(); });
}

}  // namespace biogpu::app
