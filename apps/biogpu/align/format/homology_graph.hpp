#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/biogpu/align/format/row.hpp"

namespace biogpu::app {

// Least shares, in percent, that make a pair an edge of a homology graph.
struct EdgeRule {
  int min_length = 80;    // alignment in the longer sequence
  int min_identity = 40;  // matches in the alignment
  int min_score = 30;     // score in the longer sequence's score with itself
};

struct Edge {
  std::uint64_t query = 0;  // indices from 0
  std::uint64_t target = 0;
  double length = 0;  // shares, 0 to 1
  double identity = 0;
  double score = 0;
};

// The edge of a row, which holds statistics; empty where the pair is none.
std::optional<Edge> find_edge(const Row& row, const align::Scoring& scoring, const EdgeRule& rule);

// "query,target,length,identity,score" with a line feed.
void append_edge(std::string& out, const Edge& edge);

// METIS' text form of a graph of n nodes, weighted by the share of length.
std::string metis_graph(const std::vector<Edge>& edges, std::uint64_t n);

}  // namespace biogpu::app
