#pragma once

namespace biogpu::app {

// SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU remove unfinished outputs and end with 128 and the
// signal's number; while outputs get their names they wait. SIGPIPE and SIGXFSZ are ignored, so
// that a closed pipe and a size limit are errors of the write that met them.
void install_signal_handlers();

}  // namespace biogpu::app
