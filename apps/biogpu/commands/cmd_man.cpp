// `biogpu man`: manual pages of section 1 and pages of the manual, made from the table that the
// command line is parsed with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/command_tree.hpp"
#include "apps/biogpu/manual/manual_page.hpp"
#include "apps/biogpu/parasail/options.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

constexpr char kManFooter[] =
    "Examples:\n"
    "  biogpu man bwt index > biogpu-bwt-index.1\n"
    "  biogpu man --all man1\n"
    "  biogpu man --markdown kmer > kmer.md\n\n";

struct ManFlags {
  std::vector<std::string> words;
  std::string folder;  // empty: one page to standard output
  bool markdown = false;
};

std::string page_of(const CommandEntry& command, bool markdown) {
  return markdown ? markdown_text(command) : man_text(command, build_date());
}

// Man pages of all commands, or pages of the manual of those that stand right below biogpu.
void write_all(const CommandEntry& root, const ManFlags& flags) {
  std::filesystem::create_directories(flags.folder);
  std::vector<io::OutputFile> files;
  for (const CommandEntry* command : list_commands(root)) {
    if (flags.markdown && (command->path.empty() || command->path.find(' ') != std::string::npos))
      continue;
    const std::string name = flags.markdown ? command->path + ".md" : manual_name(*command) + ".1";
    io::OutputFile& file = files.emplace_back(fmt::format("{}/{}", flags.folder, name));
    file.write(page_of(*command, flags.markdown));
    file.finish();
  }
  const io::CommitGuard guard;
  for (io::OutputFile& file : files) file.commit();
}

void run_man(const ManFlags& flags, const CommandEntry& root) {
  if (!flags.folder.empty()) return write_all(root, flags);
  const std::string path = fmt::format("{}", fmt::join(flags.words, " "));
  for (const CommandEntry* command : list_commands(root))
    if (command->path == path) return print(page_of(*command, flags.markdown));
  throw Error(ErrorCode::usage, fmt::format("no command '{}'; see 'biogpu --help'", path));
}

}  // namespace

Run add_man(CLI::App& command) {
  command.footer(kManFooter + std::string(kExitCodes));
  const auto flags = std::make_shared<ManFlags>();
  CLI::Option* const words =
      command
          .add_option("COMMAND", flags->words,
                      "command whose page is printed, as bwt index [biogpu itself]")
          ->option_text(" ");
  command.add_option("--all", flags->folder, "write the pages of all commands to this folder")
      ->excludes(words)
      ->option_text("FOLDER");
  command
      .add_flag("--markdown", flags->markdown,
                "write tables of options in Markdown, a page for each command of biogpu")
      ->option_text(" ");
  return [flags, &command](const std::string&) {
    CommandEntry root = describe(*command.get_parent());
    add_parasail_entry(root);
    run_man(*flags, root);
  };
}

}  // namespace biogpu::app
