#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "apps/biogpu/bwt/command.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "lib/bwt/transform.hpp"
#include "lib/core/complement.hpp"
#include "lib/core/error.hpp"
#include "lib/io/char_buffer.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

// A transform of bytes: this mark, the row of the sentinel in 8 bytes, the transform without it.
constexpr std::string_view kByteMark = "bgpubwt1";
constexpr std::size_t kByteHeader = 16;

struct TransformFlags {
  SharedFlags shared;
  std::string path;
  std::string out_path = "-";
  bool bytes = false;
  bool both_strands = false;
  std::string format = "text";  // of the output of inverse: text or fasta
};

constexpr char kTransformFooter[] =
    "The records become one text P0 $0 P1 $1 ... with $0 < $1 < ... smaller than every letter; "
    "each\n"
    "sentinel is written as '$'. One record gives the usual transform. With --bytes the input is "
    "any\n"
    "file, and the output says where the sentinel belongs.\n\n"
    "Examples:\n"
    "  biogpu bwt transform reads.fa -o reads.bwt\n"
    "  biogpu bwt transform --bytes book.txt -o book.bwt\n\n";
constexpr char kInverseFooter[] =
    "Examples:\n"
    "  biogpu bwt inverse reads.bwt --format fasta -o reads.fa\n\n";

std::string read_all(const std::string& path) {
  io::input::RawFile file(path);
  std::string text;
  constexpr std::size_t kPiece = 4u << 20;
  for (std::size_t got = kPiece; got == kPiece;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    got = file.read(text.data() + before, kPiece);
    text.resize(before + got);
  }
  return text;
}

bwt::StringSetText read_strings(const TransformFlags& flags, std::uint64_t& n_records) {
  io::SequenceReader reader(flags.path, flags.shared.threads);
  io::SequenceBatch batch;
  bwt::StringSetText text;
  while (reader.read(batch)) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      text.append(batch.sequence(i));
      if (flags.both_strands) text.append(reverse_complement_iupac(batch.sequence(i)));
    }
  }
  n_records = reader.n_records();
  return text;
}

void resolve(TransformFlags& flags) {
  flags.shared.require_own_outputs({{"INPUT", flags.path}}, {{"--output", flags.out_path}});
  flags.shared.resolve();
}

// An output that holds all its bytes and has no name yet.
io::OutputFile write_whole(const TransformFlags& flags,
                           std::initializer_list<std::string_view> parts) {
  io::OutputFile out(flags.out_path, flags.shared.threads);
  for (const std::string_view part : parts) out.write(part);
  return out;
}

// Bytes beside the row of their sentinel, or strings; read, transformed and written.
class TransformRun {
 public:
  TransformRun(const TransformFlags& flags, const std::string& command_line)
      : flags_(flags),
        command_line_(command_line),
        log_("bwt transform", flags.shared.quiet, flags.shared.verbose),
        progress_("bwt transform", flags.shared.progress, flags.shared.quiet),
        summary_(flags.shared) {}

  void run() {
    progress_.stage("reading");
    read_.emplace("read", flags_.shared.threads);
    io::OutputFile out = flags_.bytes ? transform_bytes() : transform_strings();
    report_.inputs.push_back({flags_.path, 0, n_records_});
    report_.outputs.push_back({flags_.out_path, n_symbols_});
    report_.result = {{"records", n_records_}, {"symbols", n_symbols_}};
    write_bwt_summary(summary_, flags_.shared, command_line_, log_, report_);
    const io::CommitGuard guard;
    out.commit();
    summary_.commit();
    after_commit([&] {
      log_.stages(report_.stages);
      log_.info(fmt::format("{} of {} in {:.2f} s", report::counted(n_symbols_, "symbols"),
                            report::counted(n_records_, "records"), log_.seconds()));
    });
  }

 private:
  io::OutputFile transform_bytes() {
    const std::string bytes = read_all(flags_.path);
    n_symbols_ = bytes.size();
    const auto bwt = transform<bwt::ByteBwt>(
        [&](const auto& sort, auto* sorted) { return bwt::transform_bytes(bytes, sort, sorted); });
    char header[kByteHeader];
    std::memcpy(header, kByteMark.data(), kByteMark.size());
    std::memcpy(header + kByteMark.size(), &bwt.primary, sizeof bwt.primary);
    return write({{header, kByteHeader}, bwt.bytes});
  }

  io::OutputFile transform_strings() {
    const bwt::StringSetText text = read_strings(flags_, n_records_);
    n_symbols_ = text.letters.size();
    const auto bwt = transform<std::string>(
        [&](const auto& sort, auto* sorted) { return bwt::transform_set(text, sort, sorted); });
    return write({bwt, "\n"});
  }

  // job(settings, report) with the device chosen by the number of symbols.
  template <class Result, class Job>
  Result transform(const Job& job) {
    report_.read_s = log_.seconds();
    report_.stages.push_back(read_->stop(n_symbols_));
    const AutoDecision decision =
        decide_for_one(flags_.shared.device_request, sort_work(n_symbols_, flags_.shared.threads));
    report_.device = choose_device(flags_.shared.device_request, decision);
    log_device(log_, decision, report_.device);
    progress_.stage(fmt::format("sorting the suffixes of {} symbols", n_symbols_));
    const StageClock sort("sort", flags_.shared.threads);
    bwt::SuffixSortReport sorted;
    Result result = job(sort_settings(flags_.shared, report_.device), &sorted);
    report_.compute_s = log_.seconds() - report_.read_s;
    report_.stages.push_back(sort.stop(n_symbols_));
    log_sort(sorted, report_.compute_s, log_, report_);
    return result;
  }

  io::OutputFile write(std::initializer_list<std::string_view> parts) {
    const double begin = log_.seconds();
    const StageClock write("write", flags_.shared.threads);
    progress_.stage("writing");
    io::OutputFile out = write_whole(flags_, parts);
    out.finish();
    report_.write_s = log_.seconds() - begin;
    report_.stages.push_back(write.stop(out.bytes()));
    return out;
  }

  const TransformFlags& flags_;
  const std::string& command_line_;
  Log log_;
  Progress progress_;
  SummaryFile summary_;
  BwtReport report_;
  std::optional<StageClock> read_;
  std::uint64_t n_records_ = 1;
  std::uint64_t n_symbols_ = 0;
};

void run_inverse(const TransformFlags& flags, const std::string& command_line) {
  Log log("bwt inverse", flags.shared.quiet, flags.shared.verbose);
  Progress progress("bwt inverse", flags.shared.progress, flags.shared.quiet);
  progress.stage("reading");
  SummaryFile summary(flags.shared);
  BwtReport report;
  report.device = choose_device(flags.shared.device_request, false, 1);
  std::optional<io::OutputFile> out;
  std::string input = read_all(flags.path);
  input.erase(0, io::input::count_mark_bytes(input, flags.path));
  progress.stage(fmt::format("inverting {} bytes", input.size()));
  std::uint64_t n_records = 1;
  try {
    if (std::string_view(input).starts_with(kByteMark) && input.size() >= kByteHeader) {
      bwt::ByteBwt bwt;
      std::memcpy(&bwt.primary, input.data() + kByteMark.size(), sizeof bwt.primary);
      bwt.bytes = input.substr(kByteHeader);
      out = write_whole(flags, {bwt::inverse_bytes(bwt)});
    } else {
      if (!input.empty() && input.back() == '\n') input.pop_back();
      const bwt::StringSetText text = bwt::inverse_set(input, flags.shared.threads);
      n_records = text.ends.size();
      std::string lines;
      std::uint64_t begin = 0;
      for (std::size_t i = 0; i < text.ends.size(); ++i) {
        if (flags.format == "fasta") lines += fmt::format(">{}\n", i + 1);
        lines.append(text.letters, begin, text.ends[i] - begin);
        lines += '\n';
        begin = text.ends[i] + 1;
      }
      out = write_whole(flags, {lines});
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_input) throw;
    throw Error(error.code(), flags.path + ": " + error.what());
  }
  report.inputs.push_back({flags.path, input.size(), n_records});
  report.result = {{"records", n_records}};
  write_bwt_summary(summary, flags.shared, command_line, log, report);
  const io::CommitGuard guard;
  out->commit();
  summary.commit();
  after_commit([&] {
    log.info(fmt::format("{} in {:.2f} s", report::counted(n_records, "records"), log.seconds()));
  });
}

}  // namespace

Run add_bwt_transform(CLI::App& command) {
  const auto flags = std::make_shared<TransformFlags>();
  command
      .add_option("input", flags->path,
                  "file of sequences, or any file with --bytes; - is standard input")
      ->required()
      ->option_text("INPUT");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the transform to this file [-, standard output]")
      ->option_text("FILE");
  CLI::Option* const bytes =
      command.add_flag("--bytes", flags->bytes, "transform the bytes of the file, not sequences")
          ->option_text(" ");
  command
      .add_flag("--both-strands", flags->both_strands,
                "follow each record by its reverse complement")
      ->excludes(bytes)
      ->option_text(" ");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--batch", "--max-memory"});
  command.footer(std::string(kTransformFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    resolve(*flags);
    TransformRun(*flags, command_line).run();
  };
}

Run add_bwt_inverse(CLI::App& command) {
  const auto flags = std::make_shared<TransformFlags>();
  command.add_option("input", flags->path, "file of a transform; - is standard input")
      ->required()
      ->option_text("INPUT");
  command
      .add_option("-o,--output", flags->out_path,
                  "write the text to this file [-, standard output]")
      ->option_text("FILE");
  command
      .add_option("-f,--format", flags->format,
                  "write sequences as text, one a line, or as fasta [text]")
      ->transform(one_of({"text", "fasta"}))
      ->option_text("WHAT");
  add_shared_flags(command, flags->shared);
  remove_flags(command, {"--batch", "--max-memory", "--max-device-memory"});
  command.footer(std::string(kInverseFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    resolve(*flags);
    run_inverse(*flags, command_line);
  };
}

}  // namespace biogpu::app
