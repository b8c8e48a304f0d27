#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "lib/core/error.hpp"
#include "lib/models/tensornet/weights/radial_fit.hpp"
#include "tests/models/enformer/rewritten.hpp"
#include "tests/models/tensornet/model_support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::AtomSystem;
using models::tensornet::Config;
using models::tensornet::RadialFunctions;
using test::kTensorNets;
using test::LoadedPotential;
using Json = nlohmann::json;

namespace {

Json read_json(const std::string& name) {
  std::ifstream file(kTensorNets + name + "/config.json");
  return Json::parse(file);
}

test::RawTensors tensors_of(const std::string& name) {
  return test::read_raw(kTensorNets + name + "/model.safetensors");
}

// The error of loading a model, or nothing.
std::string error_of(const Json& config, const test::RawTensors& tensors) {
  const test::Folder folder;
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::to_safetensors(tensors));
  try {
    LoadedPotential potential(folder.path(), ops::make_cpu_context(2));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return {};
}

// Loading with one key changed.
std::string error_with(const std::string& name, const char* key, const Json& value) {
  Json config = read_json(name);
  config[key] = value;
  return error_of(config, tensors_of(name));
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tensornet.config: what the code does not honour is refused by name", "[models]") {
  CHECK(error_of(read_json("o3"), tensors_of("o3")).empty());
  CHECK(has(error_with("o3", "activation", "relu"), "activation is 'relu'; known are 'silu'"));
  CHECK(has(error_with("o3", "num_layers", -1), "num_layers is -1; expected a number from 0"));
  CHECK(has(error_with("o3", "num_layers", nullptr), "has no num_layers"));
  CHECK(has(error_with("o3", "atom_filter", 0), "atom_filter leaves out atoms"));
  CHECK(
      has(error_with("o3", "box_vecs", Json::array({1, 2, 3})), "box_vecs is no list of 3 lists"));
  const Json box = {{9, 0, 0}, {0, 9, 0}, {0, 0, 9}};
  CHECK(error_with("o3", "box_vecs", box).empty());
  CHECK(has(error_with("charges_box", "box_vecs", box), "box_vecs with a Coulomb energy"));
  CHECK(has(error_with("charges", "q_dim", nullptr), "has no q_dim"));
  CHECK(has(error_with("o3", "rbf_type", "bessel"), "rbf_type is 'bessel'; known are 'expnorm'"));
  CHECK(has(error_with("o3", "equivariance_invariance_group", "SU(2)"), "'SU(2)'; known are"));
  CHECK(has(error_with("o3", "output_model", "DipoleMoment"), "output_model is 'DipoleMoment'"));
  CHECK(has(error_with("o3", "reduce_op", "max"), "reduce_op is 'max'; known are 'add'"));
  CHECK(has(error_with("o3", "cutoff_upper", 0), "the cutoff is 0; expected one above 0"));
  CHECK(has(error_with("o3", "cutoff_lower", -1), "cutoff_lower is -1; expected Angstrom"));
  CHECK(has(error_with("o3", "prior_model", Json::array({"Morse"})),
            "prior_model has 'Morse'; known are"));
  CHECK(has(error_with("o3", "energy_unit", "Ry"), "energy_unit is 'Ry'; known are"));
  CHECK(has(error_with("o3", "length_unit", "nm"), "length_unit is 'nm'"));
  CHECK(has(error_with("o3", "dialect", "schnet"), "dialect is 'schnet'; known are"));
  CHECK(has(error_with("charges", "repulsion", true), "repulsion.cutoff_ab"));
  CHECK(has(error_with("repulsion", "repulsion", false), "repulsion.cutoff_ab"));
  CHECK(has(error_with("o3", "repulsion", true), "repulsion is true; only false"));
  CHECK(has(error_with("charges", "output_mlp_num_layers", 1), "output_network.layers.4"));
  CHECK(has(error_with("charges", "output_mlp_num_layers", -1), "output_mlp_num_layers is -1"));
  CHECK(error_with("o3", "output_mlp_num_layers", 1).empty());  // which Scalar does not read
  CHECK(has(error_with("charges", "dialect", "matgl"), "dialect is 'matgl'"));
  CHECK(has(error_with("matgl", "use_smooth", false), "use_smooth is false"));
  CHECK(has(error_with("matgl", "is_intensive", true), "is_intensive is true"));
  CHECK(has(error_with("matgl", "element_types", Json::array({"H", "Xx", "O", "Si"})), "'Xx'"));
  CHECK(has(error_with("matgl", "element_types", Json::array({"H", "H", "O", "Si"})), "twice"));
  CHECK(has(error_with("matgl", "element_types", 7), "element_types is 7; expected a list"));
  CHECK(has(error_with("matgl", "element_refs", Json::array({1, 2})), "element_refs has 2"));
  CHECK(has(error_with("matgl", "element_refs", Json::array({1, 2, "x", 3})), "expected numbers"));
}

TEST_CASE("tensornet.config: arguments of priors that the code does not honour are refused",
          "[models]") {
  const auto error = [](const char* key, const Json& value) {
    Json config = read_json("zbl");
    config["prior_args"][0][key] = value;
    return error_of(config, tensors_of("zbl"));
  };
  CHECK(error("max_num_neighbors", 5).empty());
  CHECK(has(error("smooth", true), "prior_args[0]: 'smooth' of ZBL is not supported"));
  CHECK(has(error("cutoff_distance", 0), "cutoff_distance is 0; expected a number above 0"));
  CHECK(has(error("cutoff_distance", 1e4), "expected Angstrom up to 100"));
  CHECK(has(error("cutoff_distance", nullptr), "has no cutoff_distance"));
  CHECK(has(error("energy_scale", "J"), "energy_scale is \"J\"; expected a number"));
  CHECK(has(error("distance_scale", -1), "distance_scale is -1; expected a number above 0"));
  CHECK(has(error("atomic_number", 7), "atomic_number is 7; expected a list"));
  CHECK(has(error("atomic_number", Json::array({0, 1.5})), "atomic_number has 1.5"));
  CHECK(has(error("atomic_number", Json::array({0, 119})), "atomic_number has 119"));
  CHECK(has(error("atomic_number", Json::array({0})), "leaves no element"));
  CHECK(has(error_with("zbl", "prior_args", Json::array()), "prior_args has 0 objects for 2"));
  CHECK(has(error_with("zbl", "prior_args", Json::array({1, 2})), "prior_args holds 1; expected"));
  CHECK(has(error_with("zbl", "prior_args", nullptr), "has no prior_args, which ZBL needs"));
  CHECK(has(error_with("zbl", "prior_model", 7), "prior_model has 7; expected a name"));
  CHECK(has(error_with("zbl", "prior_model", Json{{"ZBL", 3}}), "prior_model has 3 for 'ZBL'"));
  CHECK(
      has(error_with("so3_old_rows", "prior_args", Json{{"enable", 1}}), "enable is 1; expected"));
  LoadedPotential potential(kTensorNets + "zbl", ops::make_cpu_context(2));
  CHECK(potential.model->info().elements.back() == 16);  // atomic_number ends, max_z is 18
}

TEST_CASE("tensornet.config: priors in every form of torchmd-net", "[models]") {
  const AtomSystem system = test::ExpectedFile(kTensorNets + "zbl").systems()[0].system;
  const auto energy = [&](const std::function<void(Json&, test::RawTensors&)>& change,
                          std::optional<bool> references = {}) {
    Json config = read_json("zbl");
    test::RawTensors tensors = tensors_of("zbl");
    change(config, tensors);
    const test::Folder folder;
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", test::to_safetensors(tensors));
    models::LoadOptions options;
    if (references) options.values.set(models::kAtomReferences, *references);
    LoadedPotential potential(folder.path(), ops::make_reference_context(), options);
    return potential.compute(system).energy;
  };
  const auto none = [](Json&, test::RawTensors&) {};
  const double with = energy(none), without = energy(none, false);
  CHECK(std::fabs(with - without) > 0.1);
  CHECK(energy(none, true) == with);
  const Json zbl = read_json("zbl")["prior_args"][0];
  CHECK(energy([&](Json& config, auto&) {
          config["prior_model"] = Json::array({{{"ZBL", zbl}}, {{"Atomref", nullptr}}});
          config["prior_args"] = nullptr;
        }) == with);
  CHECK(energy([&](Json& config, auto&) {
          config["prior_model"] = Json::array({{{"ZBL", nullptr}}, "Atomref"});
        }) == with);
  // Switched off by its arguments, and on again by the caller.
  const auto off = [](Json& config, auto&) { config["prior_args"][1]["enable"] = false; };
  CHECK(energy(off) == without);
  CHECK(energy(off, true) == with);
  // One prior: a text with an object of arguments, and an object alone.
  const auto alone = [&](const Json& model, const Json& arguments) {
    return energy([&](Json& config, test::RawTensors& tensors) {
      config["prior_model"] = model;
      config["prior_args"] = arguments;
      test::RawTensors kept;
      for (auto& [name, tensor] : tensors) {
        if (name.starts_with("prior_model.0.")) continue;
        const std::string prior = "prior_model.1.";
        kept[name.starts_with(prior) ? "prior_model.0." + name.substr(prior.size()) : name] =
            tensor;
      }
      tensors = kept;
    });
  };
  const double one = alone("Atomref", {{"max_z", 18}});
  CHECK(std::fabs(one - with) > 1e-3);
  CHECK(alone("Atomref", Json::array({{{"max_z", 18}}})) == one);
  CHECK(alone(Json{{"Atomref", {{"max_z", 18}}}}, nullptr) == one);
  CHECK(alone(Json::array({"Atomref"}), {{"max_z", 18}}) == one);
}

TEST_CASE("tensornet.config: priors of an object are in the file's order", "[models]") {
  // ZBL comes before Atomref here, as in the file; sorted by name it would not.
  const Json config = read_json("zbl");
  std::string text = config.dump();
  const auto replace = [&](const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"prior_args\":" + config["prior_args"].dump(), "\"prior_args\":null");
  replace("\"prior_model\":" + config["prior_model"].dump(),
          "\"prior_model\":{\"ZBL\":" + config["prior_args"][0].dump() + ",\"Atomref\":null}");
  const test::Folder folder;
  folder.write("config.json", text);
  folder.write("model.safetensors", test::to_safetensors(tensors_of("zbl")));
  LoadedPotential potential(folder.path(), ops::make_reference_context());
  LoadedPotential plain(kTensorNets + "zbl", ops::make_reference_context());
  const AtomSystem system = test::ExpectedFile(kTensorNets + "zbl").systems()[2].system;
  CHECK(potential.compute(system).energy == plain.compute(system).energy);
}

TEST_CASE("tensornet.weights: free atoms of fewer elements than the model's", "[models]") {
  // mish_mean has 18 types and energies of 17.
  LoadedPotential potential(kTensorNets + "mish_mean", ops::make_reference_context());
  CHECK(potential.model->info().elements.back() == 16);
  LoadedPotential plain(kTensorNets + "mish_mean", ops::make_reference_context(),
                        test::without_references("mish_mean"));
  CHECK(plain.model->info().elements.back() == 17);
}

TEST_CASE("tensornet.config: names of one formula", "[models]") {
  const AtomSystem system = test::ExpectedFile(kTensorNets + "o3").systems()[1].system;
  LoadedPotential plain(kTensorNets + "o3", ops::make_reference_context());
  for (const auto& [key, value] : {std::pair{"activation", "swish"}, {"reduce_op", "sum"}}) {
    Json config = read_json("o3");
    config[key] = value;
    const test::Folder folder;
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", test::to_safetensors(tensors_of("o3")));
    LoadedPotential other(folder.path(), ops::make_reference_context());
    CHECK(other.compute(system).energy == plain.compute(system).energy);
  }
}

TEST_CASE("tensornet.config: the prior Coulomb has a switch between two distances", "[models]") {
  const auto error = [](const char* key, const Json& value) {
    Json config = read_json("coulomb");
    config["prior_args"][0][key] = value;
    return error_of(config, tensors_of("coulomb"));
  };
  CHECK(error("max_num_neighbors", 7).empty());
  CHECK(error("initial_box", nullptr).empty());
  CHECK(has(error("initial_box", 7), "'initial_box' of Coulomb is not supported"));
  CHECK(has(error("upper_switch_distance", nullptr), "has no upper_switch_distance"));
  CHECK(has(error("upper_switch_distance", 0), "upper_switch_distance is 0; expected a number"));
  for (const double lower : {-0.1, 0.32})
    CHECK(has(error("lower_switch_distance", lower), "expected nm from 0 to below 0.32"));
  CHECK(has(error("energy_scale", 0), "energy_scale is 0; expected a number above 0"));
}

TEST_CASE("tensornet.config: a width of Gaussian functions is above 0", "[models]") {
  Json config = read_json("matgl");
  config["rbf_type"] = "Gaussian";
  for (const double width : {0.0, -0.5}) {
    config["width"] = width;
    CHECK(has(error_of(config, tensors_of("matgl")), "expected one above 0"));
  }
}

TEST_CASE("tensornet.weights: emb3 and the backend tell matgl's layers for DGL", "[models]") {
  const auto own_features = [](const Json& config, const test::RawTensors& tensors) {
    const test::Folder folder;
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", test::to_safetensors(tensors));
    LoadedPotential loaded(folder.path(), ops::make_reference_context());
    const bool said = has(loaded.model->describe(), "messages\tan atom's own features (DGL)");
    const bool is = dynamic_cast<models::TensorNet&>(*loaded.model).config().sums_own_features;
    CHECK(said == is);
    return is;
  };
  Json config = read_json("matgl_dgl");
  test::RawTensors tensors = tensors_of("matgl_dgl");
  REQUIRE(tensors.count("tensor_embedding.emb3.weight") == 1);
  CHECK(own_features(config, tensors));
  config["backend"] = "DGL";
  CHECK(own_features(config, tensors));
  config["backend"] = "PYG";
  CHECK(has(error_of(config, tensors),
            "model.safetensors: has tensor_embedding.emb3, so it is of matgl's layers for DGL, but "
            "backend is 'PYG'"));
  config["backend"] = "JAX";
  CHECK(has(error_of(config, tensors), "backend is 'JAX'; known are 'PYG' and 'DGL'"));
  for (const std::string part : {"weight", "bias"}) tensors.erase("tensor_embedding.emb3." + part);
  config["backend"] = "PYG";
  CHECK(!own_features(config, tensors));
  config["backend"] = "DGL";
  CHECK(own_features(config, tensors));
  config.erase("backend");
  CHECK(!own_features(config, tensors));
  config = read_json("matgl_dgl");
  config["model_version"] = 2;
  CHECK(has(error_of(config, tensors_of("matgl_dgl")),
            "model.safetensors: has weights of matgl's DGL layers with model_version 2; "
            "expected model_version 1"));
}

TEST_CASE("tensornet.weights: layers for DGL and for PyG give other energies", "[models][model]") {
  const test::ExpectedSystem one = test::ExpectedFile(kTensorNets + "matgl_dgl").systems()[0];
  test::RawTensors tensors = tensors_of("matgl_dgl");
  for (const std::string part : {"weight", "bias"}) tensors.erase("tensor_embedding.emb3." + part);
  const test::Folder folder;
  folder.write("config.json", read_json("matgl_dgl").dump());
  folder.write("model.safetensors", test::to_safetensors(tensors));
  LoadedPotential pyg(folder.path(), ops::make_reference_context());
  CHECK(std::fabs(pyg.energy(one.system) - one.energy) > 1e-3);
}

TEST_CASE("tensornet.weights: numbers that leave nothing finite are refused", "[models]") {
  test::RawTensors tensors = tensors_of("o3");
  std::string& betas = tensors.at("representation_model.distance_expansion.betas").bytes;
  const float negative = -1e30f;  // a Gaussian function that grows
  std::memcpy(betas.data() + 4, &negative, 4);
  CHECK(has(error_of(read_json("o3"), tensors), "functions of distances are not finite"));
  tensors = tensors_of("charges");
  std::string& shares = tensors.at("output_model.qweights").bytes;
  std::fill(shares.begin(), shares.end(), '\0');
  CHECK(has(error_of(read_json("charges"), tensors),
            "model.safetensors: output_model.qweights has a sum of 0"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(tensors.at("output_model.qweights").bytes.data() + 4, &nan, 4);
  CHECK(has(error_of(read_json("charges"), tensors),
            "hold NaN or an infinity: output_model.qweights"));
  tensors.erase("output_model.qweights");
  CHECK(has(error_of(read_json("charges"), tensors), "missing: output_model.qweights"));
}

TEST_CASE("tensornet.weights: numbers of double precision keep their digits", "[models]") {
  const auto energy = [](double change) {
    test::RawTensors tensors = tensors_of("o3");
    for (auto& [name, tensor] : tensors) {
      std::vector<float> singles(tensor.bytes.size() / sizeof(float));
      std::memcpy(singles.data(), tensor.bytes.data(), tensor.bytes.size());
      std::vector<double> doubles(singles.begin(), singles.end());
      for (double& x : doubles) x *= 1 + change;
      tensor.type = "F64";
      tensor.bytes.assign(reinterpret_cast<const char*>(doubles.data()),
                          doubles.size() * sizeof(double));
    }
    const test::Folder folder;
    folder.write("config.json", read_json("o3").dump());
    folder.write("model.safetensors", test::to_safetensors(tensors));
    LoadedPotential potential(folder.path(), ops::make_reference_context());
    return potential.energy(test::ExpectedFile(kTensorNets + "o3").systems()[0].system);
  };
  LoadedPotential singles(kTensorNets + "o3", ops::make_reference_context());
  const double same = singles.energy(test::ExpectedFile(kTensorNets + "o3").systems()[0].system);
  CHECK(energy(0) == same);
  // A change that single precision, 2^-24 = 6e-8, rounds away.
  const double change = std::fabs(energy(1e-9) / same - 1);
  CHECK(change > 1e-10);
  CHECK(change < 1e-6);
}

TEST_CASE("tensornet.weights: tables of the prior D2 hold numbers above 0", "[models]") {
  CHECK(error_of(read_json("d2"), tensors_of("d2")).empty());
  test::RawTensors tensors = tensors_of("d2");
  const float zero = 0;
  std::memcpy(tensors.at("prior_model.0.R_r").bytes.data() + 4 * 6, &zero, 4);
  CHECK(has(error_of(read_json("d2"), tensors),
            "model.safetensors: prior_model.0.R_r has a number that is not above"));
  tensors.erase("prior_model.0.R_r");
  CHECK(has(error_of(read_json("d2"), tensors), "missing: prior_model.0.R_r"));
  // Its elements end with xenon.
  Json config = read_json("d2");
  config["prior_args"][0]["atomic_number"][8] = 55;
  test::Folder folder;
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::to_safetensors(tensors_of("d2")));
  LoadedPotential potential(folder.path(), ops::make_cpu_context(2));
  const std::vector<std::int32_t>& elements = potential.model->info().elements;
  CHECK(std::find(elements.begin(), elements.end(), 8) == elements.end());
  CHECK(elements.size() == 16);
}

TEST_CASE("tensornet.weights: tables of the repulsion are symmetric, powers above 0", "[models]") {
  const auto error = [](const std::string& name, std::size_t at, float number) {
    test::RawTensors tensors = tensors_of("repulsion");
    std::memcpy(tensors.at("representation_model.repulsion." + name).bytes.data() + 4 * at, &number,
                4);
    return error_of(read_json("repulsion"), tensors);
  };
  const std::string file = "model.safetensors: repulsion.";
  CHECK(has(error("cutoff_ab", 20, 9), file + "cutoff_ab is not symmetric"));
  CHECK(has(error("z_outer", 20, 9), file + "z_outer is not symmetric"));
  CHECK(has(error("z_outer", 0, -1), file + "z_outer is not symmetric or has a number below 0"));
  CHECK(has(error("z_pow", 8, -2), file + "z_pow has a number that is not above 0"));
  CHECK(has(error("z_pow", 6, 0), file + "z_pow has a number that is not above 0"));
  for (const char* const name : {"z_pow", "z_outer", "cutoff_ab"}) {
    const std::string text = error(name, 7, std::numeric_limits<float>::infinity());
    CHECK(has(text, std::string("repulsion.") + name));
    CHECK(has(text, "hold NaN or an infinity"));
    CHECK(!has(text, "symmetric"));
  }
}

TEST_CASE("tensornet.weights: tensors that do not fit are listed", "[models]") {
  test::RawTensors tensors = tensors_of("o3");
  tensors.erase("representation_model.out_norm.weight");
  tensors["mean"].shape = {1};
  tensors["more"] = tensors["std"];
  const std::string text = error_of(read_json("o3"), tensors);
  CHECK(has(text, "missing: out_norm.weight"));
  CHECK(has(text, "mean [1]"));
  CHECK(has(text, "unknown: more"));
  // Names of before version 2.0, and the prefix of Lightning.
  test::RawTensors old;
  for (const auto& [name, tensor] : tensors_of("o3")) {
    std::string renamed = "model." + name;
    const std::size_t at = renamed.find("output_network.layers.");
    if (at != std::string::npos) renamed.erase(at + 15, 7);
    old[renamed] = tensor;
  }
  CHECK(error_of(read_json("o3"), old).empty());
}

TEST_CASE("tensornet.weights: matgl's version decides who is first in a pair", "[models][model]") {
  const test::ExpectedSystem one = test::ExpectedFile(kTensorNets + "matgl").systems()[0];
  Json config = read_json("matgl");
  config["model_version"] = 2;
  const test::Folder folder;
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", test::to_safetensors(tensors_of("matgl")));
  LoadedPotential second(folder.path(), ops::make_reference_context());
  CHECK(std::fabs(second.energy(one.system) - one.energy) > 1e-3);
  models::AtomSystem pure = one.system;
  pure.atomic_numbers.assign(pure.n_atoms(), 8);
  LoadedPotential first(kTensorNets + "matgl", ops::make_reference_context());
  CHECK(std::fabs(second.energy(pure) - first.energy(pure)) < 1e-9);
}

TEST_CASE("tensornet.radial_fit: tables differ from direct evaluation by what they state",
          "[models]") {
  const std::string name = GENERATE("o3", "so3_old_rows", "matgl", "charges");
  CAPTURE(name);
  const models::ModelConfig file(kTensorNets + name);
  const Config config = models::tensornet::read_config(file);
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(kTensorNets + name);
  tensor::WeightTable table(checkpoint);
  const auto weights = models::tensornet::read_weights(config, false, table);
  using Part = RadialFunctions::Part;
  for (const Part part : {Part::embedding, Part::layer, Part::first_map, Part::cutoff}) {
    if (part == Part::layer && config.n_charges > 0) continue;  // its functions are of charges too
    const RadialFunctions functions(config, weights, part);
    for (const double bound : {1e-4, 2e-7}) {
      const auto fit =
          models::tensornet::fit_radial(functions, config.cutoff_lower, config.cutoff_upper, bound);
      CHECK(fit.slope_error <= bound);
      std::mt19937 random(3);
      std::uniform_real_distribution<double> at(config.cutoff_lower, config.cutoff_upper);
      std::vector<double> distances(200), values, slopes;
      for (double& d : distances) d = at(random);
      functions.evaluate(distances, values, slopes);
      const double scale =
          static_cast<double>(fit.n_intervals) / (config.cutoff_upper - config.cutoff_lower);
      const auto n = static_cast<std::size_t>(fit.n_functions);
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < distances.size(); ++i) {
        const double place = (distances[i] - config.cutoff_lower) * scale;
        const auto k = static_cast<std::size_t>(place);
        const double t = place - static_cast<double>(k);
        for (std::size_t c = 0; c < n; ++c) {
          const double* const a = fit.coefficients.data() + 4 * k * n + c;
          const double slope = scale * (a[n] + t * (2 * a[2 * n] + 3 * t * a[3 * n]));
          worst = test::worse_of(worst, std::fabs(slope - slopes[i * n + c]));
          largest = std::max(largest, std::fabs(slopes[i * n + c]));
        }
      }
      CHECK(worst < 2 * bound * largest + 1e-12);
    }
  }
}
