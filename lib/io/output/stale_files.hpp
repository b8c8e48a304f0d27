#pragma once

#include <string>

namespace biogpu::io::output {

// The next name of this process for an unfinished file in a folder ("" or with '/' at its end):
// .biogpu-MACHINE-PROCESS-NUMBER.tmp, not made from the final name, which may already be as long as
// names can be. MACHINE tells the running system and its space of process numbers.
std::string next_hidden_name(const std::string& folder);

// Removes from a folder the hidden files of processes of this machine that are no more: SIGKILL and
// a full memory leave them. Looks once into each folder.
void remove_stale_files(const std::string& folder);

}  // namespace biogpu::io::output
