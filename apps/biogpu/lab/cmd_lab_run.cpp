// `biogpu lab run`: blocks with random numbers, compared with double precision, then timed.
#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/run/bench_device.hpp"
#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "apps/biogpu/lab/block_rows.hpp"
#include "apps/biogpu/lab/commands.hpp"
#include "apps/biogpu/lab/sweep_rows.hpp"
#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"
#include "lib/lab/baseline.hpp"
#include "lib/lab/profile_range.hpp"
#include "lib/lab/registry.hpp"
#include "lib/lab/roofline_svg.hpp"
#include "lib/lab/run_block.hpp"
#include "lib/tensor/tuning/tuning_file.hpp"

namespace biogpu::app {
namespace {

using Json = nlohmann::ordered_json;
using lab::BlockResult;
using lab::Extents;

constexpr std::int64_t kMaxExtent = 1 << 14;

struct LabFlags {
  std::vector<std::string> blocks;
  std::vector<std::string> shapes;
  std::string device = "auto";
  std::string precision = "auto";
  std::string json, plot, baseline, tuning;
  double peak_tflops = 0, peak_gbs = 0;  // 0: not given
  lab::RunSettings run;
  int n_threads = 0;
  bool quick = false;
  bool ncu = false;
  bool sweep = false;
};

// NxC, or N with the width of the block's first shape.
Extents parse_shape(const std::string& text, const lab::Block& block) {
  Extents extents{0, block.shapes.front().c};
  const auto number = [](std::string_view part) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size() ? value : 0;
  };
  const std::string_view all = text;
  const std::size_t x = all.find('x');
  extents.n = number(all.substr(0, x));
  if (x != std::string_view::npos) extents.c = number(all.substr(x + 1));
  if (extents.n < 1 || extents.c < 1 || extents.n > kMaxExtent || extents.c > kMaxExtent)
    throw Error(ErrorCode::usage,
                fmt::format("--shapes: {}; expected TOKENSxWIDTH or TOKENS, each from 1 to {}",
                            quoted(text), kMaxExtent));
  return extents;
}

std::vector<BlockWork> list_work(const LabFlags& flags) {
  std::vector<BlockWork> works;
  for (const lab::Block* const block : lab::find_blocks(flags.blocks)) {
    std::vector<Extents> shapes;
    for (const std::string& text : flags.shapes) shapes.push_back(parse_shape(text, *block));
    if (shapes.empty()) shapes = block->shapes;
    if (flags.quick && flags.shapes.empty()) shapes.resize(1);
    for (const Extents& extents : shapes) works.push_back({block, extents});
  }
  return works;
}

BenchDevice open_lab_device(const LabFlags& flags) {
  BenchDevice device = open_bench_device(flags.device, flags.precision, flags.n_threads);
  if (flags.peak_tflops > 0) device.roofline = {1e12 * flags.peak_tflops, 1e9 * flags.peak_gbs};
  return device;
}

// How profilers run one block at a time.
void print_profiler_commands(const LabFlags& flags, const std::vector<BlockWork>& works) {
  std::string text;
  for (const auto& [block, extents] : works) {
    const std::string shape = fmt::format("{}x{}", extents.n, extents.c);
    const std::string run =
        fmt::format("biogpu lab run {} --shapes {} --precision {} --profile --device gpu",
                    block->label(), shape, flags.precision);
    std::string file = fmt::format("{}_{}", block->label(), shape);
    std::replace(file.begin(), file.end(), ':', '_');
    text += fmt::format(
        "ncu --nvtx --nvtx-include '{} {}/' --graph-profiling node --set full -o {} {}\n"
        "nsys profile --trace cuda,nvtx --cuda-graph-trace node -o {} {}\n"
        "rocprofv3 --marker-trace --kernel-trace -o {} -- {}\n",
        block->label(), shape, file, run, file, run, file, run);
  }
  print(text);
}

void require_own_files(const LabFlags& flags) {
  InferFlags files;
  files.shared.json = flags.json;
  if (!flags.plot.empty()) files.also_written.push_back({"--plot", flags.plot});
  if (!flags.baseline.empty()) files.also_read.push_back({"--baseline", flags.baseline});
  require_own_outputs(files, {});
}

void run_lab(LabFlags flags) {
  const std::vector<BlockWork> works = list_work(flags);
  if (flags.ncu) return print_profiler_commands(flags, works);
  require_own_files(flags);
  // Names that cannot be written are told before anything is computed.
  std::optional<io::OutputFile> json, plot;
  if (!flags.json.empty()) json.emplace(flags.json);
  if (!flags.plot.empty()) plot.emplace(flags.plot);
  std::optional<lab::Baseline> baseline;
  if (!flags.baseline.empty()) baseline.emplace(flags.baseline);
  const lab::Baseline* const before = baseline ? &*baseline : nullptr;
  if (flags.quick || flags.run.ranges) flags.run.min_runs = flags.run.max_runs = 1;
  flags.run.lists_kernels = !flags.run.ranges;  // a profiler sees the marked runs alone
  BenchDevice device = open_lab_device(flags);
  const char* const precision = name_of(device.precision);
  const bool on_gpu = device.context->kind() == tensor::Context::Kind::gpu;
  tbb::task_arena threads(arena_threads(static_cast<std::size_t>(device.n_threads)));
  std::string heading = fmt::format("# {}, {}\n", device.name, precision);
  if (before != nullptr)
    heading += fmt::format("# baseline: {}, {}\n", before->device(), before->precision());
  if (flags.run.ranges)
    heading += fmt::format("# ranges: {}\n", lab::profile_library() == nullptr
                                                 ? "none, there is no NVTX and no ROCTX here"
                                                 : lab::profile_library());
  if (flags.sweep) {
    const std::string path = flags.tuning.empty() ? tensor::tuning_path() : flags.tuning;
    return threads.execute([&] { sweep_blocks(device, works, flags.run, path, heading); });
  }
  const tensor::DeviceTiles tiles = tensor::device_tiles(*device.context);
  if (tiles.table != nullptr && tiles.table->size() > 0)
    heading += fmt::format("# tuning: {}, {} tiles\n", tensor::tuning_path(), tiles.table->size());
  print(heading + block_heading(on_gpu, before));
  std::vector<BlockResult> results;
  Json rows = Json::array();
  for (const auto& [block, extents] : works) {
    results.push_back(threads.execute([&, &block = block, &extents = extents] {
      return lab::run_block(*device.context, *block, extents, flags.run);
    }));
    print(block_row(results.back(), device.roofline, on_gpu, before));
    rows.push_back(block_json(results.back(), device.roofline, before));
  }
  if (json)
    json->write(Json{{"device", device.name},
                     {"precision", precision},
                     {"threads", device.n_threads},
                     {"blocks", rows}}
                    .dump(2, ' ', false, Json::error_handler_t::replace) +
                "\n");
  if (plot)
    plot->write(
        lab::roofline_svg(results, device.roofline, fmt::format("{}, {}", device.name, precision)));
  const io::CommitGuard guard;
  if (json) json->commit();
  if (plot) plot->commit();
}

}  // namespace

Run add_lab_run(CLI::App& command) {
  const auto flags = std::make_shared<LabFlags>();
  const OptionGroup options(command);
  options.option("BLOCK", flags->blocks,
                 "names of 'lab list', with all variants, or NAME:VARIANT [all of them]", " ");
  add_list(command,
           {"--shapes", "run with these numbers of tokens, or tokens x width [those of 'lab list']",
            "N[xC],..."},
           flags->shapes);
  options.option("--baseline", flags->baseline,
                 "add a column with the speedup over the JSON of an earlier run", "FILE");
  options.option("--json", flags->json, "write the results as JSON to this file", "FILE")
      ->check(text_name({"json"}));
  options.option("--plot", flags->plot, "draw a roofline plot into this file", "FILE.svg")
      ->check(output_name({"svg"}));
  options
      .option("--peak-tflops", flags->peak_tflops,
              "set the peak rate of a device that is not a known one, in TFLOP/s", "N")
      ->transform(in_range(1e-6, 1e9));
  options
      .option("--peak-gbs", flags->peak_gbs,
              "set the peak rate of the memory of such a device, in GB/s", "N")
      ->transform(in_range(1e-6, 1e9))
      ->needs(command.get_option("--peak-tflops"));
  command.get_option("--peak-tflops")->needs(command.get_option("--peak-gbs"));
  options.flag("--quick", flags->quick, "time the smallest shape once, as a test that it runs");
  options.flag("--profile", flags->run.ranges,
               "mark one timed run of each block as a range of NVTX or ROCTX");
  options.flag("--ncu", flags->ncu, "print the commands of profilers (ncu, nsys, rocprofv3)")
      ->excludes("--json")
      ->excludes("--plot")
      ->excludes("--baseline");
  options
      .flag("--sweep", flags->sweep,
            "time each product with either width of its tiles on a GPU, and keep the faster one "
            "as tuning data")
      ->excludes("--json")
      ->excludes("--plot")
      ->excludes("--baseline")
      ->excludes("--profile")
      ->excludes("--quick")
      ->excludes("--ncu");
  options
      .option("--tuning", flags->tuning,
              "keep tuning data in this file [BIOGPU_TUNING, else tuning.json in the cache]",
              "FILE")
      ->check(text_name({"json"}))
      ->needs("--sweep");
  options
      .option("--rows", flags->run.n_rows,
              "compare N rows of the output with double precision [16]", "N")
      ->transform(in_range(1, 1 << 20));
  options.option("--seed", flags->run.seed, "start weights and inputs from this seed [1]", "N")
      ->transform(in_range<std::int64_t>(0, INT64_MAX));
  add_precision_flag(command, flags->precision);
  command.get_option("--precision")
      ->description("compute in fp32, tf32, fp16 or bf16 [auto: fp16 on a GPU, fp32 on a CPU]");
  options
      .option("--device", flags->device,
              "compute on auto, cpu, gpu or a device by number [BIOGPU_DEVICE, else auto]",
              "DEVICE")
      ->envname("BIOGPU_DEVICE");
  options
      .option("-t,--threads", flags->n_threads,
              "use N CPU threads for the run [BIOGPU_THREADS, else all allowed]", "N")
      ->transform(in_range(1, 1 << 14));
  command.footer(
      std::string(
          "Columns: median and least time of a run, rates, share of the roofline where the "
          "device's\n"
          "limits are known, the largest error relative to the root mean square and 1 - cosine of\n"
          "what the block adds, both against double precision, memory between operations. On a\n"
          "GPU also the number of kernels, and of the one that takes longest: its name, its share "
          "of\n"
          "the kernels' time, registers of a thread, shared memory of a block, and the share of a\n"
          "multiprocessor's waves that can run at a time.\n\n"
          "Examples:\n"
          "  biogpu lab run triangle-product-out --shapes 128x128,256x128\n"
          "  biogpu lab run --json before.json --plot roofline.svg\n"
          "  biogpu lab run pair-transition --ncu\n\n") +
      kExitCodes);
  return [flags](const std::string&) { run_lab(*flags); };
}

}  // namespace biogpu::app
