#include "apps/biogpu/align/format/homology_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace biogpu::app {
namespace {

std::int64_t self_score(std::string_view text, const align::Scoring& scoring) {
  std::int64_t sum = 0;
  for (const char c : text) {
    const auto residue = scoring.class_of[static_cast<unsigned char>(c)];
    sum += scoring.score[residue][residue];
  }
  return sum;
}

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<Edge> find_edge(const Row& row, const align::Scoring& scoring, const EdgeRule& rule) {
  const align::Alignment& a = *row.alignment;
  const std::string_view longer = row.query.size() > row.target.size() ? row.query : row.target;
  const std::int64_t length = std::ssize(longer);
  const std::int64_t best = self_score(longer, scoring);
  if (std::int64_t{a.length} * 100 < rule.min_length * length ||
      std::int64_t{a.matches} * 100 < std::int64_t{rule.min_identity} * a.length ||
      std::int64_t{a.score} * 100 < rule.min_score * best)
    return std::nullopt;
  return Edge{row.query_index, row.target_index, share(a.length, length),
              share(a.matches, a.length), share(a.score, best)};
}

void append_edge(std::string& out, const Edge& edge) {
  fmt::format_to(std::back_inserter(out), "{},{},{:f},{:f},{:f}\n", edge.query, edge.target,
                 edge.length, edge.identity, edge.score);
}

std::string metis_graph(const std::vector<Edge>& edges, std::uint64_t n) {
  // Parasail keeps weights in single precision.
  std::vector<std::vector<std::pair<std::uint64_t, float>>> nodes(n);
  for (const Edge& edge : edges) {
    nodes[edge.query].emplace_back(edge.target, static_cast<float>(edge.length));
    nodes[edge.target].emplace_back(edge.query, static_cast<float>(edge.length));
  }
  std::string text = fmt::format("{} {} 1\n", n, edges.size());
  for (const auto& neighbours : nodes) {
    for (std::size_t i = 0; i < neighbours.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{}{} {:f}", i > 0 ? "  " : "",
                     neighbours[i].first + 1, static_cast<double>(neighbours[i].second));
    text += '\n';
  }
  return text;
}

}  // namespace biogpu::app
