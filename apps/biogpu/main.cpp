// The subcommand table and the one place where an outcome becomes an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/biogpu/command.hpp"
#include "apps/biogpu/parasail/cmd_parasail.hpp"
#include "apps/biogpu/progress.hpp"
#include "apps/biogpu/signals.hpp"
#include "lib/core/cpu_isa.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kCommands[] = {
    {"align", "align pairs of sequences: global, semi-global, local", add_align, "Sequence"},
    {"bwt", "suffix arrays, Burrows-Wheeler transform and FM-index", add_bwt, "Sequence"},
    {"kmer", "count, query and compare k-mers", add_kmer, "Sequence"},
    {"qc", "trim, filter and report on FASTQ reads, as fastp does", add_qc, "Reads"},
    {"qc-merge", "the reports of a whole run from those of its parts", add_qc_merge, "Reads"},
    {"infer", "run models of proteins: ESM-2, ProtBERT, ProteinMPNN", add_infer, "Models"},
    {"gather", "join the outputs of parts (--shard)", add_gather, "Parts"},
    {"devices", "list the GPUs that this build can use", add_devices, "About"},
    {"cite", "the papers of the methods used, as BibTeX", add_cite, "About"},
    {"completion", "what a shell needs to complete a command line", add_completion, "About"},
    {"man", "manual pages of the commands", add_man, "About"},
    {"version", "print version, backends, devices and build", add_version, "About"},
};

constexpr char kMainFooter[] =
    "Examples:\n"
    "  biogpu align --mode sw --pairs reads.fq.gz windows.fa -o out.tsv\n"
    "  biogpu kmer count -m 21 -C -o kmers.jf reads.fq.gz\n\n";

// Always one line, whatever a file name or a library put into the message.
int report(std::string_view command, std::string message, ErrorCode code) {
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < ' '; }, ' ');
  while (!message.empty() && message.back() == ' ') message.pop_back();
  to_stderr(fmt::format("biogpu{}{}: {}\n", command.empty() ? "" : " ", command, message));
  return static_cast<int>(code);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t same = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, same});
    }
  }
  return row[b.size()];
}

// "; did you mean 'align'?" for a near miss, else where to look.
std::string suggestion(std::string_view word) {
  if (word == "-v" || word == "-V") return "; did you mean '--version'?";
  if (word == "help") return "; did you mean '--help'?";
  if (word.starts_with('-')) return "; see 'biogpu --help'";
  for (const Subcommand& command : kCommands)
    if (edit_distance(word, command.name) <= 2)
      return fmt::format("; did you mean '{}'?", command.name);
  return "; see 'biogpu --help'";
}

// What of the command line belongs to no option or argument, told by its first option, if it has
// one: only that one is wrong for sure. Empty where nothing is left over.
std::string tell_unexpected(const CLI::App& inner, const std::vector<std::string>& words) {
  const auto found = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word[0] == '-';
  });
  if (found == words.end()) {
    if (words.empty()) return {};
    const bool has_commands = !inner.get_subcommands({}).empty();
    return fmt::format("{} '{}'",
                       has_commands ? "no command" : "one argument too many:", words.front());
  }
  const std::string option = found->substr(0, found->find('='));
  if (option.starts_with("--"))
    for (const CLI::Option* known : inner.get_options())
      for (const std::string& name : known->get_lnames())
        if (edit_distance(option.substr(2), name) <= 2)
          return fmt::format("no option '{}'; did you mean '--{}'?", option, name);
  return fmt::format("no option '{}'", option);
}

// CLI11 leaves two empty lines between groups.
std::string tidy(std::string help) {
  for (std::size_t at; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
  return help;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, std::string_view command,
                std::string_view first) {
  if (command.empty() && first.empty()) {
    to_stderr(tidy(app.help()));
    return static_cast<int>(ErrorCode::usage);
  }
  if (command.empty())
    return report("",
                  fmt::format("no {} '{}'{}", first.starts_with('-') ? "option" : "command", first,
                              suggestion(first)),
                  ErrorCode::usage);
  const CLI::App* inner = &app;
  std::string path;
  while (!inner->get_subcommands().empty()) {
    inner = inner->get_subcommands().front();
    path += inner->get_name() + " ";
  }
  std::string what = tell_unexpected(*inner, app.remaining(true));
  // What is missing may be what stands behind an argument that is not known.
  if (what.empty() || (!what.starts_with("no ") &&
                       error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)))
    what = error.what();
  return report(command, fmt::format("{}; see 'biogpu {}--help'", what, path), ErrorCode::usage);
}

int run(const std::vector<std::string>& arguments) {
  std::string_view command;  // for messages, set before anything can fail
  const std::string_view first = arguments.size() > 1 ? std::string_view(arguments[1]) : "";
  for (const Subcommand& entry : kCommands)
    if (first == entry.name) command = entry.name;
  try {
    if (const auto parasail = parasail_arguments(arguments)) {
      command = "align parasail";
      prepare_cpu_isa();
      run_parasail(*parasail);
      return 0;
    }
    CLI::App app("Sequence analysis on CPUs and GPUs", "biogpu");
    app.get_formatter()->column_width(32);
    app.set_help_flag("-h,--help", "print this help");
    app.set_version_flag("--version", version_text, "print version, backends and devices");
    const Run run_parsed = add_subcommands(app, kCommands, kMainFooter);
    std::string command_line = "biogpu";
    for (std::size_t i = 1; i < arguments.size(); ++i) command_line += " " + arguments[i];
    try {
      std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
      app.parse(reversed);
    } catch (const CLI::CallForHelp&) {
      print(tidy(app.help()));
      return 0;
    } catch (const CLI::CallForVersion& version) {
      print(version.what());
      return 0;
    } catch (const CLI::ParseError& error) {
      return usage_error(app, error, command, first);
    }
    prepare_cpu_isa();
    run_parsed(command_line);
    return 0;
  } catch (const ClosedPipe&) {
    return 0;
  } catch (const Error& error) {
    return report(command, error.what(), error.code());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return report(command, error.what(), ErrorCode::failed);
  }
}

}  // namespace
}  // namespace biogpu::app

int main(int argc, char** argv) {
  biogpu::app::install_signal_handlers();
  try {
    return biogpu::app::run({argv, argv + argc});
  } catch (const std::bad_alloc&) {
    // No memory to format with.
    constexpr std::string_view kText =
        "biogpu: out of memory; try a smaller --batch where there is one\n";
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, kText.data(), kText.size());
    return static_cast<int>(biogpu::ErrorCode::host_memory);
  }
}
