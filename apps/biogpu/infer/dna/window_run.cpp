#include "apps/biogpu/infer/dna/window_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::app {

WindowRun::WindowRun(const WindowFlags& flags, std::string name, std::string command_line)
    : genome_(flags.regions.genome),
      run_(flags.dna, std::move(name), std::move(command_line),
           file_bytes(flags.dna.infer.inputs)) {
  input_.open(open_windows(flags, model()), unknown_code(flags.dna));
}

// Where the arrays of heads lie on the genome; of those of tiles the bins that are wanted.
void WindowRun::place_arrays(const std::vector<WindowInput::Position>& windows,
                             const models::DnaModel& model, std::size_t first_head,
                             pipeline::RecordOutputs& result) {
  const std::size_t n_arrays = result.arrays.size() / windows.size();
  for (std::size_t i = 0; i < result.arrays.size(); ++i) {
    const WindowInput::Position& window = windows[i / n_arrays];
    // A ragged head has two arrays.
    const std::size_t head = std::min(first_head + i % n_arrays, model.heads().size() - 1);
    const models::BinGrid& bins = model.head(model.heads()[head]).bins;
    std::int64_t begin = window.begin + bins.first_base;
    if (window.wanted_begin < window.wanted_end) {
      io::NamedArray& array = result.arrays[i];
      const std::int64_t first = (window.wanted_begin - begin) / bins.bin_size;
      const std::int64_t end = (window.wanted_end - begin + bins.bin_size - 1) / bins.bin_size;
      const auto width = static_cast<std::size_t>(array.shape.back());
      array.shape.front() = end - first;
      array.values = std::as_const(array.values)
                         .piece(static_cast<std::size_t>(first) * width,
                                static_cast<std::size_t>(end - first) * width);
      begin += first * bins.bin_size;
    }
    result.positions.push_back({window.contig, begin});
  }
}

void WindowRun::finish_batch(std::size_t slot, const tasks::TrackOptions& options,
                             pipeline::RecordOutputs& result) {
  // The arrays of a window lie next to each other, as many for each.
  const std::size_t n = result.arrays.size(), n_windows = input_.windows(slot).size();
  for (std::size_t i = 0; i < n; ++i) {
    io::NamedArray& array = result.arrays[i];
    array.place = [this, slot, window = i * n_windows / n] { return input_.place(slot, window); };
    run_.require_finite(array.values, array.place);
  }
  const auto& positions = input_.positions(slot);
  const models::DnaModel& model = run_.model();
  const bool has_one_place = std::none_of(
      model.heads().begin(), model.heads().end(), [&](const models::HeadChoice& choice) {
        return model.head(choice).is_ragged && model.heads().size() > 1;
      });
  if (options.request.tracks && has_one_place && !positions.empty())
    place_arrays(positions, model, options.request.heads.first, result);
}

std::vector<models::HeadRange> WindowRun::head_groups(const tasks::TrackOptions& options) {
  // One group is written while the next is computed.
  const std::uint64_t max_bytes = run_.max_held_bytes() / 2;
  const std::uint64_t bytes = tasks::window_bytes(model(), options);
  if (!options.request.tracks || !model().keeps_embeddings() || bytes <= max_bytes) return {};
  const auto groups = tasks::head_groups(model(), max_bytes);
  if (groups.size() == 1) return {};
  if (!run_.flags().resume && !options.both_strands) return groups;
  run_.log().info(fmt::format(
      "{} bytes of results of a window are held at once, as --resume and --strands both need them",
      bytes));
  return {};
}

// Batches are of one window.
void WindowRun::run_in_groups(const tasks::TrackOptions& options,
                              std::span<const models::HeadRange> groups,
                              const DnaRun::Write& write) {
  n_per_pass_ = 1;
  n_head_groups_ = groups.size();
  input_.set_batch(1);
  run_.run_holding(
      input_,
      [&](const std::shared_ptr<models::DnaModel>& model, std::size_t slot,
          pipeline::RecordOutputs& result) {
        tasks::compute_in_groups(model, input_.windows(slot), groups, result);
        for (std::size_t i = 0; i < groups.size(); ++i) {
          tasks::TrackOptions of_group = options;
          of_group.request.heads = groups[i];
          result.later[i] = [this, slot, of_group,
                             make = std::move(result.later[i])](pipeline::RecordOutputs& next) {
            make(next);
            finish_batch(slot, of_group, next);
          };
        }
      },
      write);
}

void WindowRun::run(tasks::TrackOptions options, const DnaRun::Write& write) {
  if (const auto groups = head_groups(options); !groups.empty())
    run_in_groups(options, groups, write);
  else
    run_whole(options, write);
  if (run_.n_records() == 0) run_.log().warn("the input has no window; the output is empty");
}

void WindowRun::run_whole(tasks::TrackOptions options, const DnaRun::Write& write) {
  n_per_pass_ = options.windows_per_pass = run_.windows_per_pass(options.request);
  options.n_threads = run_.threads_of_device();
  input_.set_batch(n_per_pass_);
  run_.run(
      input_,
      [&](models::DnaModel& model, std::size_t slot, pipeline::RecordOutputs& result) {
        tasks::compute_tracks(model, input_.windows(slot), options, result);
      },
      write,
      [&](std::size_t slot, pipeline::RecordOutputs& result) {
        finish_batch(slot, options, result);
      },
      static_cast<std::uint64_t>(n_per_pass_) * tasks::window_bytes(model(), options));
}

void WindowRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  const std::uint64_t n_skipped = input_.n_skipped();
  run_.finish(output_bytes,
              {{"windows_per_pass", n_per_pass_},
               {"head_groups", n_head_groups_},
               {"windows", run_.n_records()},
               {"skipped", {{"records", n_skipped}}}},
              name_outputs);
  if (n_skipped == 0) return;
  std::vector<std::string> labels;
  for (const report::InputFile& file : input_.files())
    if (file.path != genome_) labels.push_back(io::input::label_of(file.path));
  throw skipped_error(fmt::format("{}", fmt::join(labels, ", ")),
                      records_that_do_not_fit(n_skipped));
}

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
  run.run(options, [&](const pipeline::RecordOutputs& result) {
    for (const io::NamedArray& array : result.arrays) writer->add(array);
  });
  run.finish(writer->bytes(), [&] { writer->commit(); });
}

}  // namespace biogpu::app
