#include "apps/biogpu/align/options/modes.hpp"

#include <array>

namespace biogpu::app {
namespace {

// Free ends: query begin, query end, target begin, target end.
constexpr align::FreeEnds kAllFree{true, true, true, true};
constexpr std::array kModes = {
    ModeName{"nw", align::Mode::global, {}},
    ModeName{"global", align::Mode::global, {}},
    ModeName{"sw", align::Mode::local, {}},
    ModeName{"local", align::Mode::local, {}},
    ModeName{"sg", align::Mode::semiglobal, kAllFree},
    ModeName{"semiglobal", align::Mode::semiglobal, kAllFree},
    ModeName{"sg_qb", align::Mode::semiglobal, {true, false, false, false}},
    ModeName{"sg_qe", align::Mode::semiglobal, {false, true, false, false}},
    ModeName{"sg_qx", align::Mode::semiglobal, {true, true, false, false}},
    ModeName{"sg_db", align::Mode::semiglobal, {false, false, true, false}},
    ModeName{"sg_de", align::Mode::semiglobal, {false, false, false, true}},
    ModeName{"sg_dx", align::Mode::semiglobal, {false, false, true, true}},
    ModeName{"sg_qb_de", align::Mode::semiglobal, {true, false, false, true}},
    ModeName{"sg_qe_db", align::Mode::semiglobal, {false, true, true, false}},
    ModeName{"sg_qb_db", align::Mode::semiglobal, {true, false, true, false}},
    ModeName{"sg_qe_de", align::Mode::semiglobal, {false, true, false, true}},
    ModeName{"sg_qx_db", align::Mode::semiglobal, {true, true, true, false}},
    ModeName{"sg_qx_de", align::Mode::semiglobal, {true, true, false, true}},
    ModeName{"sg_qb_dx", align::Mode::semiglobal, {true, false, true, true}},
    ModeName{"sg_qe_dx", align::Mode::semiglobal, {false, true, true, true}},
};

}  // namespace

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  names.reserve(kModes.size());
  for (const ModeName& mode : kModes) names.emplace_back(mode.name);
  return names;
}

std::optional<ModeName> find_mode(std::string_view name) {
  for (const ModeName& mode : kModes)
    if (name == mode.name) return mode;
  return std::nullopt;
}

}  // namespace biogpu::app
