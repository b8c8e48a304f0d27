#pragma once

namespace biogpu::app {

// SIGINT and SIGTERM remove unfinished outputs and end with 130 and 143. SIGPIPE is ignored, so
// that a closed pipe is an error of the write that met it.
void install_signal_handlers();

}  // namespace biogpu::app
