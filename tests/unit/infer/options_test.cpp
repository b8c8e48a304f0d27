// The options that models declare, and the dry runs that measure their passes.
#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/models/base/model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/loaded.hpp"

using namespace biogpu;
using test::kData;

namespace {

// Takes n + `extra` numbers inside its operations, and counts how often these run.
class Counted final : public models::Model {
 public:
  explicit Counted(tensor::Context& context) : Model(context) {}
  std::string describe() const override { return {}; }
  std::size_t measure(std::int64_t n) const {
    return measure_pass([&](models::Pass& pass) { forward(pass, n); });
  }
  models::Outputs run(std::int64_t n) {
    return run_pass([&](models::Pass& pass) { forward(pass, n); });
  }

  std::int64_t extra = 0;
  mutable int n_dry_runs = 0, n_runs = 0;

 private:
  void forward(models::Pass& pass, std::int64_t n) const {
    const tensor::Tensor y = pass.output("y", {n});
    if (extra > 0) pass.depends_on(static_cast<std::uint64_t>(extra));
    pass.run([&] {
      const auto scope = pass.arena().scope();
      pass.arena().take(tensor::DType::f32, {n + extra});
      ++(y.data == nullptr ? n_dry_runs : n_runs);
      for (std::int64_t i = 0; y.data != nullptr && i < n; ++i) y.as<float>()[i] = 1;
    });
  }
};

std::string refusal(const std::string& folder, const std::string& option) {
  const auto context = tensor::make_dry_run_context(tensor::Precision::fp32);
  models::LoadOptions options;
  options.values.set(option, std::string("positions"));
  try {
    models::load_model<models::Model>(kData + folder, "embed", *context, options);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return "taken";
}

}  // namespace

TEST_CASE("models.measure: a pass of a known key is not run dry again", "[models]") {
  const auto context = ops::make_cpu_context(1);
  Counted model(*context);
  const std::size_t bytes = model.measure(1000);
  CHECK(bytes >= 2 * 1000 * sizeof(float));
  CHECK(model.n_dry_runs == 1);
  CHECK(model.measure(1000) == bytes);
  for (int i = 0; i < 3; ++i) CHECK(model.run(1000).at("y").values[999] == 1.0f);
  CHECK(model.n_dry_runs == 1);
  CHECK(model.n_runs == 3);
  SECTION("another shape is measured") {
    CHECK(model.measure(2000) > bytes);
    CHECK(model.n_dry_runs == 2);
    CHECK(model.measure(1000) == bytes);
    CHECK(model.n_dry_runs == 2);
  }
  SECTION("so is another value that the pass depends on") {
    model.extra = 1 << 20;
    CHECK(model.run(1000).at("y").values[0] == 1.0f);
    CHECK(model.n_dry_runs == 2);
    CHECK(model.measure(1000) > (std::size_t{4} << 20));
  }
  SECTION("as many shapes as one likes are measured right") {
    for (std::int64_t n = 1; n < 10000; ++n) model.measure(n);
    CHECK(model.measure(1000) == bytes);
  }
}

TEST_CASE("models.options: a model refuses an option of another by its name", "[models]") {
  CHECK(refusal("esm2_head16", "keep-rare") ==
        kData + "esm2_head16: ESM-2 has no --keep-rare, which is for ProtBERT");
  CHECK(refusal("esm2_head16", "gamma") == "--gamma is for Enformer; ESM-2 has no gamma features");
  CHECK(refusal("protbert_head16", "atom-references").find("TensorNet, TensorNet2") !=
        std::string::npos);
  CHECK_THROWS_AS(refusal("esm2_head16", "colour"), std::invalid_argument);
}

TEST_CASE("models.options: those of the registry are complete", "[models]") {
  using Kind = models::ModelOption::Kind;
  for (const models::ModelDef& model : models::registry())
    for (const models::ModelOption& option : model.options) {
      CAPTURE(model.name, option.name);
      CHECK(std::string(option.help).size() > 10);
      CHECK((option.kind == Kind::choice) == (option.choices.size() > 1));
      CHECK((option.kind == Kind::choice) == (*option.value_name != '\0'));
    }
}

TEST_CASE("models.options: a value reaches the model", "[models]") {
  const auto context = ops::make_cpu_context(1);
  const auto code_of_u = [&](bool keep_rare) {
    models::LoadOptions options;
    if (keep_rare) options.values.set("keep-rare", true);
    const auto model = models::load_model<models::ProteinModel>(kData + "protbert_head16", "embed",
                                                                *context, options);
    return models::tokenize(model->info().vocabulary, "U", {}, "test")[1];
  };
  CHECK(code_of_u(true) != code_of_u(false));
}
