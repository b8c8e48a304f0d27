#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/biogpu/align/input/record_span.hpp"
#include "lib/align/align.hpp"
#include "lib/io/sequence_batch.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

// The pairs that one worker aligns at a time. Blocks are shared by the units cut from them; only
// the reader's thread copies or drops the pointers, so that it alone decides when a block is free
// again.
struct WorkUnit {
  RecordSpan queries;
  RecordSpan targets;
  std::vector<align::Pair> pairs;  // positions in the spans
  bool continues_before = false;   // pairs of the first query are in the unit before too
  bool continues_after = false;    // and of the last query in the next
  double fraction_done = 0;        // of all cells, up to the end of this unit; 0 when unknown
};

struct UnitLimits {
  std::size_t n_pairs = 4096;
  std::uint64_t n_cells = 1000000000;
};

// How queries meet targets.
enum class Pairing {
  by_order,  // first with first, second with second
  all,       // every query with every target, query-major
  self,      // every pair of sequences of one set once: i with j, i < j
  search,    // as `all`, but units name whole queries and hold no pairs: the search finds them
};

// Targets that a query is aligned with, in ascending order, in place of all; query counts from 0.
using Candidates = std::function<void(std::string_view text, std::uint64_t query,
                                      std::vector<std::uint32_t>& targets)>;

// Cuts sequence files into units. But for Pairing::by_order the targets are held in memory. Units
// follow the order of the output. Errors: those of io::SequenceReader; Error{bad_input} when files
// paired by order differ in length; Error{failed} when targets held in memory exceed the bound.
class UnitReader {
 public:
  struct Source {
    std::string query_path;
    std::string target_path;  // empty: the queries themselves, which are then held in memory
    Pairing pairing = Pairing::all;
    int n_threads = 1;
    io::BatchLimits block;
    std::size_t chunk_bytes = io::SequenceReader::kChunkBytes;
    std::uint64_t max_target_residues = UINT64_MAX;
    std::uint64_t max_target_bytes = UINT64_MAX;  // io::SequenceBatch::n_bytes() of held targets
    io::Shard shard;  // of the queries, with their targets where they are paired by order
  };

  // Opens both files and reads the first blocks. Blocks are chunks of the readers where those cut
  // the files into chunks, else `block` bounds them.
  explicit UnitReader(const Source& source);

  void set_limits(const UnitLimits& limits) { limits_ = limits; }
  // Not with Pairing::by_order or ::search.
  void set_candidates(Candidates candidates) { candidates_ = std::move(candidates); }
  bool next(WorkUnit& unit);

  // Of the file, for every shard.
  const io::SequenceBatch& first_queries() const {
    return first_queries_.empty() ? *queries_.block : first_queries_;
  }
  // The first block of targets, for every shard.
  const io::SequenceBatch& first_targets() const {
    return first_targets_.empty() ? *targets_.block : first_targets_;
  }
  // All targets where they are held in memory, else an empty pointer.
  std::shared_ptr<const io::SequenceBatch> held_targets() const;
  // Query residues times target residues over all pairs, from the sizes of the files.
  double estimated_cells() const;
  bool one_set() const { return source_.target_path.empty(); }
  const io::SequenceReader& query_reader() const { return *queries_.reader; }
  const io::SequenceReader& target_reader() const {
    return one_set() ? *queries_.reader : *targets_.reader;
  }

 private:
  // One file, the block being cut and how far it is cut.
  struct Stream {
    Stream(const std::string& path, int n_threads, std::size_t chunk_bytes) {
      if (!path.empty()) reader.emplace(path, n_threads, false, chunk_bytes);
    }
    bool refill(const io::BatchLimits& limits);  // false at the end of the file
    void read_first(const io::BatchLimits& limits);
    void take_free_block();
    bool at_end_of_block() const { return cursor >= std::min(end, block->size()); }
    double estimated_residues(const io::BatchLimits& limits) const;

    std::optional<io::SequenceReader> reader;
    std::vector<std::shared_ptr<io::SequenceBatch>> pool;
    std::shared_ptr<io::SequenceBatch> block;
    std::size_t cursor = 0;
    std::size_t end = SIZE_MAX;  // of what is cut from the block, where that is before its end
  };

  bool next_by_order(WorkUnit& unit);
  std::uint64_t add_pairs(WorkUnit& unit, std::uint64_t cells_before);
  bool next_of_all(WorkUnit& unit);
  std::size_t add_listed(WorkUnit& unit);
  bool next_of_search(WorkUnit& unit);
  bool begin_unit(WorkUnit& unit);
  void select_shard();
  [[noreturn]] void throw_unequal_lengths(std::uint64_t n_queries, std::uint64_t n_targets) const;
  void hold_targets();
  void list_candidates();
  double own_work() const;
  double total_work() const;

  const Source source_;
  UnitLimits limits_;
  Candidates candidates_;
  std::vector<std::uint32_t> listed_;  // targets of the query at the cursor
  bool is_listed_ = false;
  Stream queries_;
  Stream targets_;
  io::SequenceBatch first_queries_;  // empty: those of the first block
  io::SequenceBatch first_targets_;  // the same
  double estimated_cells_ = 0;
  std::uint64_t unit_residues_ = 0;  // of the unit being filled, of the longer side: its memory
  // For WorkUnit::fraction_done: cells, or where pairs follow the order of two files query
  // residues.
  double work_cut_ = 0;           // of the units so far
  double own_work_ = 0;           // of one set, all of it
  std::uint64_t n_selected_ = 0;  // queries of the shard; 0: the whole file
};

// Name and length of every target, for a SAM header. Throws Error{failed} where they and the header
// would take more than max_bytes of memory.
class TargetList {
 public:
  explicit TargetList(const std::string& path, std::uint64_t max_bytes = UINT64_MAX);

  void add(const io::SequenceBatch& batch);
  void add_file(int n_threads);  // all of path
  std::vector<std::pair<std::string, std::uint64_t>> take() { return std::move(targets_); }

 private:
  const std::string path_;  // also for messages
  const std::uint64_t max_bytes_;
  std::uint64_t n_bytes_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> targets_;
};

}  // namespace biogpu::app
