#include "lib/qc/run/ordered_counts.hpp"

namespace biogpu::qc {

Duplicates::Duplicates(const Options& options)
    : options_(options), hash_(options), keys_(hash_.n_bits()) {
  for (int t = 0; t < hash_.n_tables(); ++t) sets_.emplace_back(hash_.n_bits());
}

void Duplicates::make_keys(Batch& batch) const {
  batch.keys.clear();
  const auto view = [](FastqChunk& chunk, std::size_t i) {
    const RecordPlace& place = chunk.records[i];
    return std::string_view(chunk.sequence(place), place.length);
  };
  for (std::size_t i = 0; i < batch.n_records; ++i) {
    std::string_view first = view(batch.chunk1, options_.interleaved ? 2 * i : i);
    std::string_view second;
    if (options_.interleaved)
      second = view(batch.chunk1, 2 * i + 1);
    else if (options_.paired())
      second = view(batch.chunk2, i);
    for (int t = 0; t < hash_.n_tables(); ++t) batch.keys.push_back(hash_.key(t, first, second));
  }
}

void Duplicates::look_up(Batch& batch) {
  batch.is_duplicate.resize(batch.n_records);
  const std::uint64_t* key = batch.keys.data();
  for (std::size_t i = 0; i < batch.n_records; ++i) {
    bool seen = true;
    for (KeySet& set : sets_) seen = !set.insert(*key++) && seen;
    batch.is_duplicate[i] = seen;
    n_duplicates_ += seen;
  }
  n_evaluated_ += batch.n_records;
  if (!options_.part_out.empty()) keys_.append(batch.keys);
}

void Duplicates::report(Summary& summary) const {
  summary.n_evaluated = n_evaluated_;
  summary.n_duplicates = n_duplicates_;
}

BoundedAdapters::BoundedAdapters(const Options& options) : keeps_all_(!options.part_out.empty()) {
  for (auto& workers : counts_) workers.resize(static_cast<std::size_t>(options.virtual_workers));
}

void BoundedAdapters::count(const Batch& batch) {
  std::string_view text = batch.cut_text.view();
  for (const Batch::Cut& cut : batch.cuts) {
    TextCounts& counts = counts_[cut.mate][cut.pack % counts_[cut.mate].size()];
    if (keeps_all_)
      counts.add(text.substr(0, cut.length), 1);
    else
      counts.add_bounded(text.substr(0, cut.length), 1);
    text.remove_prefix(cut.length);
  }
}

void BoundedAdapters::report(Summary& summary) const {
  for (std::size_t m = 0; m < 2; ++m) summary.adapters[m] = bounded_texts({&counts_[m]});
}

void BoundedAdapters::share(PartialReport& partial) { partial.adapters = std::move(counts_); }

Overrepresentation::Overrepresentation(const Options& options)
    : options_(options),
      all_turns_(!options.part_out.empty()),
      counters_{OverrepresentedCounter(options.overrepresented1, options.cycles1),
                OverrepresentedCounter(options.overrepresented2, options.cycles2)} {
  const auto n_workers = static_cast<std::size_t>(options.virtual_workers);
  for (std::size_t m = 0; m < 2; ++m) {
    const std::size_t n = candidates(m).size();
    for (Counts* counts : {&before_[m], &after_[m]}) {
      counts->n_reads.resize(n_workers);
      counts->found.assign(all_turns_ ? n_workers * n_turns() : 1, std::vector<std::uint64_t>(n));
    }
  }
}

void Overrepresentation::count(Batch& batch) {
  const std::size_t n_mates = options_.paired() ? 2 : 1;
  for (std::size_t i = 0; i < batch.n_records; ++i)
    for (std::size_t m = 0; m < n_mates; ++m)
      add(before_[m], m, (batch.first_record + i) / kPackRecords, original(batch, i, m));
  for (std::size_t m = 0; m < n_mates; ++m)
    for (const Batch::Kept& kept : batch.kept[m]) add(after_[m], m, kept.pack, kept.sequence);
}

void Overrepresentation::report(Summary& summary) const {
  for (std::size_t m = 0; m < 2; ++m) {
    summary.overrepresented_before[m] = total(before_[m], m);
    summary.overrepresented_after[m] = total(after_[m], m);
  }
}

void Overrepresentation::share(PartialReport& partial) {
  partial.before = std::move(before_);
  partial.after = std::move(after_);
}

// What the first turns of all workers found.
SequenceCounts Overrepresentation::total(const Counts& counts, std::size_t m) const {
  SequenceCounts total;
  for (std::size_t c = 0; c < candidates(m).size(); ++c) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < counts.found.size(); i += n_turns()) n += counts.found[i][c];
    total.emplace_back(candidates(m)[c], n);
  }
  return total;
}

const std::vector<std::string>& Overrepresentation::candidates(std::size_t m) const {
  return m == 0 ? options_.overrepresented1 : options_.overrepresented2;
}

std::string_view Overrepresentation::original(Batch& batch, std::size_t i, std::size_t m) const {
  FastqChunk& chunk = m == 0 || options_.interleaved ? batch.chunk1 : batch.chunk2;
  const RecordPlace& place = chunk.records[options_.interleaved ? 2 * i + m : i];
  return {chunk.sequence(place), place.length};
}

void Overrepresentation::add(Counts& counts, std::size_t m, std::uint64_t pack,
                             std::string_view read) {
  const std::size_t worker = pack % counts.n_reads.size();
  const std::size_t turn = counts.n_reads[worker]++ % n_turns();
  if (all_turns_)
    counters_[m].count(read, counts.found[worker * n_turns() + turn]);
  else if (turn == 0)
    counters_[m].count(read, counts.found[0]);
}

}  // namespace biogpu::qc
