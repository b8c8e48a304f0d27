// The subcommand table and the one place where an outcome becomes an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/help_format.hpp"
#include "apps/biogpu/command_line/usage_error.hpp"
#include "apps/biogpu/parasail/cmd_parasail.hpp"
#include "apps/biogpu/run/out_of_memory.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "apps/biogpu/terminal/signals.hpp"
#include "lib/core/cpu_isa.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/warnings.hpp"
#include "lib/io/thread_failure.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kCommands[] = {
    {"align", "align pairs of sequences: global, semi-global, local", add_align, "Sequence"},
    {"bwt", "index genomes, search them, and transform texts", add_bwt, "Sequence"},
    {"kmer", "count, query and compare k-mers", add_kmer, "Sequence"},
    {"qc", "trim, filter and report on FASTQ reads, as fastp does", add_qc, "Reads"},
    {"qc-merge", "merge the reports of the parts of a run", add_qc_merge, "Reads"},
    {"infer", "run models of proteins, structures, DNA and molecules", add_infer, "Models"},
    {"lab", "measure and check blocks of structure models", add_lab, "Models"},
    {"gather", "join the outputs of the parts of a run (--shard)", add_gather, "Parts"},
    {"devices", "list the GPUs that this build can use", add_devices, "About"},
    {"cite", "print the papers of the methods used, as BibTeX", add_cite, "About"},
    {"help", "print the help of a command", add_help, "About", true},
    {"completion", "print the script with which a shell completes command lines", add_completion,
     "About", true},
    {"man", "print manual pages of the commands", add_man, "About", true},
    {"version", "print version, backends, devices and build", add_version, "About"},
};

constexpr char kMainFooter[] =
    "Examples:\n"
    "  biogpu align --mode sw --pairs reads.fq.gz windows.fa -o out.tsv\n"
    "  biogpu kmer count -m 21 -C -o kmers.jf reads.fq.gz\n\n";

// One printable line, even where a file name or a library put line ends into the message.
int report(std::string_view command, std::string message, ErrorCode code) {
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < ' '; }, ' ');
  while (!message.empty() && message.back() == ' ') message.pop_back();
  constexpr std::size_t kLongest = 8000;
  constexpr std::size_t kEnd = 2000;  // says what was expected
  if (message.size() > kLongest)
    message.replace(kLongest - kEnd, message.size() - kLongest, " ... ");
  clear_progress_line();
  to_stderr(fmt::format("biogpu{}{}: {}\n", command.empty() ? "" : " ", command, message));
  return static_cast<int>(code);
}

int no_thread(std::string_view command) {
  const Error failure = io::thread_failure();
  return report(command, failure.what(), failure.code());
}

// The command that was named, down to the last word, and its path: "biogpu bwt index".
std::pair<const CLI::App*, std::string> parsed_command(const CLI::App& app) {
  const CLI::App* inner = &app;
  std::string path = "biogpu";
  while (!inner->get_subcommands().empty()) {
    inner = inner->get_subcommands().front();
    path += " " + inner->get_name();
  }
  return {inner, path};
}

// The help of a command that was named without any argument; empty for other command lines.
std::string usage_of_bare_command(const CLI::App& app, const std::vector<std::string>& words) {
  const auto [inner, path] = parsed_command(app);
  const auto n_words = static_cast<std::size_t>(std::count(path.begin(), path.end(), ' '));
  return words.size() == n_words ? help_text(*inner, path) + "\n" : std::string();
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, std::string_view command,
                const std::vector<std::string>& words) {
  if (words.empty()) {
    to_stderr(help_text(app, "biogpu"));
    return static_cast<int>(ErrorCode::usage);
  }
  if (command.empty()) {
    const std::string& first = words.front();
    const std::string nearest = suggest_command(app, first);
    return report(
        "",
        fmt::format("no {} {}{}", first.starts_with('-') ? "option" : "command",
                    biogpu::quoted(first), nearest.empty() ? "; see 'biogpu --help'" : nearest),
        ErrorCode::usage);
  }
  to_stderr(usage_of_bare_command(app, words));
  return report(command,
                fmt::format("{}; see '{} --help'", describe_usage_error(app, error, words),
                            parsed_command(app).second),
                ErrorCode::usage);
}

int run(const std::vector<std::string>& arguments) {
  std::string_view command;  // for messages, set before anything can fail
  const std::vector<std::string> words(arguments.begin() + (arguments.empty() ? 0 : 1),
                                       arguments.end());
  for (const Subcommand& entry : kCommands)
    if (!words.empty() && words.front() == entry.name) command = entry.name;
  set_out_of_memory_label(install_bus_error_handler(command));
  std::string usage;
  try {
    if (const auto parasail = parasail_arguments(arguments)) {
      command = "align parasail";
      prepare_cpu_isa();
      run_parasail(*parasail);
      return 0;
    }
    CLI::App app("Sequence analysis on CPUs and GPUs", "biogpu");
    app.formatter(std::make_shared<HelpFormatter>());
    // As in the original tools: of an option's values the last counts. Lists are not cut by it.
    app.option_defaults()->take_last();
    app.set_help_flag("-h,--help", "print this help and end");
    app.set_version_flag("--version", version_text, "print version, backends and devices");
    const Run run_parsed = add_subcommands(app, kCommands, kMainFooter, command);
    std::string command_line = "biogpu";
    for (const std::string& word : words) command_line += " " + word;
    try {
      std::vector<std::string> reversed = separate_empty_values(words);
      std::reverse(reversed.begin(), reversed.end());
      // fastp's -h wants the name of a report; alone it can only ask for help.
      if (words == std::vector<std::string>{"qc", "-h"}) reversed.front() = "--help";
      app.parse(reversed);
    } catch (const CLI::CallForHelp& help) {
      const auto [inner, path] = parsed_command(app);
      // "biogpu bwt idnex --help" asks for the help of another command.
      if (!command_names(*inner).empty() && !app.remaining(true).empty())
        return usage_error(app, help, command, words);
      print(help_text(*inner, path));
      return 0;
    } catch (const CLI::CallForVersion& version) {
      print(version.what());
      return 0;
    } catch (const CLI::ParseError& error) {
      return usage_error(app, error, command, words);
    }
    prepare_cpu_isa();
    io::set_warning_listener([command](const std::string& text) {
      clear_progress_line();
      to_stderr(fmt::format("[biogpu {}] warning: {}\n", command, text));
    });
    usage = usage_of_bare_command(app, words);
    mark_command_start();
    run_parsed(command_line);
    return 0;
  } catch (const ClosedPipe&) {
    return 0;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage) to_stderr(usage);
    return report(command, error.what(), error.code());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::filesystem::filesystem_error& error) {
    return report(command, fmt::format("{}: {}", error.path1().string(), error.code().message()),
                  ErrorCode::failed);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) return no_thread(command);
    return report(command, error.what(), ErrorCode::failed);
  } catch (const std::exception& error) {
    // oneTBB's, which has no type of its own.
    if (std::string_view(error.what()).starts_with("pthread_create")) return no_thread(command);
    return report(command, error.what(), ErrorCode::failed);
  }
}

// Opens /dev/null in the place of standard input, output and error that are closed: the next file
// opened would have their number, and what is printed would land in it. Reading the input and
// writing the output then fails, as nothing was read or kept; messages are lost. False where it
// cannot be opened.
bool open_closed_standard_files() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free, which is this one.
    const int mode = descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (open("/dev/null", mode) != descriptor) return false;
  }
  return true;
}

}  // namespace
}  // namespace biogpu::app

int main(int argc, char** argv) {
  // Without a place for messages there is none for the reason either.
  if (!biogpu::app::open_closed_standard_files())
    return static_cast<int>(biogpu::ErrorCode::failed);
  biogpu::app::install_signal_handlers();
  try {
    const int exit_code = biogpu::app::run({argv, argv + argc});
    biogpu::app::end_if_kept(exit_code);
    return exit_code;
  } catch (const std::bad_alloc&) {
    biogpu::app::report_out_of_memory(0);
    return static_cast<int>(biogpu::ErrorCode::host_memory);
  }
}
