#pragma once

#include <cstddef>
#include <string>

namespace biogpu::test {

// The atoms of a PDB file as mmCIF.
inline std::string as_mmcif(const std::string& pdb) {
  std::string cif =
      "data_x\nloop_\n_atom_site.group_PDB\n_atom_site.id\n_atom_site.type_symbol\n"
      "_atom_site.label_atom_id\n_atom_site.label_alt_id\n_atom_site.label_comp_id\n"
      "_atom_site.label_asym_id\n_atom_site.label_entity_id\n_atom_site.label_seq_id\n"
      "_atom_site.pdbx_PDB_ins_code\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n"
      "_atom_site.Cartn_z\n_atom_site.occupancy\n_atom_site.B_iso_or_equiv\n"
      "_atom_site.auth_seq_id\n_atom_site.auth_asym_id\n_atom_site.pdbx_PDB_model_num\n";
  int serial = 0, model = 1;
  for (std::size_t begin = 0; begin < pdb.size();) {
    const std::size_t end = pdb.find('\n', begin);
    const std::string line = pdb.substr(begin, end - begin);
    begin = end + 1;
    if (line.rfind("ENDMDL", 0) == 0) ++model;
    if (line.rfind("ATOM", 0) != 0 && line.rfind("HETATM", 0) != 0) continue;
    const auto field = [&](std::size_t at, std::size_t n) {
      std::string text = line.substr(at, n);
      text.erase(0, text.find_first_not_of(' '));
      const std::size_t last = text.find_last_not_of(' ');
      text.resize(last == std::string::npos ? 0 : last + 1);
      return text;
    };
    const auto or_dot = [](const std::string& text) { return text.empty() ? "." : text; };
    const std::string atom = field(12, 4);
    cif += field(0, 6) + " " + std::to_string(++serial) + " " + atom.substr(0, 1) + " " + atom +
           " " + or_dot(field(16, 1)) + " " + field(17, 3) + " Z 1 . " + or_dot(field(26, 1)) +
           " " + field(30, 8) + " " + field(38, 8) + " " + field(46, 8) + " " +
           or_dot(field(54, 6)) + " 10.0 " + field(22, 4) + " " + field(21, 1) + " " +
           std::to_string(model) + "\n";
  }
  return cif + "#\n";
}

}  // namespace biogpu::test
