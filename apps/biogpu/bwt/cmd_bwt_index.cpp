#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/biogpu/bwt/command.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "lib/bwt/bwa/bwa_index.hpp"
#include "lib/bwt/fm/fm_index.hpp"
#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/bwt/text/reference.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/records/record_source.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

struct IndexFlags {
  SharedFlags shared;
  std::string path;
  std::string prefix;  // empty: path
  std::string format = "native";
  std::uint64_t sample_rate = 8;
  std::string algorithm;  // -a and -b of bwa index, which change nothing here either
  std::uint64_t block_size = 0;
  bool bwa_64 = false;
};

constexpr char kBwtIndexFooter[] =
    "--format bwa writes PREFIX.amb, .ann, .pac, .bwt and .sa, the bytes that 'bwa index' "
    "writes.\n\n"
    "Examples:\n"
    "  biogpu bwt index --format bwa -p prefix genome.fa\n\n";

const std::string& prefix_of(const IndexFlags& flags) {
  return flags.prefix.empty() ? flags.path : flags.prefix;
}

std::string bwa_prefix_of(const IndexFlags& flags) {
  return prefix_of(flags) + (flags.bwa_64 && flags.prefix.empty() ? ".64" : "");
}

// An index that took the place of its genome would be the end of both.
void resolve(IndexFlags& flags) {
  std::vector<io::NamedFile> outputs;
  if (flags.format == "bwa") {
    for (const char* const suffix : {".amb", ".ann", ".pac", ".bwt", ".sa"})
      outputs.push_back({"the index", bwa_prefix_of(flags) + suffix});
  } else {
    outputs.push_back({"the index", prefix_of(flags) + ".bgfm"});
  }
  flags.shared.require_own_outputs({{"GENOME", flags.path}}, std::move(outputs));
  flags.shared.resolve();
}

class IndexRun {
 public:
  IndexRun(const IndexFlags& flags, std::string command_line)
      : flags_(flags),
        command_line_(std::move(command_line)),
        log_("bwt index", flags.shared.quiet, flags.shared.verbose),
        progress_("bwt index", flags.shared.progress, flags.shared.quiet),
        summary_(flags.shared) {}

  void run() {
    auto devices = start_devices();
    progress_.stage("reading");
    const StageClock read("read", flags_.shared.threads);
    const bwt::Reference reference =
        flags_.format == "bwa" ? bwt::read_reference_as_bwa(flags_.path, flags_.shared.threads)
                               : bwt::read_reference(flags_.path, flags_.shared.threads);
    report_.stages.push_back(read.stop(file_bytes()));
    const StageClock device("device", 1);
    const double start_s = devices.valid() ? devices.get() : 0;
    const AutoDecision decision =
        decide_for_one(flags_.shared.device_request, work(reference.text.size()));
    report_.device = choose_device(flags_.shared.device_request, decision);
    log_device(log_, decision, report_.device);
    report_.stages.push_back(device.stop());
    sort_ = sort_settings(flags_.shared, report_.device);
    report_.read_s = log_.seconds();
    log_.detail(fmt::format("read {} records, {} bases, {} runs of other letters",
                            reference.contigs.size(), reference.text.size(),
                            reference.holes.size()));
    warn_of_other_letters(reference);
    if (flags_.format == "bwa") warn_of_other_bytes(reference);
    progress_.stage(fmt::format("sorting the suffixes of {} bases", reference.text.size()));
    if (flags_.format == "bwa") {
      write_bwa(reference);
    } else {
      write_native(reference);
    }
    report_.inputs.push_back({flags_.path, 0, reference.contigs.size()});
    report_.result = {{"format", flags_.format},
                      {"records", reference.contigs.size()},
                      {"bases", reference.text.size()}};
    write_bwt_summary(summary_, flags_.shared, command_line_, log_, report_);
    commit();
    after_commit([&] {
      log_.stages(report_.stages);
      const cost::Work sort = work(reference.text.size());
      keep_sort_rates(sorted_, static_cast<std::uint64_t>(sort.units), sort.n_threads,
                      report_.stages, start_s);
      log_.info(fmt::format("{}, {} indexed in {:.2f} s",
                            report::counted(reference.contigs.size(), "records"),
                            report::counted(reference.text.size(), "bases"), log_.seconds()));
    });
  }

 private:
  void commit() {
    const io::CommitGuard guard;
    for (io::OutputFile& file : files_) file.commit();
    summary_.commit();
  }

  // bwa's files hold both strands.
  cost::Work work(std::uint64_t n_bases) const {
    return sort_work(flags_.format == "bwa" ? 2 * n_bases : n_bases, flags_.shared.threads);
  }

  // A run of N may be most of a genome that is not finished; other letters are not.
  void warn_of_other_letters(const bwt::Reference& reference) {
    if (reference.text.size() == 0)
      log_.warn("the genome has no bases; nothing can be found in it");
    std::uint64_t n_other = 0;
    for (const bwt::Hole& hole : reference.holes)
      if (hole.letter != 'N' && hole.letter != 'n') n_other += hole.length;
    if (2 * n_other > reference.text.size())
      log_.warn(fmt::format("{} of {} letters are neither a base nor N; is this a genome?", n_other,
                            reference.text.size()));
  }

  // bwa takes every byte for a letter, so that positions behind a blank are not those of other
  // programs; its files are wanted nevertheless.
  void warn_of_other_bytes(const bwt::Reference& reference) {
    const auto is_letter = [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '*' || c == '-' || c == '.';
    };
    std::uint64_t n_bytes = 0;
    const bwt::Hole* first = nullptr;
    for (const bwt::Hole& hole : reference.holes) {
      if (is_letter(hole.letter)) continue;
      n_bytes += hole.length;
      if (first == nullptr) first = &hole;
    }
    if (first == nullptr) return;
    std::size_t record = 0;
    while (record + 1 < reference.contigs.size() &&
           reference.contigs[record + 1].offset <= first->offset)
      ++record;
    log_.warn(
        fmt::format("{}: record {}: {} in the sequence, {} such bytes in all, which bwa takes "
                    "for letters: positions behind them differ from those of other programs",
                    io::input::label_of(flags_.path), record + 1,
                    io::input::show_byte(first->letter), n_bytes));
  }

  // 0 where it is not a regular file.
  std::uint64_t file_bytes() const {
    std::error_code no_file;
    if (!std::filesystem::is_regular_file(flags_.path, no_file)) return 0;
    const std::uintmax_t n_bytes = std::filesystem::file_size(flags_.path, no_file);
    return no_file ? 0 : n_bytes;
  }

  // A GPU takes longer to start than a small genome to read: both at once, where one may be used.
  std::future<double> start_devices() const {
    using Kind = DeviceRequest::Kind;
    const Kind kind = flags_.shared.device_request.kind;
    const bool is_large = decide_device(flags_.shared.device_request, work(file_bytes())).worth_gpu;
    if (kind == Kind::cpu || (kind == Kind::automatic && !is_large)) return {};
    return async_with_backend([request = flags_.shared.device_request] {
      const StageClock start("device", 1);
      try {
        (void)choose_device(request, true, 1);
      } catch (const Error&) {
        // Thrown again when the input is read: what is wrong with that is told first.
      }
      return start.stop().wall_s;
    });
  }

  void write_native(const bwt::Reference& reference) {
    bwt::FmIndex::Settings settings;
    settings.sample_rate = flags_.sample_rate;
    settings.sort = sort_;
    const double begin = log_.seconds();
    const StageClock build("build", flags_.shared.threads);
    const bwt::FmIndex index = bwt::FmIndex::build(reference, settings, &sorted_);
    report_.compute_s = log_.seconds() - begin;
    report_.stages.push_back(build.stop(reference.text.size()));
    log_sort(sorted_, report_.compute_s, log_, report_);
    const std::string path = prefix_of(flags_) + ".bgfm";
    progress_.stage("writing");
    const StageClock write("write", 1);
    files_.push_back(index.write(path));
    report_.stages.push_back(write.stop(index.bytes()));
    report_.write_s = log_.seconds() - begin - report_.compute_s;
    report_.outputs.push_back({path, index.bytes()});
  }

  void write_bwa(const bwt::Reference& reference) {
    const bwt::PackedText text = bwt::with_reverse_complement(reference.text);
    const bwt::BwaBwt bwt = text.size() < std::numeric_limits<std::uint32_t>::max()
                                ? transform<std::uint32_t>(text)
                                : transform<std::uint64_t>(text);
    const double begin = log_.seconds();
    const StageClock write("write", 1);
    progress_.stage("writing");
    files_ = bwt::write_bwa_index(bwa_prefix_of(flags_), reference, bwt, flags_.shared.threads);
    report_.write_s = log_.seconds() - begin;
    std::uint64_t n_bytes = 0;
    for (const io::OutputFile& file : files_) n_bytes += file.bytes();
    report_.outputs.push_back({bwa_prefix_of(flags_), n_bytes});
    report_.stages.push_back(write.stop(n_bytes));
  }

  template <class Index>
  bwt::BwaBwt transform(const bwt::PackedText& text) {
    const double begin = log_.seconds();
    const StageClock sort("sort", flags_.shared.threads);
    const auto sa = bwt::sort_suffixes<Index>({text}, sort_, &sorted_);
    report_.stages.push_back(sort.stop(text.size()));
    const StageClock transform("transform", flags_.shared.threads);
    log_sort(sorted_, log_.seconds() - begin, log_, report_);
    bwt::BwaBwt bwt = bwt::make_bwa_bwt(text, sa, sort_.n_threads);
    report_.stages.push_back(transform.stop(text.size()));
    report_.compute_s = log_.seconds() - begin;
    return bwt;
  }

  const IndexFlags& flags_;
  const std::string command_line_;
  Log log_;
  Progress progress_;
  SummaryFile summary_;
  std::vector<io::OutputFile> files_;  // of the index
  bwt::SuffixSortSettings sort_;
  bwt::SuffixSortReport sorted_;
  BwtReport report_;
};

}  // namespace

Run add_bwt_index(CLI::App& command) {
  const auto flags = std::make_shared<IndexFlags>();
  command
      .add_option("genome", flags->path,
                  "FASTA or FASTQ file of the genome, plain, gzip or BGZF; - is standard input")
      ->required()
      ->option_text("GENOME");
  command
      .add_option("-p,--prefix", flags->prefix,
                  "begin the names of the index files with PREFIX [GENOME]")
      ->option_text("PREFIX");
  command
      .add_option("--format", flags->format,
                  "write the index for biogpu (native), or for bwa mem and fastmap (bwa) [native]")
      ->transform(one_of({"native", "bwa"}))
      ->option_text("WHAT");
  command
      .add_option("--sa-rate", flags->sample_rate,
                  "keep the position of one in N rows of a native index [8]")
      ->transform(in_range(1, 1024))
      ->option_text("N");
  command.add_option("-a", flags->algorithm)->group("");
  command.add_option("-b", flags->block_size)->group("");
  command.add_flag("-6", flags->bwa_64)->group("");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--batch", "--max-memory"});
  command.footer(std::string(kBwtIndexFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    resolve(*flags);
    if (flags->path == "-" && flags->prefix.empty())
      throw Error(ErrorCode::usage, "an index of standard input needs a name; add -p PREFIX");
    run_and_keep<IndexRun>(*flags, command_line);
  };
}

}  // namespace biogpu::app
