#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/qc/merge/part.hpp"
#include "lib/qc/stats/duplicates.hpp"

namespace biogpu::qc {
namespace {

// In the order of the input: which of two duplicates is the second depends on it.
void merge_duplicates(const std::vector<Part>& parts, Summary& summary) {
  const DuplicateHash hash(parts.front().options);
  std::vector<KeySet> sets;
  sets.reserve(static_cast<std::size_t>(hash.n_tables()));
  for (int t = 0; t < hash.n_tables(); ++t) sets.emplace_back(hash.n_bits());
  for (const Part& part : parts)
    for (std::size_t k = 0; k < part.partial.keys.size();) {
      bool seen = true;
      for (KeySet& set : sets) seen = !set.insert(part.partial.keys[k++]) && seen;
      summary.n_duplicates += seen;
      ++summary.n_evaluated;
    }
}

// The counts of the reads that are sampled once those before each part are counted too.
std::vector<std::uint64_t> sampled(const std::vector<const TurnCounts*>& parts,
                                   std::uint64_t sampling, std::size_t n_candidates) {
  std::vector<std::uint64_t> found(n_candidates);
  std::vector<std::uint64_t> n_before;
  for (const TurnCounts* part : parts) {
    n_before.resize(part->n_reads.size());
    for (std::size_t w = 0; w < part->n_reads.size(); ++w) {
      const std::uint64_t turn = (sampling - n_before[w] % sampling) % sampling;
      const std::vector<std::uint64_t>& counts =
          part->found[w * static_cast<std::size_t>(sampling) + turn];
      for (std::size_t c = 0; c < n_candidates; ++c) found[c] += counts[c];
      n_before[w] += part->n_reads[w];
    }
  }
  return found;
}

void merge_adapters(const std::vector<Part>& parts, Summary& summary) {
  for (std::size_t m = 0; m < 2; ++m) {
    std::vector<const std::vector<TextCounts>*> of_workers;
    std::vector<const TextCounts*> all;
    for (const Part& part : parts) {
      of_workers.push_back(&part.partial.adapters[m]);
      all.push_back(part.partial.adapters[m].data());
    }
    summary.adapters[m] = parts.front().options.follows_fastp_1()
                              ? bounded_texts(of_workers)
                              : common_texts(all, kShareReported);
  }
}

void merge_overrepresented(const std::vector<Part>& parts, Summary& summary) {
  const Options& options = parts.front().options;
  const auto sampling = static_cast<std::uint64_t>(options.overrepresentation_sampling);
  for (std::size_t m = 0; m < 2; ++m) {
    const std::vector<std::string>& candidates =
        m == 0 ? options.overrepresented1 : options.overrepresented2;
    const auto add = [&](SequenceCounts& counts, auto turns) {
      std::vector<const TurnCounts*> of_parts;
      of_parts.reserve(parts.size());
      for (const Part& part : parts) of_parts.push_back(&turns(part.partial)[m]);
      const auto found = sampled(of_parts, sampling, candidates.size());
      counts.reserve(candidates.size());
      for (std::size_t c = 0; c < candidates.size(); ++c)
        counts.emplace_back(candidates[c], found[c]);
    };
    add(
        summary.overrepresented_before[m],
        [](const PartialReport& s) -> const auto& { return s.before; });
    add(
        summary.overrepresented_after[m],
        [](const PartialReport& s) -> const auto& { return s.after; });
  }
}

// Whole, each once, and of one run.
void check_parts(const std::vector<Part>& parts, const std::vector<std::string>& paths) {
  const Part& first = parts.front();
  const auto options_of = [](const Part& part) {
    Options options = part.options;
    options.shard = {};
    options.in2 = options.in2.empty() ? "" : "second mates";
    return encode_part({options, part.n_records, {}, {}, {}});
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const io::Shard& shard = parts[i].options.shard;
    if (shard.count != parts.size() || shard.index != i + 1)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: is part {} of {}, and there are {} files; expected every part "
                              "once",
                              paths[i], shard.index, shard.count, parts.size()));
    if (options_of(parts[i]) != options_of(first))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: was not made by the command, or from the reads, of {}", paths[i],
                              paths.front()));
  }
}

}  // namespace

Merged merge_parts(std::vector<Part> parts, const std::vector<std::string>& paths) {
  std::vector<std::size_t> order(parts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parts[a].options.shard.index < parts[b].options.shard.index;
  });
  std::vector<Part> sorted;
  std::vector<std::string> sorted_paths;
  sorted.reserve(order.size());
  sorted_paths.reserve(order.size());
  for (const std::size_t i : order) {
    sorted.push_back(std::move(parts[i]));
    sorted_paths.push_back(paths[i]);
  }
  check_parts(sorted, sorted_paths);
  Merged merged;
  merged.options = sorted.front().options;
  merged.command = sorted.front().command;
  for (const Part& part : sorted) {
    merged.summary.counts.add(part.summary.counts);
    merged.summary.flow.add(part.summary.flow);
    for (std::size_t m = 0; m < 2; ++m) {
      merged.summary.before[m].add(part.summary.before[m]);
      merged.summary.after[m].add(part.summary.after[m]);
    }
  }
  merge_adapters(sorted, merged.summary);
  if (merged.options.duplicates) merge_duplicates(sorted, merged.summary);
  if (merged.options.overrepresentation) merge_overrepresented(sorted, merged.summary);
  return merged;
}

}  // namespace biogpu::qc
