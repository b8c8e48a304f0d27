#include "apps/biogpu/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include "apps/biogpu/progress.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

void end_interrupted(int signal_number) {
  end_progress_line();
  io::remove_unfinished_outputs();
  _exit(128 + signal_number);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  action.sa_handler = end_interrupted;
  for (const int signal_number : {SIGINT, SIGTERM}) {
    // A job started in the background by a shell is meant to ignore SIGINT.
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal_number, &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace biogpu::app
