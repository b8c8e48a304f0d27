#include <fmt/format.h>

#include <memory>
#include <utility>

#include "apps/biogpu/command.hpp"
#include "apps/biogpu/log.hpp"
#include "apps/biogpu/qc_flags.hpp"
#include "apps/biogpu/qc_text.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/qc/prepare/prepare.hpp"
#include "lib/qc/report/html_report.hpp"
#include "lib/qc/report/json_report.hpp"
#include "lib/qc/run/run.hpp"

namespace biogpu::app {
namespace {

constexpr char kFooter[] =
    "Takes fastp's options and writes fastp's reads and JSON. -h is the HTML report, as in "
    "fastp.\n\n"
    "Examples:\n"
    "  biogpu qc -i reads.fq.gz -o clean.fq.gz\n"
    "  biogpu qc -i r1.fq.gz -I r2.fq.gz -o clean1.fq.gz -O clean2.fq.gz -j qc.json -h qc.html\n\n";

class QcRun {
 public:
  QcRun(QcFlags& flags, std::string command_line)
      : flags_(flags),
        command_line_(std::move(command_line)),
        log_("qc", flags.quiet, flags.verbose) {}

  void run() {
    for (const std::string& remark : flags_.resolve()) say(remark);
    if (flags_.device_request.kind == DeviceRequest::Kind::gpu ||
        flags_.device_request.kind == DeviceRequest::Kind::listed)
      throw Error(ErrorCode::device, "--device " + flags_.device +
                                         ": qc has no GPU kernels yet; use --device cpu or auto");
    qc::Options& options = flags_.options;
    // Reports that cannot be written are found out before the work is done.
    io::OutputFile json(options.json);
    io::OutputFile html(options.html);
    qc::prepare(options, [&](const std::string& line) { say(line); });
    qc::RunSettings settings;
    settings.n_threads = flags_.threads;
    if (flags_.batch > 0) settings.batch_records = flags_.batch;
    const qc::RunResult result = qc::run(options, settings, [&](const qc::RunResult& whole) {
      json.write(qc::json_report(whole.summary, options, command_line_ + " ", ""));
      html.write(qc::html_report(whole.summary, options, command_line_));
      json.commit();
      html.commit();
    });
    for (const std::string& remark : result.remarks) log_.warn(remark);
    say(qc_text(result.summary, options));
    say(fmt::format("JSON report: {}\nHTML report: {}\n\ncommand: {}", options.json, options.html,
                    command_line_));
    log_.detail(fmt::format("read {:.2f} s, compute {:.2f} s over all threads, write {:.2f} s",
                            result.read_s, result.compute_s, result.write_s));
    log_.info(fmt::format("{} {} in {:.2f} s", result.n_records,
                          options.paired() ? "pairs" : "reads", log_.seconds()));
  }

 private:
  void say(const std::string& text) {
    if (!flags_.quiet) fmt::print(stderr, "{}\n", text);
  }

  QcFlags& flags_;
  const std::string command_line_;
  Log log_;
};

}  // namespace

Run add_qc(CLI::App& command) {
  // fastp's -h names the HTML report.
  command.set_help_flag("--help,-?", "print this help");
  command.footer(kFooter + std::string(kExitCodes));
  auto flags = std::make_shared<QcFlags>();
  add_qc_flags(command, *flags);
  return [flags](const std::string& command_line) { QcRun(*flags, command_line).run(); };
}

}  // namespace biogpu::app
