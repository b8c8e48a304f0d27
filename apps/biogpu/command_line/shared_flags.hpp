#pragma once

#include <initializer_list>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/shared_options.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

// Declares the options of SharedFlags on a command.
void add_shared_flags(CLI::App& command, SharedFlags& flags);

// Declares -t, the threads of the CPU, which all commands have in common; 0 becomes all that the
// process may use.
CLI::Option* add_threads_flag(CLI::App& command, int& threads, const std::string& heading = {});

// The threads of a command that is not given any: BIOGPU_THREADS, else `otherwise`. Throws
// Error{usage} where the variable is no such number.
int default_threads(int otherwise);
// The same with up to four as the number without the variable.
int default_threads();

// The words of --progress.
CLI::Validator progress_words();

// Takes options away again that would have no effect on a command.
void remove_flags(CLI::App& command, std::initializer_list<const char*> names);

// Declares --shard; `what` says what is cut and how the parts are put together again.
void add_shard_flag(CLI::App& command, io::Shard& shard, const std::string& what);

}  // namespace biogpu::app
