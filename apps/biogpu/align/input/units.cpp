#include "apps/biogpu/align/input/units.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"

namespace biogpu::app {

namespace {

// What choose_alphabet() looks at, so that it never depends on where a block ends.
constexpr std::uint64_t kFirstResidues = 1u << 16;

}  // namespace

void UnitReader::Stream::take_free_block() {
  cursor = 0;
  block.reset();
  for (const auto& candidate : pool)
    if (candidate.use_count() == 1) block = candidate;
  if (!block) block = pool.emplace_back(std::make_shared<io::SequenceBatch>());
}

bool UnitReader::Stream::refill(const io::BatchLimits& limits) {
  take_free_block();
  return reader->read_any(*block, limits);
}

void UnitReader::Stream::read_first(const io::BatchLimits& limits) {
  take_free_block();
  if (reader->file_bytes() == 0) {
    reader->read(*block, limits);  // the length of a pipe is estimated from its first block
    return;
  }
  io::SequenceBatch more;
  if (!reader->read_any(*block, limits)) return;
  while (block->n_residues() < kFirstResidues && block->size() < limits.n_records &&
         reader->read_any(more, limits))
    for (std::size_t i = 0; i < more.size(); ++i) block->append_from(more, i);
}

double UnitReader::Stream::estimated_residues(const io::BatchLimits& limits) const {
  const auto residues = static_cast<double>(reader->n_residues());
  if (reader->file_bytes() > 0 && reader->compressed_bytes() > 0) {
    const double rest =
        static_cast<double>(reader->file_bytes()) / static_cast<double>(reader->compressed_bytes());
    return residues * std::max(1.0, rest);
  }
  // A pipe that filled a block is taken for a long one.
  constexpr double kLong = 64;
  const bool filled = block->size() >= limits.n_records || block->n_residues() >= limits.n_residues;
  return filled ? kLong * residues : residues;
}

UnitReader::UnitReader(const Source& source)
    : source_(source),
      queries_(source.query_path, source.n_threads, source.chunk_bytes),
      targets_(source.target_path, source.n_threads, source.chunk_bytes) {
  if (!source_.shard.is_whole()) select_shard();
  if (source_.pairing == Pairing::by_order) {
    queries_.read_first(source_.block);
    targets_.read_first(source_.block);
    const auto n_targets = static_cast<double>(std::max<std::size_t>(1, targets_.block->size()));
    estimated_cells_ = queries_.estimated_residues(source_.block) *
                       static_cast<double>(targets_.block->n_residues()) / n_targets;
    return;
  }
  hold_targets();
  if (one_set()) own_work_ = own_work();
  estimated_cells_ = static_cast<double>(targets_.block->n_residues());
  estimated_cells_ *= one_set() ? estimated_cells_ : queries_.estimated_residues(source_.block);
}

void UnitReader::select_shard() {
  // Where the queries are the targets too, all are held, and hold_targets() takes a part of them.
  if (one_set()) return;
  const int n_threads = source_.n_threads;
  const std::uint64_t n_queries = io::count_records(source_.query_path, n_threads);
  const io::RecordRange range = io::shard_range(source_.shard, n_queries);
  if (source_.pairing == Pairing::by_order) {
    const std::uint64_t n_targets = io::count_records(source_.target_path, n_threads);
    if (n_queries != n_targets) throw_unequal_lengths(n_queries, n_targets);
    io::SequenceReader(source_.target_path, n_threads).read(first_targets_, source_.block);
    targets_.reader->select(range);
  }
  n_selected_ = range.end - range.begin;
  io::SequenceReader(source_.query_path, n_threads).read(first_queries_, source_.block);
  queries_.reader->select(range);
}

void UnitReader::throw_unequal_lengths(std::uint64_t n_queries, std::uint64_t n_targets) const {
  const bool query_is_shorter = n_queries < n_targets;
  throw Error(
      ErrorCode::bad_input,
      fmt::format("{}: ends after record {}, but {} has more; --pairs expects as many queries as "
                  "targets",
                  query_is_shorter ? source_.query_path : source_.target_path,
                  std::min(n_queries, n_targets),
                  query_is_shorter ? source_.target_path : source_.query_path));
}

void UnitReader::hold_targets() {
  // One more than allowed distinguishes a file that fits from one that does not.
  const auto one_more = [](std::uint64_t most) { return most == UINT64_MAX ? most : most + 1; };
  const std::uint64_t most = source_.max_target_residues;
  const std::uint64_t max_bytes = source_.max_target_bytes;
  Stream& stream = one_set() ? queries_ : targets_;
  stream.take_free_block();
  stream.reader->read(*stream.block, {SIZE_MAX, one_more(most), one_more(max_bytes)});
  if (stream.block->n_residues() > most)
    throw Error(ErrorCode::failed,
                fmt::format("{}: targets have more than {} residues, the share of --max-memory; "
                            "raise it, or use --pairs",
                            stream.reader->path(), most));
  if (stream.block->n_bytes() > max_bytes)
    throw Error(ErrorCode::failed,
                fmt::format("{}: targets with their names take more than {} bytes, the share of "
                            "--max-memory; raise it, or use --pairs",
                            stream.reader->path(), max_bytes));
  if (one_set()) {
    targets_.block = queries_.block;
    const io::RecordRange range = io::shard_range(source_.shard, queries_.block->size());
    queries_.cursor = range.begin;
    queries_.end = range.end;
  } else {
    queries_.read_first(source_.block);
  }
}

std::shared_ptr<const io::SequenceBatch> UnitReader::held_targets() const {
  return source_.pairing == Pairing::by_order ? nullptr : targets_.block;
}

double UnitReader::estimated_cells() const { return estimated_cells_; }

// Cells of the queries of one set with their targets.
double UnitReader::own_work() const {
  const io::SequenceBatch& set = *queries_.block;
  const bool once = source_.pairing == Pairing::self;
  auto targets = static_cast<double>(set.n_residues());
  double cells = 0;
  for (std::size_t i = 0; i < std::min(queries_.end, set.size()); ++i) {
    const auto length = static_cast<double>(set.sequence(i).size());
    if (once) targets -= length;
    if (i >= queries_.cursor) cells += length * targets;
  }
  return cells;
}

// As far as it can be told from what was read; 0 where it cannot.
double UnitReader::total_work() const {
  if (one_set()) return own_work_;
  const io::SequenceReader& reader = *queries_.reader;
  auto queries = static_cast<double>(reader.n_residues());
  if (n_selected_ > 0)
    queries *= static_cast<double>(n_selected_) / static_cast<double>(reader.n_records());
  else if (reader.file_bytes() > 0 && reader.compressed_bytes() > 0)
    queries *= std::max(1.0, static_cast<double>(reader.file_bytes()) /
                                 static_cast<double>(reader.compressed_bytes()));
  else
    return 0;
  if (source_.pairing == Pairing::by_order) return queries;
  return queries * static_cast<double>(targets_.block->n_residues());
}

bool UnitReader::next(WorkUnit& unit) {
  unit.queries.clear();
  unit.targets.clear();
  unit.pairs.clear();
  unit.continues_before = unit.continues_after = false;
  const bool filled = source_.pairing == Pairing::by_order ? next_by_order(unit)
                      : source_.pairing == Pairing::search ? next_of_search(unit)
                                                           : next_of_all(unit);
  if (!filled) return false;
  const double total = total_work();
  unit.fraction_done = total > 0 ? std::min(1.0, work_cut_ / total) : 0;
  return true;
}

bool UnitReader::next_by_order(WorkUnit& unit) {
  std::uint64_t cells = 0;
  unit_residues_ = 0;
  while (unit.pairs.size() < limits_.n_pairs && cells <= limits_.n_cells &&
         unit_residues_ < source_.block.n_residues) {
    const bool query_left = !queries_.at_end_of_block() || queries_.refill(source_.block);
    const bool target_left = !targets_.at_end_of_block() || targets_.refill(source_.block);
    if (query_left != target_left)
      throw_unequal_lengths(queries_.reader->n_records(), targets_.reader->n_records());
    if (!query_left) break;
    cells += add_pairs(unit, cells);
  }
  return !unit.pairs.empty();
}

// Adds pairs of both blocks until one ends or the unit, which has so many cells, is full: then the
// cells with those of the pair that no longer fits. Returns the cells.
std::uint64_t UnitReader::add_pairs(WorkUnit& unit, std::uint64_t cells_before) {
  const std::size_t query_begin = queries_.cursor;
  const std::size_t target_begin = targets_.cursor;
  std::uint64_t cells = 0;
  while (!queries_.at_end_of_block() && !targets_.at_end_of_block() &&
         unit.pairs.size() < limits_.n_pairs && unit_residues_ < source_.block.n_residues) {
    const std::uint64_t length = queries_.block->sequence(queries_.cursor).size();
    const std::uint64_t target_length = targets_.block->sequence(targets_.cursor).size();
    cells += length * target_length;
    if (!unit.pairs.empty() && cells_before + cells > limits_.n_cells) break;
    const auto i = static_cast<std::uint32_t>(unit.pairs.size());
    work_cut_ += static_cast<double>(length);
    unit.pairs.push_back({i, i});
    unit_residues_ += std::max(length, target_length);
    ++queries_.cursor;
    ++targets_.cursor;
  }
  unit.queries.add(queries_.block, query_begin, queries_.cursor - query_begin);
  unit.targets.add(targets_.block, target_begin, targets_.cursor - target_begin);
  return cells;
}

// The targets of the query at the cursor.
void UnitReader::list_candidates() {
  if (is_listed_) return;
  is_listed_ = true;
  listed_.clear();
  targets_.cursor = 0;
  const std::uint64_t query = queries_.block->first_record() - 1 + queries_.cursor;
  if (candidates_) {
    candidates_(queries_.block->sequence(queries_.cursor), query, listed_);
    return;
  }
  const std::size_t first =
      source_.pairing == Pairing::self ? static_cast<std::size_t>(query) + 1 : 0;
  for (std::size_t target = first; target < targets_.block->size(); ++target)
    listed_.push_back(static_cast<std::uint32_t>(target));
}

// Whether there are queries for a unit with the block of targets.
bool UnitReader::begin_unit(WorkUnit& unit) {
  if (queries_.at_end_of_block() && (one_set() || !queries_.refill(source_.block))) return false;
  unit.targets.add(targets_.block, 0, targets_.block->size());
  return true;
}

bool UnitReader::next_of_all(WorkUnit& unit) {
  if (!begin_unit(unit)) return false;
  const std::size_t begin = queries_.cursor;
  const std::size_t n_queries = add_listed(unit);
  unit.queries.add(queries_.block, begin, n_queries);
  return true;
}

// Adds pairs until the unit is full. Returns the number of queries that were looked at, those
// without a target among them.
std::size_t UnitReader::add_listed(WorkUnit& unit) {
  // targets_.cursor is the next of the targets listed for the query at queries_.cursor.
  unit.continues_before = is_listed_ && targets_.cursor > 0;
  const std::size_t begin = queries_.cursor;
  std::size_t n_queries = 0;
  std::uint64_t cells = 0;
  while (!queries_.at_end_of_block() && unit.pairs.size() < limits_.n_pairs) {
    list_candidates();
    const std::uint64_t length = queries_.block->sequence(queries_.cursor).size();
    const std::size_t query = queries_.cursor - begin;
    for (; targets_.cursor < listed_.size(); ++targets_.cursor) {
      const std::uint32_t target = listed_[targets_.cursor];
      cells += length * targets_.block->sequence(target).size();
      const bool full = unit.pairs.size() >= limits_.n_pairs || cells > limits_.n_cells;
      if (full && !unit.pairs.empty()) {
        unit.continues_after = targets_.cursor > 0;
        return n_queries;
      }
      work_cut_ += static_cast<double>(length * targets_.block->sequence(target).size());
      unit.pairs.push_back({static_cast<std::uint32_t>(query), target});
      n_queries = query + 1;
    }
    n_queries = query + 1;  // also without any pair
    ++queries_.cursor;
    is_listed_ = false;
  }
  return n_queries;
}

bool UnitReader::next_of_search(WorkUnit& unit) {
  if (!begin_unit(unit)) return false;
  const std::size_t begin = queries_.cursor;
  std::uint64_t cells = 0;
  while (!queries_.at_end_of_block() && queries_.cursor - begin < limits_.n_pairs) {
    const std::uint64_t more =
        queries_.block->sequence(queries_.cursor).size() * targets_.block->n_residues();
    cells += more;
    if (queries_.cursor > begin && cells > limits_.n_cells) break;
    work_cut_ += static_cast<double>(more);
    ++queries_.cursor;
  }
  unit.queries.add(queries_.block, begin, queries_.cursor - begin);
  return true;
}

TargetList::TargetList(const std::string& path, std::uint64_t max_bytes)
    : path_(path), max_bytes_(max_bytes) {}

void TargetList::add(const io::SequenceBatch& batch) {
  // The string, its place in the header and in the table of names seen.
  constexpr std::uint64_t kBytesOfTarget = 256;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    n_bytes_ += kBytesOfTarget + 3 * batch.name(i).size();
    if (n_bytes_ > max_bytes_)
      throw Error(ErrorCode::failed,
                  fmt::format("{}: the names of the targets, which a SAM header lists, take more "
                              "than {} bytes, the share of --max-memory; raise it, or use "
                              "--format tsv",
                              path_, max_bytes_));
    targets_.emplace_back(batch.name(i), batch.sequence(i).size());
  }
}

void TargetList::add_file(int n_threads) {
  io::SequenceReader reader(path_, n_threads);
  io::SequenceBatch batch;
  while (reader.read(batch, {.n_bytes = 64u << 20})) add(batch);
}

}  // namespace biogpu::app
