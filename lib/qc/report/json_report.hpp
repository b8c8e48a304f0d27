#pragma once

#include <string>

#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::qc {

// fastp's JSON: its keys in its order, its spacing and its six digits, since readers match on the
// text, and one further last key, "biogpu", with our version. Text from outside is escaped, which
// fastp does not do.
std::string json_report(const Summary& summary, const Options& options, const std::string& command);

// The version that a profile stands for, as "0.23.2".
std::string fastp_version(Profile profile);

}  // namespace biogpu::qc
