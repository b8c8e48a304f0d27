#include "apps/biogpu/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <initializer_list>

#include "apps/biogpu/progress.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

void end_interrupted(int signal_number) {
  if (io::defer_signal(signal_number)) return;
  end_progress_line();
  io::remove_unfinished_outputs();
  _exit(128 + signal_number);
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

}  // namespace biogpu::app
