#include <algorithm>
#include <array>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/models/proteinmpnn/network/batch.hpp"
#include "tests/models/proteinmpnn/model_support.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using namespace biogpu::models::proteinmpnn;
using namespace biogpu::test;

namespace {

constexpr std::array<std::size_t, 4> kTapped{0, 21, 40, 60};

}  // namespace

TEST_CASE("proteinmpnn.encoder: neighbours, features and states are the original's",
          "[proteinmpnn][model]") {
  const Expected expected;
  for (const bool ca_only : {false, true}) {
    const std::string prefix = ca_only ? "ca/" : "all/";
    const Task task = make_task({prefix, ca_only, 1.0, {}});
    Run run;
    run.compute(cpu_model(ca_only), task, true);
    const EncoderTaps& taps = run.taps;
    const auto k = static_cast<std::size_t>(taps.k);
    const std::vector<float> neighbours = expected.values(prefix + "neighbours");
    CHECK(furthest(taps.h, expected.values(prefix + "h")) < 1e-4);
    // Neighbours at one distance, to the last bit, have no order: torch gives either first.
    for (std::size_t i = 0; i < task.complex.present.size(); ++i) {
      if (task.complex.present[i] == 0) continue;
      const auto ours = taps.neighbours.begin() + static_cast<std::ptrdiff_t>(i * k);
      for (std::size_t e = 0; e < k; ++e) {
        const auto theirs = static_cast<std::int32_t>(neighbours[i * k + e]);
        const auto found = std::find(ours, ours + static_cast<std::ptrdiff_t>(k), theirs) - ours;
        REQUIRE(static_cast<std::size_t>(found) < k);
        REQUIRE(taps.distances[i * k + static_cast<std::size_t>(found)] ==
                taps.distances[i * k + e]);
      }
    }
    const std::size_t size = k * static_cast<std::size_t>(kHidden);
    for (std::size_t t = 0; t < kTapped.size(); ++t) {
      const std::size_t begin = kTapped[t] * size;
      const std::vector<float> features = expected.row(prefix + "features", t, size);
      CHECK(furthest(taps.features.data() + begin, features) < 1e-5);
      CHECK(furthest(taps.edges.data() + begin, expected.row(prefix + "edges", t, size)) < 1e-4);
    }
  }
}

TEST_CASE("proteinmpnn.decoder: the same draws give the original's letters and probabilities",
          "[proteinmpnn][model]") {
  const Expected expected;
  for (const Case& of : cases()) {
    INFO(of.name);
    const Task task = make_task(of);
    const auto n = static_cast<std::size_t>(task.complex.n);
    Run run(task, 2, of.temperature);
    for (std::size_t s = 0; s < run.samples.size(); ++s) {
      run.samples[s].order = make_order(task.constraints, expected.row(of.name + "/order", s, n));
      const auto uniforms = expected.row(of.name + "/uniform", s, n);
      run.samples[s].uniforms.assign(uniforms.begin(), uniforms.end());
    }
    Constraints untied;
    untied.free = task.constraints.free;
    run.scorings[0].order = make_order(untied, expected.values(of.name + "/order_native"));
    run.compute(cpu_model(of.ca_only), task);
    for (std::size_t s = 0; s < run.samples.size(); ++s) {
      const Sample& sample = run.samples[s];
      CHECK(furthest(sample.letters, expected.row(of.name + "/S", s, n)) == 0);
      CHECK(furthest(sample.log_probabilities, expected.row(of.name + "/log_probs", s, n * 21)) <
            1e-4);
      CHECK(furthest(sample.probabilities, expected.row(of.name + "/probs", s, n * 21)) < 1e-4);
    }
    CHECK(furthest(run.scorings[0].log_probabilities,
                   expected.values(of.name + "/native_log_probs")) < 1e-4);
  }
}

TEST_CASE("proteinmpnn.encoder: moving a structure changes nothing, mirroring it does",
          "[proteinmpnn][property]") {
  const Task task = make_task(cases()[0]);
  const auto score = [&](const Complex& complex) {
    Task moved = task;
    moved.complex = complex;
    Run run;
    run.scorings.push_back({random_samples(task, 1, 1.0)[0].order, complex.letters, {}});
    run.compute(cpu_model(false), moved);
    return run.scorings[0].log_probabilities;
  };
  const std::vector<float> before = score(task.complex);
  Complex moved = task.complex, mirrored = task.complex;
  for (std::size_t a = 0; a < moved.coordinates.size() / 3; ++a) {
    if (moved.present[a / 4] == 0) continue;
    float* const xyz = moved.coordinates.data() + 3 * a;
    const float x = xyz[0], y = xyz[1], z = xyz[2];
    xyz[0] = 0.8f * x - 0.6f * y + 11.0f;
    xyz[1] = 0.6f * x + 0.8f * y - 7.0f;
    xyz[2] = z + 2.5f;
    mirrored.coordinates[3 * a + 2] = -z;
  }
  // Residues without coordinates lie at the origin, and the decoder sees those of them that are
  // among the neighbours, as the original does: with fewer than 48 others the move would show.
  CHECK(furthest(score(moved), before) < 2e-3);
  CHECK(furthest(score(mirrored), before) > 0.05);
}

TEST_CASE("proteinmpnn.random: Philox gives its published numbers", "[proteinmpnn]") {
  // Random123, kat_vectors: philox4x32 10.
  CHECK(philox({0, 0, 0, 0}, {0, 0}) ==
        std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const Random random(1);
  double sum = 0, squares = 0;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    const double x = static_cast<double>(random.normal(Draw::noise, 0, i));
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / 20000) < 0.03);
  CHECK(squares / 20000 == Approx(1).margin(0.05));
}

TEST_CASE("proteinmpnn.inputs: what cannot be is told with file and structure", "[proteinmpnn]") {
  const test::Folder folder;
  const auto error_of = [&](const DesignRequest& request) {
    try {
      make_task({"", false, 1.0, request});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DesignRequest request;
  request.fixed_positions_jsonl = folder.write("fixed", R"({"edited": {"A": [33], "B": []}})");
  CHECK(error_of(request) == request.fixed_positions_jsonl +
                                 ": edited: position 33 is outside chain A, which has 32 residues");
  request.fixed_positions_jsonl = folder.write("fixed", R"({"edited": {"A": [1.5], "B": []}})");
  CHECK(error_of(request).find("does not have the form") != std::string::npos);
  request.fixed_positions_jsonl = folder.write("fixed", R"({"other": {"A": [3]}})");
  CHECK(error_of(request).find("has no entry") != std::string::npos);
  request.fixed_positions_jsonl = folder.write("fixed", R"({"edited": 7})");
  CHECK(error_of(request).find("edited") != std::string::npos);
  request.fixed_positions_jsonl = folder.write("fixed", "{\"edited\": ");
  CHECK(error_of(request).find("line 1: is no JSON object") != std::string::npos);
  request = {};
  request.chains = {"Q"};
  CHECK(error_of(request) == "edited.pdb: has no chain 'Q'; its chains are A B");
  request = {};
  request.fixed = "A40";
  CHECK(error_of(request) ==
        "--fixed: edited: position 40 is outside chain A, which has 32 residues");
  request.fixed = "A1-10, B5";
  CHECK(error_of(request).empty());
  request.omit = "ACDEFGHIKLMNPQRSTVWYXb";
  CHECK(error_of(request).find("'b' is no letter") != std::string::npos);
  for (const char* all : {"ACDEFGHIKLMNPQRSTVWYX", "YWVTSRQPNMLKIHGFEDCA"}) {
    request.omit = all;
    CHECK(error_of(request).find("leaves no letter") != std::string::npos);
  }
  request.allow_x = true;  // with the second, X alone is left
  CHECK(error_of(request).empty());
  request.omit = "CX";
  CHECK(error_of(request) == "--omit: X is omitted and allowed by --allow-X");
  request = {};
  request.bias_aa_jsonl = folder.write("bias", R"({"a": 1.5})");
  CHECK(error_of(request) ==
        request.bias_aa_jsonl + ": edited: 'a' is no letter of ACDEFGHIKLMNPQRSTVWYX");
  request = {};
  request.bias_by_res_jsonl = folder.write("bias", R"({"edited": {"A": [], "B": []}})");
  CHECK(error_of(request) ==
        request.bias_by_res_jsonl + ": edited: chain A has 32 residues, its table 0");
  request = {};
  request.tied_positions_jsonl = folder.write("tied", R"({"edited": [{"A": [1], "B": [1]}]})");
  CHECK(error_of(request).empty());
  request.fixed = "A1";
  CHECK(error_of(request) == request.tied_positions_jsonl +
                                 ": edited: position 1 of chain A keeps its residue and is tied to "
                                 "position 1 of chain B, which is drawn; fix both or neither");
  request.fixed = "A1 B1";
  CHECK(error_of(request).empty());
  request.tied_positions_jsonl = folder.write("tied", R"({"edited": [{"A": [1], "B": [2]}]})");
  request.fixed = "A1 B2";
  CHECK(error_of(request) ==
        request.tied_positions_jsonl +
            ": edited: position 1 of chain A and position 2 of chain B are tied "
            "and keep different residues");
}

TEST_CASE("proteinmpnn.inputs: X is omitted unless it is asked for", "[proteinmpnn]") {
  const auto omitted = [](const std::string& letters, bool allow_x) {
    DesignRequest request;
    request.omit = letters;
    request.allow_x = allow_x;
    std::string text;
    const auto constraints = make_task({"", false, 1.0, request}).constraints;
    for (std::size_t a = 0; a < kLetterRow; ++a)
      if (constraints.omit[a] != 0) text += kLetters[a];
    return text;
  };
  CHECK(omitted("", false) == "X");
  CHECK(omitted("WM", false) == "MWX");
  CHECK(omitted("XG", false) == "GX");
  CHECK(omitted("", true).empty());
  CHECK(omitted("PD", true) == "DP");
}

TEST_CASE("proteinmpnn.inputs: files that leave nothing to draw are refused", "[proteinmpnn]") {
  const Folder folder;
  const auto error_of = [&](DesignRequest request) {
    try {
      make_task({"", false, 1.0, request});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DesignRequest request;
  request.omit_aa_jsonl =
      folder.write("omit", R"({"edited": {"A": [[[4, 7], "ACDEFGHIKLMNPQRSTV"]], "B": []}})");
  CHECK(error_of(request).empty());
  request.omit = "YW";
  CHECK(error_of(request) == request.omit_aa_jsonl +
                                 ": edited: position 4 of chain A has no letter left that may be "
                                 "drawn");
  request.fixed = "A4 A7";  // what keeps its residue draws none
  CHECK(error_of(request).empty());
  // Rows of other lengths, numbers beyond fp32, shares and probabilities that are none.
  const auto table = [](const std::string& row) {
    std::string text = "[" + row;
    for (int i = 1; i < 32; ++i) text += ", " + row;
    return text + "]";
  };
  std::string ones = "[1", zeros = "[0";
  for (int a = 1; a < 21; ++a) {
    ones += ",1";
    zeros += ",0";
  }
  const auto profile = [&](const std::string& weight, const std::string& bias,
                           const std::string& odds) {
    const std::string of_chain = R"({"pssm_coef": )" + table(weight) + R"(, "pssm_bias": )" +
                                 table(bias) + R"(, "pssm_log_odds": )" + table(odds) + "}";
    DesignRequest with;
    with.pssm_bias = true;
    with.pssm_jsonl = folder.write("pssm", R"({"edited": {"A": )" + of_chain + R"(, "B": {}}})");
    return error_of(with);
  };
  CHECK(profile("0.25", ones + "]", zeros + "]").empty());
  const std::string form = "does not have the form";
  CHECK(profile("0.25", ones + ",1]", zeros + "]").find(form) != std::string::npos);
  CHECK(profile("0.25", ones + "]", "[0,0]").find(form) != std::string::npos);
  CHECK(profile("0.25", ones + "]", "1e39").find(form) != std::string::npos);
  CHECK(profile("null", ones + "]", zeros + "]").find(form) != std::string::npos);
  for (const auto& [weight, bias] : {std::pair{"1.5", ones}, {"-1", ones}, {"1", zeros}})
    CHECK(profile(weight, bias + "]", zeros + "]").find("position 1 of chain A: pssm_coef is") !=
          std::string::npos);
  DesignRequest deep;
  deep.fixed_positions_jsonl =
      folder.write("fixed", std::string(200000, '[') + std::string(200000, ']'));
  CHECK(error_of(deep).find("line 1: arrays or objects are nested more than 64 deep") !=
        std::string::npos);
}

TEST_CASE("proteinmpnn.weights: tensors that the variant does not use are refused",
          "[proteinmpnn]") {
  const auto error_of = [](const RandomModel& model) {
    try {
      const auto context = tensor::make_dry_run_context(tensor::Precision::fp32);
      models::load_model<models::Model>(model.path(), "design", *context);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::bad_input);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(error_of({false, 1, {}}).empty());
  // The input of the encoder of membrane models; CA-only ones carry it without a use.
  const std::vector<std::string> membrane{"features.norm_nodes.weight", "features.norm_nodes.bias"};
  CHECK(error_of({false, 1, membrane})
            .find("2 are unknown: features.norm_nodes.bias, features.norm_nodes.weight") !=
        std::string::npos);
  CHECK(error_of({true, 1, membrane}).empty());
  for (const bool ca_only : {false, true})
    CHECK(error_of({ca_only, 1, {"features.node_project_down.bias"}})
              .find("1 are unknown: features.node_project_down.bias") != std::string::npos);
  CHECK(error_of({false, 1, {}, 128}).empty());
  CHECK(error_of({false, 1, {}, 129}).find("num_edges is 129; expected a number from 1 to 128") !=
        std::string::npos);
}

TEST_CASE("proteinmpnn.work: batches hold what is allowed, and everything once", "[proteinmpnn]") {
  const Task plain = make_task(cases()[0]), tied = make_task(cases()[2]);
  const std::int64_t n = plain.complex.n;
  Run a(plain, 5, 1.0), b(tied, 3, 1.0), c;
  const std::vector<Work> works{a.work(plain, true), b.work(tied, false), c.work(plain, false)};
  const auto max_rows = GENERATE(as<std::int64_t>(), 1, 64, 1000);
  const auto max_states = GENERATE(as<std::int64_t>(), 1, 150, 100000);
  std::size_t n_samples = 0, n_scorings = 0, n_taps = 0;
  for (const auto& batch : divide(works, max_rows, max_states)) {
    REQUIRE(!batch.empty());
    std::int64_t rows = 0, states = 0;
    for (const Work& part : batch) {
      rows += n;
      states += static_cast<std::int64_t>(part.samples.size()) * n *
                    (part.constraints->tied.empty() ? 1 : 2) +
                static_cast<std::int64_t>(part.scorings.size()) * n;
      n_samples += part.samples.size();
      n_scorings += part.scorings.size();
      n_taps += part.taps != nullptr ? 1 : 0;
    }
    CHECK((rows <= max_rows || batch.size() == 1));
    CHECK((states <= max_states || states <= 2 * n));
  }
  CHECK(n_samples == 8);
  CHECK(n_scorings == 2);
  CHECK(n_taps == 1);
}
