// A model, a kind of input and a subcommand in one file, in place of all models of the program:
// what arrays as items need beyond the driver.
#include "tests/unit/infer/items/toy_average.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/infer/run/item_run.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/ops/reduction/mean_pool.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu {
namespace {

using tensor::DType;
using tensor::Tensor;

// The mean of each array times a weight.
class AverageModel final : public models::Model {
 public:
  AverageModel(const std::string& folder, tensor::Context& context,
               const models::LoadOptions& options)
      : Model(context) {
    const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
    tensor::WeightTable table(checkpoint, options.maps);
    weight_ = table.take("weight", {1}).values.data()[0];
    table.finish();
    if (options.values.choice("sign") == "minus") weight_ = -weight_;
  }
  std::string describe() const override { return "architecture\taverage\n"; }

  std::vector<float> run(const std::vector<float>& numbers,
                         const std::vector<std::int32_t>& starts) {
    const models::Outputs outputs =
        run_pass([&](models::Pass& pass) { forward(pass, numbers, starts); });
    const io::SharedArray& means = outputs.at("means").values;
    std::vector<float> results(means.begin(), means.end());
    for (float& result : results) result *= weight_;
    return results;
  }
  std::size_t measure(std::uint64_t n_numbers) const {
    const std::vector<float> numbers(n_numbers);
    const std::vector<std::int32_t> starts{0, static_cast<std::int32_t>(n_numbers)};
    return measure_pass([&](models::Pass& pass) { forward(pass, numbers, starts); });
  }

 private:
  static void forward(models::Pass& pass, const std::vector<float>& numbers,
                      const std::vector<std::int32_t>& starts) {
    const Tensor x =
        pass.upload(DType::f32, {static_cast<std::int64_t>(numbers.size()), 1}, numbers.data());
    const tensor::Ragged segments = pass.segments(starts);
    const Tensor means = pass.output("means", {segments.n_segments, 1});
    pass.run([&] { ops::mean_pool(pass.context(), {x, &segments, 0, 0, means}); });
  }

  float weight_ = 1;
};

struct ArrayItem {
  std::string path, key;
  std::vector<float> numbers;
  std::string place() const { return fmt::format("{}: array {}", path, key); }
};

// The arrays of safetensors files, in the order of their names.
class ArraySource : public app::ListSource<ArrayItem> {
 public:
  explicit ArraySource(const app::InferFlags& flags)
      : ListSource(list(flags.inputs), flags.shard), paths_(flags.inputs) {
    for (const std::string& path : paths_) files_.emplace(path, tensor::Checkpoint::open(path));
  }
  bool next(ArrayItem& item) override {
    if (!ListSource::next(item)) return false;
    const tensor::StoredTensor& stored = files_.at(item.path).tensors().at(item.key);
    item.numbers.resize(static_cast<std::size_t>(stored.size()));
    if (!stored.to_floats(item.numbers.data()))
      throw Error(ErrorCode::bad_input, item.place() + ": holds no floating-point numbers");
    return true;
  }
  std::vector<report::InputFile> files() const override {
    std::vector<report::InputFile> files;
    for (const std::string& path : paths_)
      files.push_back(app::input_file(path, files_.at(path).tensors().size()));
    return files;
  }

 private:
  static std::vector<ArrayItem> list(const std::vector<std::string>& paths) {
    std::vector<ArrayItem> items;
    for (const std::string& path : paths) {
      const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(path);
      for (const auto& [key, stored] : checkpoint.tensors()) items.push_back({path, key, {}});
    }
    return items;
  }

  std::vector<std::string> paths_;
  std::map<std::string, tensor::Checkpoint> files_;
};

void require_finite(const ArrayItem& item) {
  for (const float number : item.numbers)
    if (!std::isfinite(number))
      throw Error(ErrorCode::bad_input, item.place() + ": a number is not finite");
}

void compute(AverageModel& model, const std::vector<ArrayItem>& items, std::string& text) {
  std::vector<float> numbers;
  std::vector<std::int32_t> starts{0};
  for (const ArrayItem& item : items) {
    require_finite(item);
    numbers.insert(numbers.end(), item.numbers.begin(), item.numbers.end());
    starts.push_back(static_cast<std::int32_t>(numbers.size()));
  }
  const std::vector<float> means = model.run(numbers, starts);
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}\t{:.6g}\n", io::as_field(items[i].key), means[i]);
}

void run_average(const app::InferFlags& flags, const std::string& command_line) {
  const app::ItemKind kind{.words = {"arrays", "numbers", true},
                           .n_products = app::file_bytes(flags.inputs),
                           .cpu_batch = 64,
                           .gpu_batch = 1 << 20};
  app::ItemRun<AverageModel, ArrayItem> run(
      flags, "infer average", command_line, kind,
      [](const app::InferFlags& infer) { return std::make_unique<ArraySource>(infer); },
      [](const ArrayItem& item) { return item.numbers.size(); });
  run.limit_memory([&](std::uint64_t n_numbers) { return run.model().measure(n_numbers); });
  run.leave_out_bad(require_finite);
  io::OutputFile out(run.flags().output, 1);
  out.write("name\tmean\n");
  run.run(
      [&](const std::vector<ArrayItem>& items, pipeline::RecordOutputs& result) {
        test::ToyCounts& counts = test::toy_counts();
        if (counts.n_batches++ == counts.fails_at) throw Error(ErrorCode::failed, "the toy broke");
        counts.n_arrays += static_cast<int>(items.size());
        run.use_model([&](AverageModel& model) { compute(model, items, result.text); });
      },
      [&](const pipeline::RecordOutputs& result) { out.write(result.text); });
  nlohmann::ordered_json result;
  run.add_counts(result);
  run.finish(out.bytes(), std::move(result), [&] { out.commit(); });
}

}  // namespace

app::Run test::add_infer_average(CLI::App& command) {
  const auto flags = std::make_shared<app::InferFlags>();
  app::OptionGroup(command).option("FILE", flags->inputs, "safetensors", " ")->required();
  app::add_model_flag(command, *flags);
  app::add_table_output(command, *flags);
  app::add_model_options(command, models::Reads::arrays);
  app::add_precision_flag(command, flags->precision);
  app::add_resume_flag(command, *flags);
  app::add_skip_bad_flag(command, *flags, "arrays with numbers that are not finite");
  app::add_shared_flags(command, flags->shared);
  app::add_infer_shard_flag(command, *flags, "part I of N of the arrays");
  return [flags](const std::string& command_line) { run_average(*flags, command_line); };
}

test::ToyCounts& test::toy_counts() {
  static ToyCounts counts;
  return counts;
}

const std::vector<models::ModelDef>& models::registry() {
  static const std::vector<ModelDef> kModels{
      {"toy_average",
       "Average",
       Reads::arrays,
       {"average"},
       [](const std::string& folder, const ModelConfig&, tensor::Context& context,
          const LoadOptions& options) -> std::unique_ptr<Model> {
         return std::make_unique<AverageModel>(folder, context, options);
       },
       tensor::Precision::fp32,
       {{.name = "sign",
         .kind = ModelOption::Kind::choice,
         .help = "of the means: plus or minus [plus]",
         .value_name = "SIGN",
         .choices = {"plus", "minus"}}}}};
  return kModels;
}

}  // namespace biogpu
