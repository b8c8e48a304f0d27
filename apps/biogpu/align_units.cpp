#include "apps/biogpu/align_units.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"

namespace biogpu::app {

void EncodedSet::assign(const io::SequenceBatch& batch, std::size_t first, std::size_t n,
                        const align::Scoring& scoring) {
  begin.resize(n + 1);
  begin[0] = 0;
  for (std::size_t i = 0; i < n; ++i) begin[i + 1] = begin[i] + batch.sequence(first + i).size();
  residues.resize(begin[n]);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view text = batch.sequence(first + i);
    std::transform(text.begin(), text.end(),
                   residues.begin() + static_cast<std::ptrdiff_t>(begin[i]),
                   [&](char c) { return scoring.class_of[static_cast<unsigned char>(c)]; });
  }
}

bool UnitReader::Stream::refill(const io::BatchLimits& limits) {
  cursor = 0;
  block.reset();
  for (const auto& candidate : pool)
    if (candidate.use_count() == 1) block = candidate;
  if (!block) block = pool.emplace_back(std::make_shared<io::SequenceBatch>());
  return reader.read(*block, limits);
}

double UnitReader::Stream::estimated_residues(const io::BatchLimits& limits) const {
  const auto residues = static_cast<double>(reader.n_residues());
  if (reader.file_bytes() > 0 && reader.compressed_bytes() > 0) {
    const double rest =
        static_cast<double>(reader.file_bytes()) / static_cast<double>(reader.compressed_bytes());
    return residues * std::max(1.0, rest);
  }
  // A pipe that filled a block is taken for a long one.
  constexpr double kLong = 64;
  const bool filled = block->size() >= limits.n_records || block->n_residues() >= limits.n_residues;
  return filled ? kLong * residues : residues;
}

UnitReader::UnitReader(const Source& source)
    : source_(source),
      queries_(source.query_path, source.n_threads),
      targets_(source.target_path, source.n_threads) {
  queries_.refill(source_.block);
  if (source_.pairs) {
    targets_.refill(source_.block);
    const auto n_targets = static_cast<double>(std::max<std::size_t>(1, targets_.block->size()));
    estimated_cells_ = queries_.estimated_residues(source_.block) *
                       static_cast<double>(targets_.block->n_residues()) / n_targets;
    return;
  }
  // One residue more than allowed tells a file that fits from one that does not.
  const std::uint64_t most = source_.max_target_residues;
  targets_.refill({SIZE_MAX, most == UINT64_MAX ? most : most + 1});
  if (targets_.block->n_residues() > most)
    throw Error(ErrorCode::failed,
                fmt::format("{}: targets have more than {} residues, the share of --max-memory; "
                            "raise it, or use --pairs",
                            source_.target_path, most));
  estimated_cells_ = queries_.estimated_residues(source_.block) *
                     static_cast<double>(targets_.block->n_residues());
}

std::shared_ptr<const io::SequenceBatch> UnitReader::held_targets() const {
  return source_.pairs ? nullptr : targets_.block;
}

double UnitReader::estimated_cells() const { return estimated_cells_; }

bool UnitReader::next(Unit& unit) {
  unit.queries.reset();
  unit.targets.reset();
  unit.pairs.clear();
  const bool filled = source_.pairs ? next_by_order(unit) : next_of_all(unit);
  if (!filled) return false;
  const io::SequenceReader& reader = queries_.reader;
  if (reader.file_bytes() > 0)
    unit.fraction_read = std::min(1.0, static_cast<double>(reader.compressed_bytes()) /
                                           static_cast<double>(reader.file_bytes()));
  return true;
}

bool UnitReader::next_by_order(Unit& unit) {
  const bool query_left = !queries_.at_end_of_block() || queries_.refill(source_.block);
  const bool target_left = !targets_.at_end_of_block() || targets_.refill(source_.block);
  if (query_left != target_left) {
    const io::SequenceReader& ended = query_left ? targets_.reader : queries_.reader;
    const io::SequenceReader& longer = query_left ? queries_.reader : targets_.reader;
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: ends after record {}, but {} has more; --pairs expects as many "
                            "queries as targets",
                            ended.path(), ended.n_records(), longer.path()));
  }
  if (!query_left) return false;
  unit.queries = queries_.block;
  unit.targets = targets_.block;
  unit.query_begin = queries_.cursor;
  unit.target_begin = targets_.cursor;
  std::uint64_t cells = 0;
  while (!queries_.at_end_of_block() && !targets_.at_end_of_block() &&
         unit.pairs.size() < limits_.n_pairs) {
    cells += static_cast<std::uint64_t>(queries_.block->sequence(queries_.cursor).size()) *
             targets_.block->sequence(targets_.cursor).size();
    if (!unit.pairs.empty() && cells > limits_.n_cells) break;
    const auto i = static_cast<std::uint32_t>(unit.pairs.size());
    unit.pairs.push_back({i, i});
    ++queries_.cursor;
    ++targets_.cursor;
  }
  unit.n_queries = unit.n_targets = unit.pairs.size();
  return true;
}

bool UnitReader::next_of_all(Unit& unit) {
  const std::size_t n_targets = targets_.block->size();
  if (n_targets == 0) return false;
  if (queries_.at_end_of_block() && !queries_.refill(source_.block)) return false;
  unit.queries = queries_.block;
  unit.targets = targets_.block;
  unit.query_begin = queries_.cursor;
  unit.target_begin = 0;
  unit.n_targets = n_targets;
  // targets_.cursor is the next target of the query at queries_.cursor.
  std::uint64_t cells = 0;
  while (!queries_.at_end_of_block() && unit.pairs.size() < limits_.n_pairs) {
    cells += static_cast<std::uint64_t>(queries_.block->sequence(queries_.cursor).size()) *
             targets_.block->sequence(targets_.cursor).size();
    if (!unit.pairs.empty() && cells > limits_.n_cells) break;
    const std::size_t query = queries_.cursor - unit.query_begin;
    unit.pairs.push_back(
        {static_cast<std::uint32_t>(query), static_cast<std::uint32_t>(targets_.cursor)});
    unit.n_queries = query + 1;
    if (++targets_.cursor == n_targets) {
      targets_.cursor = 0;
      ++queries_.cursor;
    }
  }
  return true;
}

std::vector<std::pair<std::string, std::uint64_t>> list_targets(const io::SequenceBatch& batch) {
  std::vector<std::pair<std::string, std::uint64_t>> targets;
  targets.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i)
    targets.emplace_back(batch.name(i), batch.sequence(i).size());
  return targets;
}

std::vector<std::pair<std::string, std::uint64_t>> list_targets(const std::string& path,
                                                                int n_threads) {
  io::SequenceReader reader(path, n_threads);
  io::SequenceBatch batch;
  std::vector<std::pair<std::string, std::uint64_t>> targets;
  while (reader.read(batch))
    for (auto& target : list_targets(batch)) targets.push_back(std::move(target));
  return targets;
}

}  // namespace biogpu::app
