#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lib/core/cost_model.hpp"

namespace biogpu::cost {

// What rates belong to: version, CPU, GPU backend and the display controllers and accelerators of
// the PCI bus. Asks no driver. One line.
std::string machine_key();

// The text of a file of the rates that are known, and the rates of such a text: nothing where it is
// not one, is for another key, or holds a number that can be no rate. Rates that it does not name
// are the defaults.
std::string format_rates(std::string_view key, const Machine& machine);
std::optional<Machine> parse_rates(std::string_view text, std::string_view key);

// Where files lie that later runs read: $XDG_CACHE_HOME/biogpu or ~/.cache/biogpu; empty where
// neither variable is an absolute path. It need not be there.
std::filesystem::path cache_folder();

// The file of the rates of a key in cache_folder(); empty where there is none.
std::filesystem::path rates_file(std::string_view key);

// The rates that runs on this machine left, none where there were no such runs. Never throws for a
// file that is missing, unreadable or damaged.
Machine load_rates();
// Puts what was seen into the file. A folder that cannot be written is no error: then nothing is
// kept.
void keep_rates(const Observed& seen) noexcept;

}  // namespace biogpu::cost
