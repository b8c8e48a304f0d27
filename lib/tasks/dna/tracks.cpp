#include "lib/tasks/dna/tracks.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "lib/tasks/dna/window_parts.hpp"

namespace biogpu::tasks {
namespace {

using genome::LetterCode;
using models::DnaModel;
using ConsumeWindows =
    std::function<void(std::size_t first, std::size_t n, const models::Outputs&)>;

void run_windows(DnaModel& model, std::span<const LetterCode> letters, const TrackOptions& options,
                 const ConsumeWindows& consume) {
  const auto length = static_cast<std::size_t>(model.info().window);
  run_in_parts(letters.size() / length, static_cast<std::size_t>(options.windows_per_pass),
               [&](std::size_t first, std::size_t n) {
                 consume(first, n,
                         model.run(letters.subspan(first * length, n * length), options.request));
               });
}

// The names of outputs that a window gets, with the ends of their keys.
std::vector<std::pair<std::string, std::string>> outputs_of(const DnaModel& model,
                                                            const DnaModel::Request& request) {
  std::vector<std::pair<std::string, std::string>> outputs;
  if (request.tracks)
    for (const models::HeadChoice& head : model.heads())
      outputs.emplace_back("tracks." + head.name,
                           model.heads().size() > 1 ? "/" + head.name : std::string());
  if (request.embedding) outputs.emplace_back("embedding", "");
  return outputs;
}

// The mean of rows and of those of the other strand, which are in the opposite order.
io::SharedArray mean_of_strands(const io::SharedArray& forward, const io::SharedArray& reverse,
                                std::size_t n_rows) {
  const std::size_t width = forward.size() / n_rows;
  io::SharedArray mean = io::SharedArray::unset(forward.size());
  float* const to = mean.data();
  for (std::size_t row = 0; row < n_rows; ++row)
    for (std::size_t i = 0; i < width; ++i)
      to[row * width + i] =
          0.5f * (forward[row * width + i] + reverse[(n_rows - 1 - row) * width + i]);
  return mean;
}

}  // namespace

void compute_tracks(DnaModel& model, const DnaWindows& windows, const TrackOptions& options,
                    pipeline::RecordOutputs& result) {
  const auto n_bins = static_cast<std::size_t>(model.info().n_bins);
  const auto outputs = outputs_of(model, options.request);
  const std::size_t first_array = result.arrays.size();
  run_windows(model, windows.letters, options,
              [&](std::size_t first, std::size_t n, const models::Outputs& pass) {
                for (std::size_t i = 0; i < n; ++i)
                  for (const auto& [name, suffix] : outputs) {
                    const models::Outputs::Array& array = pass.at(name);
                    const std::size_t size = array.values.size() / n;
                    result.arrays.push_back({windows.keys[first + i] + suffix,
                                             {model.info().n_bins, array.shape[1]},
                                             array.values.piece(i * size, size),
                                             suffix.size()});
                  }
              });
  result.n_records += windows.size();
  result.n_residues += windows.letters.size();
  if (!options.both_strands) return;
  std::vector<LetterCode> reverse = windows.letters;
  const auto length = static_cast<std::size_t>(model.info().window);
  for (std::size_t i = 0; i < windows.size(); ++i)
    genome::reverse_complement(std::span(reverse).subspan(i * length, length));
  run_windows(model, reverse, options,
              [&](std::size_t first, std::size_t n, const models::Outputs& pass) {
                for (std::size_t i = 0; i < n; ++i)
                  for (std::size_t k = 0; k < outputs.size(); ++k) {
                    const io::SharedArray& values = pass.at(outputs[k].first).values;
                    const std::size_t size = values.size() / n;
                    io::SharedArray& forward =
                        result.arrays[first_array + (first + i) * outputs.size() + k].values;
                    forward = mean_of_strands(forward, values.piece(i * size, size), n_bins);
                  }
              });
}

}  // namespace biogpu::tasks
