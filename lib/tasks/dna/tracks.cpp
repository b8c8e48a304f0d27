#include "lib/tasks/dna/tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "lib/core/parallel_for.hpp"
#include "lib/models/base/splice_sites.hpp"
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

// An output that a window gets.
struct WindowOutput {
  std::string name;
  std::string suffix;                     // the end of its key
  std::vector<std::size_t> other_strand;  // see HeadChoice
  std::int64_t reverse_shift = 0;         // see BinGrid
  std::vector<std::int64_t> row_shape;    // see TrackHead
  bool is_ragged = false;                 // the same
};

std::vector<WindowOutput> outputs_of(const DnaModel& model, const DnaModel::Request& request) {
  std::vector<WindowOutput> outputs;
  for (std::size_t i = 0; i < model.heads().size(); ++i) {
    if (!request.wants_tracks(i)) continue;
    const models::HeadChoice& choice = model.heads()[i];
    const models::TrackHead& head = model.head(choice);
    // Where a head has two arrays, none can be the record's own key.
    const std::string suffix =
        model.heads().size() > 1 || head.is_ragged ? "/" + choice.name : std::string();
    outputs.push_back({"tracks." + choice.name, suffix, choice.other_strand,
                       head.bins.reverse_shift, head.row_shape, head.is_ragged});
    if (head.is_ragged)
      outputs.push_back(
          {"positions." + choice.name, suffix + "_positions", {}, 0, {}, head.is_ragged});
  }
  if (request.embedding)
    for (const models::Embedding& embedding : model.info().embeddings)
      outputs.push_back({embedding.output(),
                         embedding.name.empty() ? std::string() : "/" + embedding.name,
                         {},
                         0,
                         embedding.row_shape});
  return outputs;
}

// Arrays of the windows of a pass, which have these keys.
void add_arrays(const std::vector<WindowOutput>& outputs, std::span<const std::string> keys,
                const models::Outputs& pass, pipeline::RecordOutputs& result) {
  const std::size_t n = keys.size();
  for (std::size_t i = 0; i < n; ++i)
    for (const WindowOutput& output : outputs) {
      if (output.is_ragged) {
        const models::Outputs::Array& own = pass.at(fmt::format("{}.{}", output.name, i));
        result.arrays.push_back(
            {keys[i] + output.suffix, own.shape, own.values, output.suffix.size()});
        continue;
      }
      const models::Outputs::Array& array = pass.at(output.name);
      const std::size_t size = array.values.size() / n;
      std::vector<std::int64_t> shape = array.shape;
      shape[0] /= static_cast<std::int64_t>(n);
      if (!output.row_shape.empty()) {
        shape = output.row_shape;
        shape.push_back(array.shape.back());
      }
      result.arrays.push_back({keys[i] + output.suffix, shape, array.values.piece(i * size, size),
                               output.suffix.size()});
    }
}

// Makes rows the mean of them and of those of the other strand, which are in the opposite order and
// shifted by so many rows.
// Threads divide the rows.
void average_strands(io::NamedArray& array, const io::SharedArray& reverse,
                     std::vector<std::size_t> other_strand, std::size_t shift, int n_threads) {
  const auto width = static_cast<std::size_t>(array.shape.back());
  const std::size_t n_rows = array.values.size() / width;
  if (other_strand.empty()) {
    other_strand.resize(width);
    std::iota(other_strand.begin(), other_strand.end(), std::size_t{0});
  }
  const std::size_t n_out = other_strand.size();
  io::SharedArray mean = io::SharedArray::unset(n_rows * n_out);
  float* const first = mean.data();
  const float* const first_forward = std::as_const(array.values).data();
  constexpr std::size_t kRowsOfJob = 32;
  parallel_for_jobs(static_cast<std::size_t>(std::max(1, n_threads)),
                    count_chunks(n_rows, kRowsOfJob), [&](std::size_t, std::size_t job) {
                      const std::size_t end = std::min(n_rows, (job + 1) * kRowsOfJob);
                      for (std::size_t row = job * kRowsOfJob; row < end; ++row) {
                        const float* const forward = first_forward + row * width;
                        const std::size_t at = n_rows - 1 - row + shift;
                        const float* const other = reverse.data() + at * width;
                        float* const to = first + row * n_out;
                        for (std::size_t i = 0; i < n_out; ++i)
                          to[i] = 0.5f * (forward[i] + (at < n_rows ? other[other_strand[i]] : 0));
                      }
                    });
  array.shape.back() = static_cast<std::int64_t>(n_out);
  array.values = std::move(mean);
}

}  // namespace

std::uint64_t window_bytes(const DnaModel& model, const TrackOptions& options) {
  std::int64_t n = 0;
  const auto add = [&](std::int64_t n_rows, std::int64_t width) { n += n_rows * width; };
  for (std::size_t i = 0; i < model.heads().size(); ++i) {
    const models::HeadChoice& choice = model.heads()[i];
    const models::TrackHead& head = model.head(choice);
    const std::int64_t n_tracks = choice.tracks.empty() ? head.n_tracks : std::ssize(choice.tracks);
    if (!options.request.wants_tracks(i)) continue;
    if (head.is_ragged) {
      add(head.max_rows * head.max_rows, n_tracks);
      add(head.max_rows, models::kSpliceSiteClasses);
    } else {
      add(head.bins.n_bins, n_tracks);
    }
  }
  if (options.request.embedding)
    for (const models::Embedding& embedding : model.info().embeddings)
      add(embedding.bins.n_bins, embedding.width);
  // With both strands those of the other one and their means are there besides.
  const std::uint64_t n_times = options.both_strands ? 3 : 1;
  return n_times * static_cast<std::uint64_t>(n) * sizeof(float);
}

void compute_tracks(DnaModel& model, const DnaWindows& windows, const TrackOptions& options,
                    pipeline::RecordOutputs& result) {
  if (options.both_strands) model.require_strands();
  const std::vector<WindowOutput> outputs = outputs_of(model, options.request);
  const std::size_t first_array = result.arrays.size();
  run_windows(model, windows.letters, options,
              [&](std::size_t first, std::size_t n, const models::Outputs& pass) {
                add_arrays(outputs, std::span(windows.keys).subspan(first, n), pass, result);
              });
  result.n_records += windows.size();
  result.n_residues += windows.letters.size();
  if (!options.both_strands) return;
  std::vector<LetterCode> reverse = windows.letters;
  const auto length = static_cast<std::size_t>(model.info().window);
  for (std::size_t i = 0; i < windows.size(); ++i)
    genome::reverse_complement(std::span(reverse).subspan(i * length, length));
  run_windows(
      model, reverse, options, [&](std::size_t first, std::size_t n, const models::Outputs& pass) {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t k = 0; k < outputs.size(); ++k) {
            const io::SharedArray& values = pass.at(outputs[k].name).values;
            const std::size_t size = values.size() / n;
            average_strands(result.arrays[first_array + (first + i) * outputs.size() + k],
                            values.piece(i * size, size), outputs[k].other_strand,
                            static_cast<std::size_t>(outputs[k].reverse_shift), options.n_threads);
          }
      });
}

std::vector<models::HeadRange> head_groups(const DnaModel& model, std::uint64_t max_bytes) {
  std::vector<models::HeadRange> groups;
  std::uint64_t bytes = 0;  // of the last group
  for (std::size_t i = 0; i < model.heads().size(); ++i) {
    TrackOptions of_head;
    of_head.request.heads = {i, i + 1};
    const std::uint64_t more = window_bytes(model, of_head);
    if (groups.empty() || bytes + more > max_bytes) {
      groups.push_back({i, i});
      bytes = 0;
    }
    groups.back().end = i + 1;
    bytes += more;
  }
  return groups;
}

void compute_in_groups(const std::shared_ptr<DnaModel>& model, const DnaWindows& window,
                       std::span<const models::HeadRange> groups, pipeline::RecordOutputs& result) {
  struct Kept {
    std::shared_ptr<DnaModel> model;
    models::KeptStore::Slot embeddings;  // goes before the model
    std::vector<std::string> keys;
  };
  const auto kept =
      std::make_shared<const Kept>(Kept{model, model->run_embeddings(window.letters), window.keys});
  for (const models::HeadRange& heads : groups)
    result.later.emplace_back([kept, heads](pipeline::RecordOutputs& next) {
      DnaModel::Request request;
      request.heads = heads;
      add_arrays(outputs_of(*kept->model, request), kept->keys,
                 kept->model->run_kept(kept->embeddings, heads), next);
    });
  result.n_records += window.size();
  result.n_residues += window.letters.size();
}

}  // namespace biogpu::tasks
