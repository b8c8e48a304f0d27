#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/biogpu/bwt/command.hpp"
#include "lib/bwt/fm/fm_index.hpp"
#include "lib/bwt/fm/fm_search.hpp"
#include "lib/io/sequence_batch.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

enum class Strands { both, forward, reverse };
enum class HitsWanted { all, best };

// The options that `count` and `locate` share.
struct QueryFlags {
  SharedFlags shared;
  std::vector<std::string> arguments;  // the queries, before them the index without -x
  std::string index_path;
  std::string query_path;
  io::Shard shard;  // of the queries
  std::string out_path = "-";
  std::string format;  // of locate; empty: by the suffix of out_path
  Strands strands = Strands::both;
  HitsWanted hits = HitsWanted::all;
  std::uint32_t k = 0;
  std::uint64_t max_hits = 0;  // 0: no limit
};

// A place where a query matches, for a writer.
struct QueryHit {
  std::uint64_t contig = 0;
  std::uint64_t begin = 0;
  std::uint32_t n_mismatches = 0;
  bool reverse = false;
};

// What was found for one query: its places in order, or, where only that is asked for, their
// numbers.
struct QueryAnswer {
  std::uint64_t n_forward = 0;
  std::uint64_t n_reverse = 0;
  std::size_t first_hit = 0;
  std::size_t n_hits = 0;
  bool cut = false;  // by max_hits
};

// A batch of queries with their answers.
struct QueryItem {
  io::SequenceBatch batch;
  bwt::PatternSet patterns;
  std::vector<QueryAnswer> answers;
  std::vector<QueryHit> hits;
  std::string text;
};

// "PREFIX QUERIES" or "-x PREFIX QUERIES": takes both from the arguments. command: "smem", for the
// message of Error{usage}.
void take_index_and_queries(const std::vector<std::string>& arguments, const char* command,
                            std::string& prefix, std::string& queries);

// PREFIX or PREFIX.bgfm. Throws Error{bad_input} where there is none, or only an index of bwa.
std::string index_file(const std::string& path);

void count_queries(const bwt::FmIndex& index, bwt::ExactSearch& search, const QueryFlags& flags,
                   QueryItem& item);
void locate_queries(const bwt::FmIndex& index, bwt::ExactSearch& search, const QueryFlags& flags,
                    QueryItem& item);

}  // namespace biogpu::app
