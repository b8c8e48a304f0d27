// `biogpu kmer count`: files in, the counter of the device chosen, one database out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/biogpu/kmer_commands.hpp"
#include "apps/biogpu/kmer_count_flags.hpp"
#include "apps/biogpu/log.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/kmer/count/counter.hpp"
#include "lib/kmer/count/fastq_chunks.hpp"
#include "lib/kmer/count/gpu_counting.hpp"
#include "lib/kmer/count/scan.hpp"
#include "lib/kmer/database/writer.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/json_summary.hpp"

namespace biogpu::app {
namespace {

constexpr io::BatchLimits kBatch{65536, 4u << 20};
// Below this many bytes of input a GPU's start-up costs more than the CPU's whole run.
constexpr std::uint64_t kBytesWorthGpu = 200u << 20;

constexpr char kFooter[] =
    "FASTA, FASTQ, SAM, BAM and CRAM, plain or gzip, mixed; - is standard input. The output does\n"
    "not depend on --threads, --device and --max-memory.\n\n"
    "Examples:\n"
    "  biogpu kmer count -m 21 -C -t 2 -o out.jf reads_1.fq reads_2.fq.gz\n"
    "  samtools cat a.bam b.bam | biogpu kmer count -m 31 -C -s 100M -o out.jf -\n\n";

class CountRun {
 public:
  CountRun(const CountFlags& flags, std::string command_line)
      : flags_(flags),
        command_line_(std::move(command_line)),
        log_("kmer count", flags.shared.quiet, flags.shared.verbose) {}

  void run() {
    header_.format = flags_.format();
    header_.k = flags_.k;
    header_.canonical = flags_.canonical;
    header_.counter_bytes = flags_.counter_bytes;
    header_.order = kmer::order_of_format(header_.format, flags_.k, flags_.size);
    kmer::add_provenance(header_, words_after_kmer(command_line_), flags_.no_provenance);
    choose();
    kmer::DatabaseWriter out(flags_.out_path, header_);
    for (const std::string& path : flags_.inputs) read_file(path);
    if (gpu_) gpu_->finish();
    const double read_s = log_.seconds();
    if (cpu_) cpu_->count_bins();
    const double counted_s = log_.seconds();
    write(out);
    out.commit();
    log_.detail(fmt::format("read {:.2f} s, count {:.2f} s, sort and write {:.2f} s", read_s,
                            counted_s - read_s, log_.seconds() - counted_s));
    summarise(out.bytes());
  }

 private:
  kmer::CountOptions options() const {
    kmer::CountOptions options;
    options.k = flags_.k;
    options.canonical = flags_.canonical;
    options.least_quality = flags_.least_quality();
    options.lower = flags_.bounds.lower;
    options.upper = flags_.bounds.upper;
    options.order = header_.order;
    options.n_threads = flags_.shared.threads;
    options.max_memory = flags_.shared.max_memory;
    options.tmp_dir = flags_.tmp_dir;
    return options;
  }

  void choose() {
    const SharedFlags& shared = flags_.shared;
    std::uint64_t n_bytes = 0;
    for (const std::string& path : flags_.inputs) {
      std::error_code ignored;
      const std::uintmax_t size = std::filesystem::file_size(path, ignored);
      if (!ignored) n_bytes += size;
    }
    const bool fits = flags_.k <= kmer::kMaxGpuK;
    DeviceRequest request = shared.device_request;
    if (!fits && request.kind != DeviceRequest::Kind::cpu) {
      if (request.kind != DeviceRequest::Kind::automatic)
        log_.warn(fmt::format("k of {} is counted on the CPU; the GPU's limit is {}", flags_.k,
                              kmer::kMaxGpuK));
      request.kind = DeviceRequest::Kind::cpu;
    }
    choice_ = choose_device(request, n_bytes >= kBytesWorthGpu);
    if (choice_.on_gpu())
      gpu_.emplace(options(), choice_.gpus, shared.max_device_memory);
    else
      cpu_.emplace(options());
    log_.info(fmt::format("{} ({}); k {}, {}", device_text(), choice_.reason, flags_.k,
                          flags_.canonical ? "canonical" : "as read"));
  }

  std::string device_text() const {
    if (!choice_.on_gpu()) return fmt::format("cpu, {} threads", flags_.shared.threads);
    return fmt::format("{} x {}", choice_.gpus.size(), choice_.name);
  }

  // Plain FASTQ is parsed by all threads, everything else by one.
  void read_file(const std::string& path) {
    const int n_threads = flags_.shared.threads;
    if (const auto chunks = kmer::FastqChunks::open(path)) {
      struct Item {
        std::size_t chunk = 0;
        io::CharBuffer text;
        io::CharBuffer letters;
        std::uint64_t n_records = 0;
      };
      std::vector<Item> items(static_cast<std::size_t>(n_threads) + 2);
      std::size_t next = 0;
      std::uint64_t n_records = 0;
      pipeline::run({n_threads, static_cast<int>(items.size())},
                    {[&](std::size_t slot) {
                       items[slot].chunk = next++;
                       return items[slot].chunk < chunks->n_chunks();
                     },
                     [&](std::size_t slot) {
                       Item& item = items[slot];
                       item.n_records = read_chunk(*chunks, item.chunk, item.text, item.letters);
                     },
                     [&](std::size_t slot) { n_records += items[slot].n_records; }});
      inputs_.push_back({path, chunks->file_bytes(), n_records});
      return;
    }
    io::SequenceReader reader(path, n_threads);
    io::BatchLimits limits = kBatch;
    if (flags_.shared.batch > 0) limits.n_records = flags_.shared.batch;
    struct Item {
      io::SequenceBatch batch;
      io::CharBuffer letters;
    };
    std::vector<Item> items(static_cast<std::size_t>(n_threads) + 2);
    pipeline::run({n_threads, static_cast<int>(items.size())},
                  {[&](std::size_t slot) { return reader.read(items[slot].batch, limits); },
                   [&](std::size_t slot) {
                     const io::SequenceBatch& batch = items[slot].batch;
                     if (cpu_) return cpu_->add(batch);
                     io::CharBuffer& letters = items[slot].letters;
                     letters.clear();
                     for (std::size_t i = 0; i < batch.size(); ++i)
                       append(batch.sequence(i), batch.quality(i), letters);
                     give_to_gpu(letters);
                   },
                   [](std::size_t) {}});
    inputs_.push_back({path, reader.file_bytes(), reader.n_records()});
  }

  std::uint64_t read_chunk(const kmer::FastqChunks& chunks, std::size_t chunk, io::CharBuffer& text,
                           io::CharBuffer& letters) {
    if (cpu_) {
      std::uint64_t n_records = 0;
      cpu_->add([&](const auto& add) { n_records = chunks.read(chunk, text, add); });
      return n_records;
    }
    letters.clear();
    const std::uint64_t n_records =
        chunks.read(chunk, text, [&](std::string_view sequence, std::string_view quality) {
          append(sequence, quality, letters);
        });
    give_to_gpu(letters);
    return n_records;
  }

  // A sequence, masked, and a byte that ends it.
  void append(std::string_view sequence, std::string_view quality, io::CharBuffer& letters) const {
    const std::size_t begin = letters.size();
    letters.append(sequence.data(), sequence.size());
    if (flags_.least_quality() != 0 && !quality.empty())
      kmer::mask_low_quality(letters.data() + begin, quality.data(), sequence.size(),
                             flags_.least_quality());
    letters.append("N", 1);
  }

  void give_to_gpu(const io::CharBuffer& letters) {
    const std::lock_guard lock(mutex_);
    gpu_->add(letters.view());
  }

  void write(kmer::DatabaseWriter& out) {
    struct Item {
      std::size_t index = 0;
      kmer::CountBlock block;
      std::string bytes;
    };
    std::vector<Item> items(2 * static_cast<std::size_t>(flags_.shared.threads) + 1);
    std::size_t next = 0;
    pipeline::run({flags_.shared.threads, static_cast<int>(items.size())},
                  {[&](std::size_t slot) {
                     if (gpu_) return gpu_->next(items[slot].block);
                     items[slot].index = next++;
                     return items[slot].index < cpu_->n_blocks();
                   },
                   [&](std::size_t slot) {
                     Item& item = items[slot];
                     if (gpu_)
                       gpu_->restore(item.block);
                     else
                       cpu_->take_block(item.index, item.block);
                     out.prepare(item.block, item.bytes);
                   },
                   [&](std::size_t slot) { out.write(items[slot].block, items[slot].bytes); }});
  }

  void summarise(std::uint64_t n_bytes) {
    const kmer::CountTotals totals = gpu_ ? gpu_->totals() : cpu_->totals();
    const double wall_s = log_.seconds();
    log_.info(fmt::format("{} k-mers, {} distinct, {} written, in {:.2f} s: {:.1f} M k-mers/s",
                          totals.n_windows, totals.n_distinct, totals.n_kept, wall_s,
                          1e-6 * static_cast<double>(totals.n_windows) / wall_s));
    if (gpu_) {
      const kmer::GpuCountTimes times = gpu_->times();
      log_.detail(fmt::format(
          "device: pack {:.4f} s, place {:.4f} s, sort {:.4f} s, runs {:.4f} s: {:.2f} G k-mers/s",
          times.pack_s, times.place_s, times.sort_s, times.runs_s,
          1e-9 * static_cast<double>(totals.n_windows) /
              (times.place_s + times.sort_s + times.runs_s)));
    }
    if (!flags_.shared.json.empty()) write_json(totals, wall_s, n_bytes);
  }

  void write_json(const kmer::CountTotals& totals, double wall_s, std::uint64_t n_bytes) {
    report::RunSummary run;
    run.git = BIOGPU_GIT;
    run.backend = gpu_backend_name();
    run.command = command_line_;
    run.inputs = inputs_;
    run.outputs.push_back({flags_.out_path, n_bytes});
    run.device_requested = flags_.shared.device;
    run.device_used =
        choice_.on_gpu() ? fmt::format("gpu:{}", fmt::join(choice_.gpus, ",")) : "cpu";
    run.device_name = choice_.name;
    run.device_reason = choice_.reason;
    run.wall_s = wall_s;
    if (gpu_) {
      const kmer::GpuCountTimes times = gpu_->times();
      run.gpu_s = times.pack_s + times.place_s + times.sort_s + times.runs_s;
      run.peak_device_bytes = gpu_->peak_device_bytes();
    }
    run.result = {{"k", flags_.k},
                  {"canonical", flags_.canonical},
                  {"kmers", totals.n_windows},
                  {"distinct", totals.n_distinct},
                  {"written", totals.n_kept},
                  {"spilled_bytes", cpu_ ? cpu_->spilled_bytes() : 0}};
    if (gpu_) {
      const kmer::GpuCountTimes times = gpu_->times();
      run.result["gpu"] = {{"pack_s", times.pack_s},
                           {"place_s", times.place_s},
                           {"sort_s", times.sort_s},
                           {"runs_s", times.runs_s}};
    }
    run.warnings = log_.warnings();
    io::OutputFile file(flags_.shared.json);
    file.write(report::json_summary(run));
    file.commit();
  }

  const CountFlags& flags_;
  const std::string command_line_;
  Log log_;
  kmer::Header header_;
  DeviceChoice choice_;
  std::optional<kmer::Counter> cpu_;
  std::optional<kmer::GpuCounting> gpu_;
  std::vector<report::InputFile> inputs_;
  std::mutex mutex_;
};

}  // namespace

Run add_kmer_count(CLI::App& command) {
  const auto flags = std::make_shared<CountFlags>();
  add_count_flags(command, *flags);
  command.footer(std::string(kFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    flags->resolve();
    CountRun(*flags, command_line).run();
  };
}

}  // namespace biogpu::app
