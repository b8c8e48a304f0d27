#pragma once

#include <string>
#include <string_view>

#include "lib/qc/options/options.hpp"
#include "lib/qc/steps/mate.hpp"

namespace biogpu::qc {

// The index behind the last ':' of a name, up to a '+'; and the one behind a '+'. Empty where there
// is none.
std::string_view first_index(std::string_view name);
std::string_view last_index(std::string_view name);

// A name ending in "/1" or "/2" gets a blank before the slash. Returns whether it did, in `fixed`.
bool fix_mgi_name(std::string_view name, std::string& fixed);

// Takes the UMI off the reads or out of their names and puts it into both names. mate2 and name2
// may be nullptr.
void apply_umi(Mate& mate1, std::string& name1, Mate* mate2, std::string* name2,
               const Options& options);

}  // namespace biogpu::qc
