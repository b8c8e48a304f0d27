#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/command_line/command_tree.hpp"

namespace biogpu::app {

// What a manual says of one command beyond its options: from the table that the command line is
// parsed with and from the footer of its help, so that help, man page and manual cannot differ.
struct ManualPage {
  // A name, as BIOGPU_THREADS or 2, and a sentence.
  struct Entry {
    std::string name;
    std::string text;
  };

  std::string name;                      // "biogpu-bwt-index"
  std::vector<std::string> description;  // paragraphs of sentences
  std::vector<std::string> examples;     // command lines
  std::vector<Entry> exit_status;
  std::vector<Entry> environment;
  std::vector<Entry> files;
};

ManualPage manual_page(const CommandEntry& command);

// "biogpu-bwt-index" of "bwt index".
std::string manual_name(const CommandEntry& command);

// The description of an option or a command as a sentence, which names the default at its end:
// "Use N threads. Default: 4." of "use N threads [4]".
std::string as_sentence(std::string_view description);

// A manual page of section 1 in the man macros. date: as 2026-11-29; may be empty.
std::string man_text(const CommandEntry& command, std::string_view date);

// A page of the manual in Markdown: the options of a command and of all commands below it.
std::string markdown_text(const CommandEntry& command);

}  // namespace biogpu::app
