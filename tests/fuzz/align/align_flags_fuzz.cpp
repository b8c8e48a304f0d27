// The options of `biogpu align` from any text, one argument a line: refused as wrong usage, or
// scoring whose values the kernels can hold.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/biogpu/align/options/flags.hpp"
#include "apps/biogpu/align/options/scoring.hpp"
#include "lib/core/error.hpp"

using namespace biogpu;

namespace {

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void check(const app::AlignFlags& flags) {
  for (const auto alphabet : {app::Alphabet::dna, app::Alphabet::protein}) {
    const align::Options options = app::make_options(flags, alphabet);
    const align::Scoring& scoring = options.scoring;
    if (scoring.gap_open < 0 || scoring.gap_extend < 0) std::abort();
    if (scoring.n_classes < 1 || scoring.n_classes > align::kMaxClasses) std::abort();
    app::describe_scoring(flags, alphabet);
    app::find_parameters(flags, alphabet);
  }
  if (flags.shared.threads < 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  CLI::App command("align", "align");
  app::AlignFlags flags;
  app::add_align_flags(command, flags);
  std::vector<std::string> arguments = split_lines({reinterpret_cast<const char*>(bytes), n});
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    command.parse(arguments);
    flags.resolve();
    check(flags);
  } catch (const CLI::ParseError&) {
  } catch (const Error& error) {
    // --matrix may name a file that is no matrix.
    if (error.code() != ErrorCode::usage && flags.matrix.empty()) std::abort();
  }
  return 0;
}
