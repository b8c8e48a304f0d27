// As read_structure.cpp it sees gemmi, and is built as C++17 by clang (CMakeLists.txt).
#include "lib/structure/read_parsed.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <gemmi/mmread.hpp>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/structure/pdb_text.hpp"
#include "lib/structure/read_mmcif.hpp"
#include "lib/structure/structure_text.hpp"

namespace biogpu::structure {
namespace {

constexpr std::size_t kMaxReason = 200;  // bytes of what gemmi says

std::string one_line(std::string text) {
  text.resize(std::min(text.size(), text.find('\n')));
  while (!text.empty() && (text.back() == ':' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

gemmi::Structure read_parsed(const std::string& path, std::string& text, Occupancies occupancies) {
  try {
    const auto format = gemmi::coor_format_from_content(text.data(), text.data() + text.size());
    if (format == gemmi::CoorFormat::Pdb) {
      prepare_pdb(path, text);
      return gemmi::read_pdb_from_memory(text.data(), text.size(), path);
    }
    if (format == gemmi::CoorFormat::Mmcif) return read_mmcif(path, text, occupancies);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    std::string what = one_line(error.what());
    if (begins(what, path + ":")) what.erase(0, path.size() + 1);
    fail(path, shortened(begins(what, " ") ? what.substr(1) : what, kMaxReason));
  }
  fail(path, "is neither PDB nor mmCIF");
}

}  // namespace biogpu::structure
