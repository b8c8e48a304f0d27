#include "apps/biogpu/parasail/cmd_parasail.hpp"

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/command_line/shared_options.hpp"
#include "apps/biogpu/parasail/flags.hpp"
#include "apps/biogpu/parasail/options.hpp"
#include "apps/biogpu/parasail/run.hpp"

namespace biogpu::app {

std::optional<std::vector<std::string>> parasail_arguments(
    const std::vector<std::string>& arguments) {
  const auto from = [&](std::ptrdiff_t n) {
    return std::vector<std::string>(arguments.begin() + n, arguments.end());
  };
  if (!arguments.empty() && arguments[0].ends_with("parasail_aligner")) return from(1);
  if (arguments.size() > 2 && arguments[1] == "align" && arguments[2] == "parasail") return from(3);
  return std::nullopt;
}

void run_parasail(const std::vector<std::string>& arguments) {
  ParasailFlags flags = parse_parasail_flags(arguments);
  if (flags.help) {
    print(parasail_help());
    return;
  }
  if (flags.threads == 0) flags.threads = default_threads(allowed_cpus());
  ParasailRun(flags).run();
}

}  // namespace biogpu::app
