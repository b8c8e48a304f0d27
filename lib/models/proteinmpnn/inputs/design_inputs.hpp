#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/models/proteinmpnn/inputs/complex.hpp"
#include "lib/models/proteinmpnn/inputs/constraints.hpp"

namespace biogpu::models::proteinmpnn {

// What a run asks of every structure, on the command line and in the JSONL files of the original
// (dauparas/ProteinMPNN, README and helper_scripts). Positions count from 1 within a chain as
// read_structure() gives it.
struct DesignRequest {
  std::vector<std::string> chains;  // to design; empty: all
  std::string fixed;                // "A1-10 B5"
  std::string omit;                 // letters that are never drawn
  bool allow_x = false;             // X may be drawn, which otherwise is omitted
  std::map<char, double> bias;
  bool homooligomer = false;  // ties equal positions of all designed chains

  std::string chain_id_jsonl, fixed_positions_jsonl, omit_aa_jsonl, bias_aa_jsonl;
  std::string bias_by_res_jsonl, tied_positions_jsonl, pssm_jsonl;
  float pssm_multi = 0, pssm_threshold = 0;
  bool pssm_log_odds = false, pssm_bias = false;
};

// The files of a request, read. Errors: Error{failed} where a file cannot be read,
// Error{bad_input} with file and structure for what is in none or is malformed.
class DesignInputs {
 public:
  explicit DesignInputs(DesignRequest request);

  ChainChoice chains(const structure::Structure& structure) const;
  Constraints constraints(const Complex& complex) const;

 private:
  struct File {
    std::string path;             // empty: not given
    nlohmann::ordered_json json;  // tied residues are decoded in the file's order
  };
  static File read(const std::string& path, bool merge);
  void fix_listed(const Complex& complex, Constraints& constraints) const;
  void fix_positions(const Complex& complex, Constraints& constraints) const;
  void omit_positions(const Complex& complex, Constraints& constraints) const;
  void add_bias(const Complex& complex, Constraints& constraints) const;
  void add_profiles(const Complex& complex, Constraints& constraints) const;
  void tie(const Complex& complex, Constraints& constraints) const;
  void tie_chains(const Complex& complex, Constraints& constraints) const;
  void omit_letters(Constraints& constraints) const;
  void check_omitted(const Complex& complex, const Constraints& constraints) const;
  void check_tied(const Complex& complex, const Constraints& constraints) const;

  DesignRequest request_;
  File chain_ids_, fixed_, omit_, bias_, bias_at_, tied_, profiles_;
};

}  // namespace biogpu::models::proteinmpnn
