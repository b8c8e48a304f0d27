#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/io/images/image_file.hpp"
#include "lib/models/molscribe/molscribe.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

// A small model with random weights, pictures, and what scripts/reference/molscribe.py gives of
// them.
inline const std::string kMolscribeFolder = BIOGPU_TEST_DATA "/models/molscribe_tiny";

inline std::unique_ptr<models::MolScribe> load_molscribe(
    tensor::Context& context, const std::string& folder = kMolscribeFolder) {
  return models::load_model<models::MolScribe>(folder, "recognize", context);
}

inline nlohmann::json expected_graphs() {
  return nlohmann::json::parse(std::ifstream(kMolscribeFolder + "/expected.json"));
}

struct Pictures {
  std::vector<std::string> names;
  std::vector<io::images::Image> originals;
  std::vector<models::molscribe::PreparedImage> images;
};

inline Pictures read_pictures(const models::MolScribe& model, const nlohmann::json& expected) {
  Pictures pictures;
  for (const auto& [name, graph] : expected.items()) {
    const io::images::ImageFile file(kMolscribeFolder + "/" + name);
    pictures.names.push_back(name);
    pictures.originals.push_back(file.page(0));
    pictures.images.push_back(
        models::molscribe::prepare_image(pictures.originals.back(), model.config().input_size));
    std::int64_t sum = 0;
    const std::vector<std::uint8_t>& gray = pictures.images.back().gray;
    for (std::size_t i = 0; i < gray.size(); ++i)
      sum += gray[i] * (static_cast<std::int64_t>(i) % 251 + 1);
    CHECK(sum == graph.at("gray_sum").get<std::int64_t>());
  }
  return pictures;
}

// Of the first picture, relative to the root mean square.
inline void check_encoded(models::MolScribe& model, const Pictures& pictures,
                          const nlohmann::json& expected, double bound) {
  const auto right = expected.at(pictures.names[0]).at("encoded").get<std::vector<double>>();
  const std::vector<float> got = model.encode(std::span(pictures.images).first(1));
  REQUIRE(got.size() == right.size());
  double squares = 0, worst = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    squares += right[i] * right[i];
    worst = std::max(worst, std::fabs(got[i] - right[i]));
  }
  CHECK(worst / std::sqrt(squares / static_cast<double>(right.size())) < bound);
}

// Exact tokens, atoms and bonds; confidences, products of up to 400 probabilities, to a part of
// themselves. Returns the graphs.
inline std::vector<models::molscribe::MoleculeGraph> check_graphs(models::MolScribe& model,
                                                                  const Pictures& pictures,
                                                                  const nlohmann::json& expected,
                                                                  double bound) {
  const std::vector<models::molscribe::MoleculeGraph> graphs = model.recognize(pictures.images);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    CAPTURE(pictures.names[i]);
    const nlohmann::json& right = expected.at(pictures.names[i]);
    const models::molscribe::MoleculeGraph& graph = graphs[i];
    CHECK(model.sequences()[i].tokens == right.at("tokens").get<std::vector<std::int32_t>>());
    REQUIRE(graph.atoms.size() == right.at("atoms").size());
    for (std::size_t k = 0; k < graph.atoms.size(); ++k) {
      CHECK(graph.atoms[k].symbol == right["atoms"][k][0].get<std::string>());
      CHECK(graph.atoms[k].x == right["atoms"][k][1].get<double>());
      CHECK(graph.atoms[k].y == right["atoms"][k][2].get<double>());
    }
    std::vector<std::vector<std::size_t>> bonds;
    for (std::size_t a = 0; a < graph.atoms.size(); ++a)
      for (std::size_t b = a + 1; b < graph.atoms.size(); ++b)
        if (graph.bond(a, b) != 0) bonds.push_back({a, b, graph.bond(a, b)});
    CHECK(bonds == right.at("bonds").get<std::vector<std::vector<std::size_t>>>());
    CHECK(graph.n_bonds() == bonds.size());
    const double confidence = right.at("confidence").get<double>();
    CHECK(std::fabs(graph.confidence - confidence) < bound * confidence);
  }
  return graphs;
}

inline void check_same(const models::molscribe::MoleculeGraph& a,
                       const models::molscribe::MoleculeGraph& b) {
  CHECK(a.tokens == b.tokens);
  CHECK(a.confidence == b.confidence);
  CHECK(a.least_margin == b.least_margin);
  CHECK(a.bonds == b.bonds);
  CHECK(a.bond_confidences == b.bond_confidences);
}

}  // namespace biogpu::test
