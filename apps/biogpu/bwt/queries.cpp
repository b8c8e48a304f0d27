#include "apps/biogpu/bwt/queries.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

bool wants(Strands strands, bool reverse) {
  return strands == Strands::both || (strands == Strands::reverse) == reverse;
}

void pack_queries(QueryItem& item) {
  item.patterns.clear();
  item.answers.assign(item.batch.size(), {});
  item.hits.clear();
  for (std::size_t i = 0; i < item.batch.size(); ++i) item.patterns.append(item.batch.sequence(i));
}

// The places of one query on both strands, in the order of the genome, cut to what was asked for.
void keep_hits(const QueryFlags& flags, std::vector<QueryHit>& hits, QueryAnswer& answer,
               std::vector<QueryHit>& kept) {
  if (flags.hits == HitsWanted::best && !hits.empty()) {
    std::uint32_t best = ~std::uint32_t{0};
    for (const QueryHit& hit : hits) best = std::min(best, hit.n_mismatches);
    std::erase_if(hits, [&](const QueryHit& hit) { return hit.n_mismatches != best; });
  }
  std::sort(hits.begin(), hits.end(), [](const QueryHit& a, const QueryHit& b) {
    return std::tuple(a.contig, a.begin, a.reverse) < std::tuple(b.contig, b.begin, b.reverse);
  });
  for (const QueryHit& hit : hits) ++(hit.reverse ? answer.n_reverse : answer.n_forward);
  if (flags.max_hits != 0 && hits.size() > flags.max_hits) {
    hits.resize(flags.max_hits);
    answer.cut = true;
  }
  answer.first_hit = kept.size();
  answer.n_hits = hits.size();
  kept.insert(kept.end(), hits.begin(), hits.end());
}

}  // namespace

void take_index_and_queries(const std::vector<std::string>& arguments, const char* command,
                            std::string& prefix, std::string& queries) {
  const std::size_t n_wanted = prefix.empty() ? 2 : 1;
  if (arguments.size() != n_wanted)
    throw Error(ErrorCode::usage,
                fmt::format("expected an index and queries: 'PREFIX QUERIES' or '-x PREFIX "
                            "QUERIES'; see 'biogpu bwt {} --help'",
                            command));
  if (prefix.empty()) prefix = arguments.front();
  queries = arguments.back();
}

std::string index_file(const std::string& path) {
  constexpr const char* kSuffix = ".bgfm";
  if (path.ends_with(kSuffix) && ::access(path.c_str(), F_OK) == 0) return path;
  const std::string file = path + kSuffix;
  const auto is_there = [&](const char* suffix) {
    return ::access((path + suffix).c_str(), F_OK) == 0;
  };
  if (is_there(kSuffix)) return file;
  if (is_there(".bwt") || is_there(".64.bwt"))
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is not there, only an index of bwa; make it with 'biogpu bwt "
                            "index', without --format bwa",
                            file));
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: no index of that name; make it with 'biogpu bwt index'", file));
}

void count_queries(const bwt::FmIndex& index, bwt::ExactSearch& search, const QueryFlags& flags,
                   QueryItem& item) {
  if (flags.k > 0) {
    locate_queries(index, search, flags, item);
    return;
  }
  pack_queries(item);
  std::vector<bwt::Probe> probes;
  for (std::uint32_t p = 0; p < item.patterns.size(); ++p)
    if (wants(flags.strands, p % 2 != 0)) probes.push_back({p, 0, item.patterns[p].length});
  std::vector<std::uint64_t> counts(probes.size());
  search.count(item.patterns, probes, counts);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    QueryAnswer& answer = item.answers[probes[i].pattern / 2];
    (probes[i].pattern % 2 == 0 ? answer.n_forward : answer.n_reverse) = counts[i];
  }
}

void locate_queries(const bwt::FmIndex& index, bwt::ExactSearch& search, const QueryFlags& flags,
                    QueryItem& item) {
  pack_queries(item);
  std::vector<bwt::Hit> found;
  bwt::locate_patterns(index, search, item.patterns, 0, item.patterns.size(), flags.k, found);
  std::vector<QueryHit> hits;
  std::size_t next = 0;
  for (std::size_t query = 0; query < item.batch.size(); ++query) {
    hits.clear();
    for (; next < found.size() && found[next].pattern / 2 == query; ++next) {
      const bwt::Hit& hit = found[next];
      const bool reverse = hit.pattern % 2 != 0;
      if (wants(flags.strands, reverse))
        hits.push_back({hit.contig, hit.begin, hit.n_mismatches, reverse});
    }
    keep_hits(flags, hits, item.answers[query], item.hits);
  }
}

}  // namespace biogpu::app
