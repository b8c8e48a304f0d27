#pragma once

namespace biogpu::app {

// Opens /dev/null in the place of standard input, output and error that are closed: the next file
// opened would have their number, and what is printed would land in it. Reading the input and
// writing the output then fails, as nothing was read or kept; messages are lost. False where it
// cannot be opened.
bool open_closed_standard_files();

}  // namespace biogpu::app
