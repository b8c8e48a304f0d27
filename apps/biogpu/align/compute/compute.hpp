#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "apps/biogpu/align/compute/backend.hpp"
#include "apps/biogpu/align/format/rows.hpp"
#include "apps/biogpu/align/input/encode.hpp"
#include "apps/biogpu/align/input/units.hpp"
#include "lib/align/border.hpp"
#include "lib/core/object_pool.hpp"

namespace biogpu::app {

enum class Strand { forward, reverse, both };

// Which alignments become rows.
struct Selection {
  Strand strand = Strand::forward;  // both: the better one, forward where they are equal
  bool search = false;              // the best targets of each query, from Pairing::search
  std::uint32_t top = 0;            // at most so many per query; 0: no bound. Needs search
  bool not_itself = false;          // one set: a sequence is no target of itself. Needs search
  std::optional<std::int32_t> min_score;
  std::optional<double> max_evalue;  // needs RowStyle::parameters

  bool by_score() const { return strand == Strand::both || min_score || max_evalue; }
};

// One unit with all that its workers need, reused for a later one.
struct WorkItem {
  WorkUnit unit;
  EncodedQueries queries;
  EncodedSet targets;  // where none are held
  Rows rows;
  std::uint64_t n_pairs = 0;  // of a query and a target
  std::uint64_t n_cells = 0;  // of them, on all strands
};

// Seconds summed over the workers.
struct ComputeTimes {
  double encode_s = 0;
  double select_s = 0;  // the search, or scores of pairs that may be dropped
  double align_s = 0;
  double format_s = 0;
};

// Turns units into rows. Called by several threads, each with its own item.
class AlignCompute {
 public:
  // held: the targets where they are held in memory, else nullptr. reader: of the units. n_threads:
  // threads of one call on a unit that cannot be shared by cutting it, such as one huge pair or a
  // search.
  AlignCompute(AlignBackend& backend, const RowStyle& style, const Selection& selection,
               const EncodedSet* held, const UnitReader& reader, int n_threads);

  void compute(WorkItem& item);
  ComputeTimes times() const;

 private:
  struct SelectedPairs;
  void require_int32(const WorkItem& item) const;
  align::SequenceSet targets(const WorkItem& item) const;
  int threads_for(std::size_t n_pairs, std::uint64_t n_cells) const;
  void encode(WorkItem& item) const;
  SelectedPairs select(WorkItem& item);
  SelectedPairs select_by_search(WorkItem& item);
  SelectedPairs select_by_score(WorkItem& item);
  std::int32_t min_score(const WorkItem& item, std::uint32_t sequence, std::uint32_t target) const;
  align::Alignments align_selected(WorkItem& item, SelectedPairs& selected,
                                   align::Alignments spare);

  AlignBackend& backend_;
  const RowStyle& style_;
  const Selection selection_;
  const align::ClassEncoder encoder_;
  const EncodedSet* held_;
  const UnitReader& reader_;  // for the names of the files
  const align::Int32Check int32_check_;
  const std::uint64_t longest_held_;
  const int n_threads_;
  mutable std::mutex mutex_;  // guards what follows
  ComputeTimes times_;
  ObjectPool<align::Alignments> alignments_;  // their memory is used again
};

// What a search must return so that the rows of `selection` are among it.
align::SearchOptions search_options(const Selection& selection, const align::Options& options);

}  // namespace biogpu::app
