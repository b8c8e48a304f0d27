// `biogpu man`: manual pages, made from the table that the command line is parsed with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/command.hpp"
#include "apps/biogpu/man_page.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

constexpr char kManFooter[] =
    "Examples:\n"
    "  biogpu man bwt index > biogpu-bwt-index.1\n"
    "  biogpu man --all man1\n\n";

struct ManFlags {
  std::vector<std::string> words;
  std::string folder;  // empty: one page to standard output
};

void write_all(const CommandEntry& root, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const CommandEntry* command : list_commands(root)) {
    io::OutputFile file(fmt::format("{}/{}.1", folder, man_name(*command)));
    file.write(man_page(*command));
    file.commit();
  }
}

void run_man(const ManFlags& flags, const CommandEntry& root) {
  if (!flags.folder.empty()) return write_all(root, flags.folder);
  const std::string path = fmt::format("{}", fmt::join(flags.words, " "));
  for (const CommandEntry* command : list_commands(root))
    if (command->path == path) return print(man_page(*command));
  throw Error(ErrorCode::usage, fmt::format("no command '{}'; see 'biogpu --help'", path));
}

}  // namespace

Run add_man(CLI::App& command) {
  command.footer(kManFooter + std::string(kExitCodes));
  const auto flags = std::make_shared<ManFlags>();
  CLI::Option* const words =
      command.add_option("COMMAND", flags->words, "as bwt index; none: biogpu itself")
          ->option_text(" ");
  command.add_option("--all", flags->folder, "write the pages of all commands there")
      ->excludes(words)
      ->option_text("FOLDER");
  return
      [flags, &command](const std::string&) { run_man(*flags, describe(*command.get_parent())); };
}

}  // namespace biogpu::app
