#include "apps/biogpu/terminal/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <string>

#include "apps/biogpu/terminal/child_processes.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

void end_interrupted(int signal_number) {
  if (io::defer_signal(signal_number)) return;
  end_progress_line();
  end_children();
  io::remove_unfinished_outputs();
  _exit(128 + signal_number);
}

std::string& message_begin() {
  static std::string text;
  return text;
}
const char* begin_of_message = "";  // of the above: a handler calls nothing that may lock

void write_text(const char* text, std::size_t n) {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text, n);
}

void end_by_bus_error(int signal_number, siginfo_t* info, void*) {
  const char* const path = io::mapped_file_at(info->si_addr);
  if (path == nullptr) {  // some other fault: it strikes again, and ends the process
    signal(signal_number, SIG_DFL);
    return;
  }
  end_children();
  io::remove_unfinished_outputs();
  write_text(begin_of_message, std::strlen(begin_of_message));
  write_text(path, std::strlen(path));
  write_text(": ", 2);
  write_text(io::kBecameShorter.data(), io::kBecameShorter.size());
  write_text("\n", 1);
  _exit(static_cast<int>(ErrorCode::failed));
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  action.sa_handler = end_interrupted;
  action.sa_flags = SA_RESTART;  // the handler returns while outputs get their names
  for (const int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    // A job in the background of a shell is meant to ignore SIGINT, one under nohup SIGHUP.
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal_number, &action, nullptr);
  }
  // A closed pipe and a file at its size limit are errors of the write that met them.
  action.sa_handler = SIG_IGN;
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) sigaction(signal_number, &action, nullptr);
}

const char* install_bus_error_handler(std::string_view command) {
  message_begin() = "biogpu ";
  message_begin() += command;
  message_begin() += ": ";
  begin_of_message = message_begin().c_str();
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  action.sa_sigaction = end_by_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
  return begin_of_message;
}

}  // namespace biogpu::app
