#include "apps/biogpu/manual/manual_page.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

namespace biogpu::app {
namespace {

// A part of a page that commands with one of the options have; without any option, all.
struct Topic {
  const char* option;
  const char* name;
  const char* text;
};

constexpr Topic kEnvironment[] = {
    {"--threads", "BIOGPU_THREADS",
     "Number of CPU threads where --threads is not given; 0 is all that are allowed."},
    {"--device", "BIOGPU_DEVICE",
     "Device where --device is not given: auto, cpu, gpu, or numbers as 0,1."},
    {"--device", "CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES",
     "GPUs that the program sees. The numbers of --device count these."},
    {"", "BIOGPU_CPU_ISA",
     "Instruction set of the CPU's kernels: sse4, avx2, avx3 or avx3_dl, on Arm neon. A name that "
     "the CPU cannot run is an error. Default: the best one of the CPU."},
    {"--device", "XDG_CACHE_HOME", "Folder of the measured rates. Default: ~/.cache."},
    {"--tmp-dir", "TMPDIR", "Folder of temporary files where --tmp-dir is not given."},
    {"--shell", "SHELL", "Shell of --generator where --shell is not given."},
    {"--no-provenance", "SOURCE_DATE_EPOCH",
     "Time in the header of a database, in seconds since 1970, in place of the present time."},
};

constexpr Topic kFiles[] = {
    {"--model", "FOLDER/config.json, FOLDER/*.safetensors",
     "A model: its shape, and its weights. 'biogpu infer models' lists where weights are "
     "published."},
    {"--genome", "GENOME.fai, GENOME.gzi",
     "Indexes beside a genome. A missing one is made, and kept in memory where the folder cannot "
     "be written."},
    {"--prefix", "PREFIX.bgfm", "The native index of a genome."},
    {"--prefix", "PREFIX.amb, PREFIX.ann, PREFIX.pac, PREFIX.bwt, PREFIX.sa",
     "The index of bwa, written with --format bwa."},
    {"--resume", "OUTPUT.partial",
     "Finished batches of a run with --resume. It is removed when the run is complete."},
    {"--device", "~/.cache/biogpu/rates-*.txt",
     "Rates of the CPU and of GPUs, measured in earlier runs, by which --device auto decides. The "
     "files may be removed."},
    {"--output", ".biogpu-*.tmp",
     "An output that is not complete, on file systems without unnamed files, as NFS. After a kill "
     "it remains until the next command writes to this folder."},
};

bool has_option(const CommandEntry& command, std::string_view name) {
  return std::any_of(command.options.begin(), command.options.end(), [&](const OptionEntry& o) {
    return std::find(o.names.begin(), o.names.end(), name) != o.names.end();
  });
}

bool concerns(const Topic& topic, const CommandEntry& command) {
  if (*topic.option == '\0' || command.path.empty()) return true;
  return has_option(command, topic.option);
}

template <std::size_t kN>
std::vector<ManualPage::Entry> entries_of(const Topic (&topics)[kN], const CommandEntry& command) {
  std::vector<ManualPage::Entry> entries;
  for (const Topic& topic : topics)
    if (concerns(topic, command)) entries.push_back({topic.name, topic.text});
  return entries;
}

// "0 done, 1 failed, 130 and 143 interrupted" as entries.
std::vector<ManualPage::Entry> exit_entries(std::string_view list) {
  std::vector<ManualPage::Entry> entries;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    std::string_view item = list.substr(0, end);
    list.remove_prefix(std::min(list.size(), end + 2));
    const auto is_of_codes = [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    };
    const std::size_t last_digit =
        item.size() - 1 -
        static_cast<std::size_t>(std::find_if(item.rbegin(), item.rend(), is_of_codes) -
                                 item.rbegin());
    entries.push_back({std::string(item.substr(0, last_digit + 1)),
                       as_sentence(item.substr(std::min(item.size(), last_digit + 2)))});
  }
  return entries;
}

std::string stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

// Takes the footer of a help apart: notes, "Examples:", "Exit codes:".
void read_footer(const std::string& footer, ManualPage& page) {
  enum class Part { notes, examples, exit_codes } part = Part::notes;
  constexpr std::string_view kExamples = "Examples:", kExit = "Exit codes: ";
  bool begins_paragraph = true;
  std::string exit_codes;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kExamples)) {
      part = Part::examples;
      continue;
    }
    if (line.starts_with(kExit)) {
      part = Part::exit_codes;
      line.erase(0, kExit.size());
    }
    const std::string text = stripped(line);
    if (part == Part::notes && text.empty()) {
      begins_paragraph = true;
    } else if (part == Part::notes && begins_paragraph) {
      page.description.push_back(text);
      begins_paragraph = false;
    } else if (part == Part::notes) {
      page.description.back() += " " + text;
    } else if (part == Part::examples && !text.empty()) {
      if (!page.examples.empty() && page.examples.back().ends_with('\\')) {
        page.examples.back().pop_back();
        page.examples.back() += text;
      } else {
        page.examples.push_back(text);
      }
    } else if (part == Part::exit_codes) {
      exit_codes += (exit_codes.empty() ? "" : " ") + text;
    }
  }
  page.exit_status = exit_entries(exit_codes);
}

}  // namespace

std::string manual_name(const CommandEntry& command) {
  std::string name = "biogpu";
  if (!command.path.empty()) name += "-";
  name += command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string as_sentence(std::string_view description) {
  std::string text(description);
  std::string standard;  // the value in brackets at the end
  if (const std::size_t at = text.rfind(" ["); text.ends_with(']') && at != std::string::npos) {
    standard = text.substr(at + 2, text.size() - at - 3);
    text.resize(at);
  }
  // A word of capitals or with a sign stays as it is.
  std::string_view word = std::string_view(text).substr(0, text.find(' '));
  if (word.ends_with(',') || word.ends_with(':')) word.remove_suffix(1);
  const bool is_plain = std::all_of(
      word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0 || c == '-'; });
  if (is_plain && !text.empty() && text[0] != '-')
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  if (!text.empty() && !text.ends_with('.')) text += '.';
  constexpr std::string_view kStdout = "-, ";
  if (standard.starts_with(kStdout)) standard.erase(0, kStdout.size());
  if (!standard.empty()) text += " Default: " + standard + ".";
  return text;
}

ManualPage manual_page(const CommandEntry& command) {
  ManualPage page;
  page.name = manual_name(command);
  page.description.push_back(as_sentence(command.description));
  read_footer(command.footer, page);
  page.environment = entries_of(kEnvironment, command);
  page.files = entries_of(kFiles, command);
  return page;
}

}  // namespace biogpu::app
