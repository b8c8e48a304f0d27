#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/proteins/sequence_run.hpp"
#include "apps/biogpu/infer/run/bench_device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/io/output_file.hpp"
#include "lib/models/base/protein_model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/proteinmpnn/bench.hpp"
#include "lib/models/proteinmpnn/proteinmpnn.hpp"
#include "lib/models/tensornet/bench.hpp"
#include "lib/ops/bench/bench.hpp"
#include "lib/structure/structure.hpp"

namespace biogpu::app {
namespace {

using Json = nlohmann::ordered_json;

struct BenchFlags {
  std::string device = "auto";
  std::string precision = "auto";
  std::string json;
  std::string model;
  std::vector<std::string> structures;
  std::vector<std::int64_t> n_samples{1};
  std::vector<std::string> batches{"1x256", "16x512"};
  ops::OpBenchSettings ops;
  int n_threads = 0;
  int n_runs = 20;
  int rest_ms = 0;
};

Json bench_ops(const BenchFlags& flags, BenchDevice& device) {
  Json rows = Json::array();
  std::string text = fmt::format("# {}, {}\nop\tshape\tus\tGB/s\tTFLOP/s\troofline\terror\n",
                                 device.name, name_of(device.precision));
  for (const ops::OpTiming& op : ops::run_op_bench(
           *device.context, flags.ops,
           {models::proteinmpnn::edge_embed_bench, models::proteinmpnn::edge_message_bench,
            models::proteinmpnn::edge_update_bench, models::proteinmpnn::nearest_rows_bench,
            models::tensornet::radial_table_bench, models::tensornet::radial_embed_bench})) {
    const double share = op.share(device.roofline);
    const double gigabytes_per_s = 1e-9 * op.bytes / op.seconds;
    const double teraflops_per_s = 1e-12 * op.operations / op.seconds;
    text += fmt::format("{}\t{}\t{:.1f}\t{:.0f}\t{:.2f}\t{}\t{:.1e}\n", op.op, op.shape,
                        op.seconds * 1e6, gigabytes_per_s, teraflops_per_s,
                        share == 0 ? "-" : fmt::format("{:.0f}%", 100 * share), op.error);
    rows.push_back({{"op", op.op},
                    {"shape", op.shape},
                    {"seconds", op.seconds},
                    {"bytes", op.bytes},
                    {"operations", op.operations},
                    {"gigabytes_per_s", gigabytes_per_s},
                    {"teraflops_per_s", teraflops_per_s},
                    {"roofline_share", share},
                    {"error", op.error}});
  }
  print(text);
  return rows;
}

std::pair<std::int64_t, std::int64_t> parse_batch(const std::string& text) {
  const std::size_t x = text.find('x');
  try {
    const std::int64_t n = std::stoll(text.substr(0, x)), length = std::stoll(text.substr(x + 1));
    if (x != std::string::npos && n > 0 && length > 2) return {n, length};
  } catch (const std::exception&) {
  }
  throw Error(ErrorCode::usage,
              fmt::format("--batches: '{}'; expected SEQUENCESxTOKENS, for example 16x512", text));
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Throws Error{usage} for a model whose whole passes are not timed here, with the command that
// tells its time. asked: what the options time.
void require_timed(const std::string& folder, models::Reads asked) {
  const models::ModelConfig config(folder);
  const models::ModelDef& model = models::find_model(config);
  if (model.reads == asked) return;
  std::string what = fmt::format("{}: {} ", config.path(), model.name);
  if (model.reads == models::Reads::structures)
    what += "is timed with --structure FILE";
  else if (model.reads == models::Reads::proteins)
    what += "is timed without --structure";
  else
    what += fmt::format(
        "is not timed by bench, only models of proteins and ProteinMPNN; 'biogpu infer {} --json "
        "FILE' writes the time of a run",
        model.tasks.front());
  throw Error(ErrorCode::usage, what);
}

// Passes over random residues; the device's seconds where it tells them, else the clock's. Timed
// when the device has worked for a while, and so has the clock that it gives such work.
Json bench_model(const BenchFlags& flags, BenchDevice& device) {
  require_timed(flags.model, models::Reads::proteins);
  tbb::task_arena threads(arena_threads(static_cast<std::size_t>(device.n_threads)));
  const auto model = threads.execute([&] {
    return models::load_model<models::ProteinModel>(flags.model, "embed", *device.context);
  });
  Json rows = Json::array();
  const bool rests = flags.rest_ms > 0;
  std::string text =
      fmt::format("# {}, {}, {}\nbatch\tmedian_ms\tleast_ms\ttokens/s{}\n", device.name,
                  name_of(device.precision), flags.model, rests ? "\trested_ms" : "");
  for (const std::string& name : flags.batches) {
    const auto [n, length] = parse_batch(name);
    models::TokenBatch batch;
    batch.starts.push_back(0);
    for (std::int64_t s = 0; s < n; ++s) {
      for (std::int64_t t = 0; t < length; ++t)
        batch.ids.push_back(static_cast<std::int32_t>(5 + (s * 31 + t * 7 + t / 3) % 20));
      batch.starts.push_back(static_cast<std::int32_t>(batch.ids.size()));
    }
    const auto since = [](std::chrono::steady_clock::time_point begin) {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const auto pass = [&] {
      const auto begin = std::chrono::steady_clock::now();
      model->run(batch, {});
      const double device_s = device.context->captured_seconds();
      return device_s > 0 ? device_s : since(begin);
    };
    constexpr double kWarmUp = 0.3;
    const auto begin = std::chrono::steady_clock::now();
    for (int run = 0; run < 3 || since(begin) < kWarmUp; ++run) pass();
    // The device rests. The host does not sleep: for a while after it, launches take longer.
    const auto rest = [&] {
      const auto from = std::chrono::steady_clock::now();
      while (since(from) < 1e-3 * flags.rest_ms) {
      }
    };
    std::vector<double> seconds, rested;
    for (int run = 0; run < flags.n_runs; ++run) seconds.push_back(pass());
    for (int run = 0; rests && run < flags.n_runs; ++run) {
      rest();
      rested.push_back(pass());
    }
    const double median = median_of(seconds);
    const double least = *std::min_element(seconds.begin(), seconds.end());
    const double rate = static_cast<double>(n * length) / median;
    text += fmt::format("{}\t{:.4f}\t{:.4f}\t{:.0f}", name, 1e3 * median, 1e3 * least, rate);
    text += rests ? fmt::format("\t{:.4f}\n", 1e3 * median_of(rested)) : "\n";
    rows.push_back({{"batch", name},
                    {"median_s", median},
                    {"least_s", least},
                    {"tokens_per_s", rate},
                    {"activation_bytes", model->measure(n * length, {})}});
    if (rests) rows.back()["rested_s"] = median_of(rested);
  }
  print(text);
  return rows;
}

// Whole designs and scores of structures, by the clock.
void bench_structures(const BenchFlags& flags) {
  require_timed(flags.model, models::Reads::structures);
  const BenchDevice device = open_bench_device(flags.device, "fp32", flags.n_threads);
  const auto model =
      models::load_model<models::proteinmpnn::ProteinMpnn>(flags.model, "design", *device.context);
  const bool ca_only = model->info().ca_only;
  const auto compute = [&](std::span<const models::proteinmpnn::Work> works) { model->run(works); };
  Json rows = Json::array();
  std::string text = fmt::format("# {}, {}\nstage\tresidues\tsequences\tmedian_ms\tleast_ms\n",
                                 device.name, flags.model);
  for (const std::string& path : flags.structures) {
    const structure::Structure structure = structure::read_structure(path, ca_only);
    const models::proteinmpnn::Complex complex =
        models::proteinmpnn::make_complex(structure, {}, ca_only, path);
    for (const auto& row :
         models::proteinmpnn::bench_structure(complex, flags.n_samples, flags.n_runs, compute)) {
      text += fmt::format("{}\t{}\t{}\t{:.4f}\t{:.4f}\n", row.stage, row.n_residues,
                          row.n_sequences, 1e3 * row.median_s, 1e3 * row.least_s);
      rows.push_back({{"structure", path},
                      {"stage", row.stage},
                      {"residues", row.n_residues},
                      {"sequences", row.n_sequences},
                      {"median_s", row.median_s},
                      {"least_s", row.least_s}});
    }
  }
  print(text);
  if (flags.json.empty()) return;
  io::OutputFile file(flags.json);
  file.write(Json{{"device", device.name}, {"model", flags.model}, {"structures", rows}}.dump(
                 2, ' ', false, Json::error_handler_t::replace) +
             "\n");
  file.commit();
}

void run_bench(const BenchFlags& flags) {
  InferFlags files;
  files.model = flags.model;
  files.shared.json = flags.json;
  require_own_outputs(files, flags.structures);
  if (!flags.structures.empty()) return bench_structures(flags);
  BenchDevice device = open_bench_device(flags.device, flags.precision, flags.n_threads);
  Json whole{{"device", device.name}, {"precision", name_of(device.precision)}};
  if (flags.model.empty()) {
    whole["ops"] = bench_ops(flags, device);
  } else {
    whole["model"] = flags.model;
    whole["passes"] = bench_model(flags, device);
  }
  if (flags.json.empty()) return;
  io::OutputFile file(flags.json);
  file.write(whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

}  // namespace

Run add_infer_bench(CLI::App& command) {
  const auto flags = std::make_shared<BenchFlags>();
  const OptionGroup options(command);
  options.option(
      "--model", flags->model,
      "time whole passes of this model (ESM-2, ProtBERT; ProteinMPNN with --structure), not "
      "operations",
      "FOLDER");
  add_list(command,
           {"--batches",
            "time --model with batches of these numbers of sequences and tokens [1x256,16x512]",
            "NxL,..."},
           flags->batches);
  options.option("--structure", flags->structures,
                 "design and score these PDB or mmCIF files, with a model of structures",
                 "FILE...");
  add_list(command,
           {"-n,--samples", "design these numbers of sequences of a structure at once [1]", "N,...",
            in_range(1, 1 << 20)},
           flags->n_samples);
  options.option("--only", flags->ops.only, "time operations whose name contains this text",
                 "TEXT");
  add_list(command,
           {"--atoms",
            "time operations at these numbers of atoms, not at the shapes of models; not with "
            "--model or --structure",
            "N,...", in_range(16, 1 << 20)},
           flags->ops.atoms)
      ->excludes(command.get_option("--model"))
      ->excludes(command.get_option("--structure"));
  options.flag("--quick", flags->ops.quick,
               "time the smallest shapes once, as a test that they run");
  options.option("--runs", flags->n_runs, "time N passes of each batch of --model [20]", "N")
      ->transform(in_range(1, 100000));
  options
      .option("--rest", flags->rest_ms,
              "time passes of --model also with MS milliseconds before each, as for a batch by "
              "itself [0]",
              "MS")
      ->transform(in_range(0, 10000));
  add_precision_flag(command, flags->precision);
  options
      .option("--device", flags->device,
              "compute on auto, cpu, gpu or a device by number [BIOGPU_DEVICE, else auto]",
              "DEVICE")
      ->envname("BIOGPU_DEVICE");
  options
      .option("-t,--threads", flags->n_threads,
              "use N CPU threads for the computation [BIOGPU_THREADS, else all]", "N")
      ->transform(in_range(0, 1024));
  options.option("--json", flags->json, "write the results as JSON to this file", "FILE")
      ->check(text_name({"json"}));
  command.footer(
      std::string("Examples:\n"
                  "  biogpu infer bench --device gpu --json ops.json\n"
                  "  biogpu infer bench --only tensor --atoms 1024,4096\n"
                  "  biogpu infer bench --model esm2_t33_650M_UR50D --batches 16x512\n\n") +
      kExitCodes);
  return [flags](const std::string&) { run_bench(*flags); };
}

}  // namespace biogpu::app
