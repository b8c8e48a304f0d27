#include <fmt/format.h>

#include <limits>
#include <memory>

#include "apps/biogpu/bwt_command.hpp"
#include "lib/bwt/bwa_index.hpp"
#include "lib/bwt/reference.hpp"
#include "lib/bwt/suffix_array.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

struct IndexFlags {
  SharedFlags shared;
  std::string path;
  std::string prefix;  // empty: path
  std::string format = "bwa";
};

constexpr char kFooter[] =
    "--format bwa writes PREFIX.amb, .ann, .pac, .bwt and .sa, the bytes that 'bwa index' "
    "writes.\n\n"
    "Examples:\n"
    "  biogpu bwt index --format bwa -p prefix genome.fa\n\n";

class IndexRun {
 public:
  IndexRun(const IndexFlags& flags, std::string command_line)
      : flags_(flags),
        command_line_(std::move(command_line)),
        log_("bwt index", flags.shared.quiet, flags.shared.verbose) {}

  void run() {
    report_.device = choose_device(flags_.shared.device_request, false);
    const bwt::Reference reference = bwt::read_reference(flags_.path, flags_.shared.threads);
    report_.read_s = log_.seconds();
    log_.detail(fmt::format("read {} records, {} bases, {} runs of other letters",
                            reference.contigs.size(), reference.text.size(),
                            reference.holes.size()));
    write_bwa(reference);
    report_.inputs.push_back({flags_.path, 0, reference.contigs.size()});
    report_.result = {{"format", flags_.format},
                      {"records", reference.contigs.size()},
                      {"bases", reference.text.size()}};
    log_.info(fmt::format("{} records, {} bases indexed in {:.2f} s", reference.contigs.size(),
                          reference.text.size(), log_.seconds()));
    write_bwt_json(flags_.shared, command_line_, log_, report_);
  }

 private:
  const std::string& prefix() const { return flags_.prefix.empty() ? flags_.path : flags_.prefix; }

  void write_bwa(const bwt::Reference& reference) {
    const bwt::PackedText text = bwt::with_reverse_complement(reference.text);
    const bwt::BwaBwt bwt = text.size() < std::numeric_limits<std::uint32_t>::max()
                                ? transform<std::uint32_t>(text)
                                : transform<std::uint64_t>(text);
    const double begin = log_.seconds();
    const std::uint64_t n_bytes = bwt::write_bwa_index(prefix(), reference, bwt);
    report_.write_s = log_.seconds() - begin;
    report_.outputs.push_back({prefix(), n_bytes});
  }

  template <class Index>
  bwt::BwaBwt transform(const bwt::PackedText& text) {
    const double begin = log_.seconds();
    bwt::SuffixSortSettings settings;
    settings.n_threads = flags_.shared.threads;
    bwt::SuffixSortReport sorted;
    const auto sa = bwt::sort_suffixes<Index>({text}, settings, &sorted);
    log_.detail(
        fmt::format("sorted {} suffixes in {:.2f} s: {} after direct comparison, {} rounds{}",
                    text.size(), log_.seconds() - begin, sorted.n_unresolved, sorted.n_rank_rounds,
                    sorted.induced ? ", by induction" : ""));
    bwt::BwaBwt bwt = bwt::make_bwa_bwt(text, sa, settings.n_threads);
    report_.compute_s = log_.seconds() - begin;
    return bwt;
  }

  const IndexFlags& flags_;
  const std::string command_line_;
  Log log_;
  BwtReport report_;
};

}  // namespace

Run add_bwt_index(CLI::App& command) {
  const auto flags = std::make_shared<IndexFlags>();
  command.add_option("genome", flags->path, "FASTA or FASTQ, plain, gzip or BGZF, - for stdin")
      ->required()
      ->option_text("GENOME");
  command.add_option("-p,--prefix", flags->prefix, "beginning of the index's name [GENOME]")
      ->option_text("PREFIX");
  command.add_option("--format", flags->format, "bwa [bwa]")
      ->check(CLI::IsMember({"bwa"}))
      ->option_text("WHAT");
  add_shared_flags(command, flags->shared);
  command.footer(std::string(kFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    flags->shared.resolve();
    if (flags->path == "-" && flags->prefix.empty())
      throw Error(ErrorCode::usage, "an index of standard input needs a name; add -p PREFIX");
    IndexRun(*flags, command_line).run();
  };
}

}  // namespace biogpu::app
