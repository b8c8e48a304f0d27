// `biogpu kmer info`: the header of a database.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "apps/biogpu/kmer/commands.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"
#include "lib/kmer/database/reader.hpp"

namespace biogpu::app {
namespace {

struct InfoFlags {
  std::string path;
  bool skip = false;
  bool json = false;
  bool command = false;
};

void copy_records(kmer::DatabaseReader& reader, io::OutputFile& out) {
  const kmer::Header& header = reader.header();
  std::string bytes;
  for (kmer::CountBlock block; reader.read(block);) {
    bytes.clear();
    if (header.format == kmer::Format::jellyfish)
      kmer::append_jellyfish_records(header, block, bytes);
    else
      kmer::append_jellyfish_lines(header, block, ' ', bytes);
    out.write(bytes);
  }
}

// A word of a command as a shell reads it back, in quotes where Jellyfish puts them, and where it
// is empty.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word)
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  return text + "'";
}

std::string command_line(const kmer::Header& header) {
  std::string line = shell_word(header.program);
  for (const std::string& word : header.command) line += " " + shell_word(word);
  return line;
}

void run_info(const InfoFlags& flags) {
  check_files({flags.path}, std::vector<io::NamedFile>{{"standard output", "-"}});
  kmer::DatabaseReader reader(flags.path);
  const kmer::Header& header = reader.header();
  // In biogpu's own format all that lies behind the records.
  if (header.format == kmer::Format::bgk && !flags.skip)
    for (kmer::CountBlock block; reader.read(block);) {
    }
  io::OutputFile out("-");
  const std::string command = command_line(header);
  if (flags.skip)
    copy_records(reader, out);
  else if (flags.json)
    out.write(kmer::styled_header(header));
  else if (flags.command)
    out.write(command + "\n");
  else
    out.write(fmt::format("command: {}\nwhere: {}:{}\nwhen: {}\ncanonical: {}\n", command,
                          header.host, header.folder, header.time,
                          header.canonical ? "yes" : "no"));
  out.commit();
}

}  // namespace

Run add_kmer_info(CLI::App& command) {
  const auto flags = std::make_shared<InfoFlags>();
  command.add_option("DB", flags->path, "file of the database; - is standard input")
      ->required()
      ->option_text(" ");
  command.add_flag("-s,--skip", flags->skip, "write the records as they are, without the header")
      ->option_text(" ");
  command.add_flag("-j,--json", flags->json, "print the whole header as JSON")->option_text(" ");
  command.add_flag("-c,--cmd", flags->command, "print only the command line that made the file")
      ->option_text(" ");
  command.footer(std::string("Examples:\n"
                             "  biogpu kmer info out.jf\n"
                             "  biogpu kmer info --json out.jf\n\n") +
                 kExitCodes);
  return [flags](const std::string&) { run_info(*flags); };
}

}  // namespace biogpu::app
