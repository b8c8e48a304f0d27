#include "apps/biogpu/command.hpp"

#include <utility>
#include <vector>

#include "lib/io/output_file.hpp"

namespace biogpu::app {

Run add_subcommands(CLI::App& command, std::span<const Subcommand> table,
                    const std::string& footer) {
  command.require_subcommand(1);
  command.footer(footer + kExitCodes);
  std::vector<std::pair<const CLI::App*, Run>> runs;
  for (const Subcommand& entry : table) {
    CLI::App* const added = command.add_subcommand(entry.name, entry.description);
    if (entry.group != nullptr) added->group(entry.group);
    runs.emplace_back(added, entry.add(*added));
  }
  return [runs = std::move(runs)](const std::string& command_line) {
    for (const auto& [added, run] : runs)
      if (added->parsed()) run(command_line);
  };
}

void print(const std::string& text) {
  io::OutputFile out("-");
  out.write(text);
  out.commit();
}

}  // namespace biogpu::app
