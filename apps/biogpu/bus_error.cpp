#include "apps/biogpu/bus_error.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "lib/core/error.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

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
  io::remove_unfinished_outputs();
  write_text(begin_of_message, std::strlen(begin_of_message));
  write_text(path, std::strlen(path));
  write_text(": ", 2);
  write_text(io::kBecameShorter.data(), io::kBecameShorter.size());
  write_text("\n", 1);
  _exit(static_cast<int>(ErrorCode::failed));
}

}  // namespace

void install_bus_error_handler(std::string_view command) {
  message_begin() = "biogpu ";
  message_begin() += command;
  message_begin() += ": ";
  begin_of_message = message_begin().c_str();
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  action.sa_sigaction = end_by_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace biogpu::app
