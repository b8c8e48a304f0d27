#include "lib/tasks/embed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::tasks {
namespace {

// Hands out consecutive pieces of an output.
class Cursor {
 public:
  explicit Cursor(const io::SharedArray& values) : values_(values) {}
  io::SharedArray take(std::int64_t n) {
    const std::size_t first = next_;
    next_ += static_cast<std::size_t>(n);
    return values_.piece(first, static_cast<std::size_t>(n));
  }

 private:
  const io::SharedArray& values_;
  std::size_t next_ = 0;
};

struct Piece {
  std::string output;  // of the pass
  std::string kind;    // "mean/33"
  bool per_residue;    // rows of the piece: residues, or the sequence
  std::int64_t width;  // 0: as many as residues
};

std::vector<Piece> pieces_of(const ArrayOptions& options, const models::ModelInfo& info) {
  std::vector<Piece> pieces;
  for (const int layer : options.layers) {
    const auto name = [&](const char* kind) { return fmt::format("{}/{}", kind, layer); };
    if (options.residues)
      pieces.push_back({models::hidden_of_residues(layer), name("residues"), true, info.d_model});
    if (options.mean)
      pieces.push_back({models::mean_hidden(layer), name("mean"), false, info.d_model});
    if (options.begin)
      pieces.push_back({models::begin_hidden(layer), name("cls"), false, info.d_model});
  }
  if (options.logits) pieces.push_back({models::kLogits, "logits", true, info.vocabulary.size()});
  if (options.contacts) pieces.push_back({models::kContacts, "contacts", true, 0});
  return pieces;
}

}  // namespace

std::vector<int> resolve_layers(const std::vector<int>& layers, const models::ModelInfo& info) {
  std::vector<int> resolved;
  const auto n = static_cast<int>(info.n_layers);
  for (const int layer : layers) {
    if (layer > n || layer < -n - 1)
      throw Error(ErrorCode::usage,
                  fmt::format("layer {}: the model has 0 to {} (-1 is {})", layer, n, n));
    resolved.push_back(layer < 0 ? n + 1 + layer : layer);
  }
  std::sort(resolved.begin(), resolved.end());
  const auto twice = std::adjacent_find(resolved.begin(), resolved.end());
  if (twice != resolved.end())
    throw Error(ErrorCode::usage,
                fmt::format("--layers: {} is listed twice, also as {}; expected each layer once",
                            *twice, *twice - n - 1));
  return resolved;
}

void compute_arrays(models::ProteinModel& model, const std::vector<std::string>& names,
                    const std::vector<Tokens>& sequences, const ArrayOptions& options,
                    std::int64_t budget_tokens, pipeline::RecordOutputs& result) {
  const std::vector<Piece> pieces = pieces_of(options, model.info());
  std::vector<std::string> names_of_outputs;
  for (const Piece& piece : pieces) names_of_outputs.push_back(piece.output);
  run_passes(model, sequences, names_of_outputs, budget_tokens,
             [&](std::size_t first, std::size_t n, const models::Outputs& outputs) {
               std::vector<Cursor> cursors;
               cursors.reserve(pieces.size());
               for (const Piece& piece : pieces)
                 cursors.emplace_back(outputs.at(piece.output).values);
               for (std::size_t i = first; i < first + n; ++i) {
                 const auto n_residues = static_cast<std::int64_t>(sequences[i].size()) - 2;
                 for (std::size_t p = 0; p < pieces.size(); ++p) {
                   const std::int64_t width = pieces[p].width == 0 ? n_residues : pieces[p].width;
                   io::NamedArray array;
                   array.key = names[i];
                   if (pieces.size() > 1) {
                     array.key += "/" + pieces[p].kind;
                     array.kind_bytes = 1 + pieces[p].kind.size();
                   }
                   if (pieces[p].per_residue) array.shape.push_back(n_residues);
                   array.shape.push_back(width);
                   array.values =
                       cursors[p].take(pieces[p].per_residue ? n_residues * width : width);
                   result.arrays.push_back(std::move(array));
                 }
               }
             });
}

}  // namespace biogpu::tasks
