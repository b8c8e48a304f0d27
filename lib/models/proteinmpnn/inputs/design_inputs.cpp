#include "lib/models/proteinmpnn/inputs/design_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/models/proteinmpnn/inputs/design_json.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr std::size_t kMaxLineBytes = 1u << 30;  // of all structures, or of all positions of one

}  // namespace

Constraints free_design(const Complex& complex) {
  Constraints constraints;
  for (std::size_t i = 0; i < complex.present.size(); ++i)
    constraints.free.push_back(complex.designed[i] != 0 && complex.present[i] != 0 ? 1 : 0);
  return constraints;
}
DesignInputs::File DesignInputs::read(const std::string& path, bool merge) {
  File file{path, Json::object()};
  if (path.empty()) return file;
  io::LineReader lines(path, "a JSON object on each line", kMaxLineBytes);
  std::string line;
  while (lines.next(line)) {
    const std::uint64_t number = lines.number();
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    check_json_depth(line, fmt::format("{}: line {}", path, number));
    Json json = Json::parse(line, nullptr, false);
    if (!json.is_object())
      throw_bad_entry(path, fmt::format("line {}", number), "is no JSON object");
    if (merge) {
      file.json.update(json);
    } else {
      file.json = std::move(json);
    }
  }
  return file;
}

// Of several lines the original takes the last, and joins those of profiles.
DesignInputs::DesignInputs(DesignRequest request)
    : request_(std::move(request)),
      chain_ids_(read(request_.chain_id_jsonl, false)),
      fixed_(read(request_.fixed_positions_jsonl, false)),
      omit_(read(request_.omit_aa_jsonl, false)),
      bias_(read(request_.bias_aa_jsonl, false)),
      bias_at_(read(request_.bias_by_res_jsonl, false)),
      tied_(read(request_.tied_positions_jsonl, false)),
      profiles_(read(request_.pssm_jsonl, true)) {}

ChainChoice DesignInputs::chains(const structure::Structure& structure) const {
  ChainChoice choice;
  if (!request_.chains.empty()) {
    choice.given = true;
    choice.designed = request_.chains;
    for (std::string& name : choice.designed)
      if (name.find_first_not_of(' ') == std::string::npos) name.clear();
    for (const structure::Chain& chain : structure.chains)
      if (std::find(choice.designed.begin(), choice.designed.end(), chain.name) ==
          choice.designed.end())
        choice.fixed.push_back(chain.name);
  } else if (!chain_ids_.path.empty()) {
    choice.given = true;
    guard(chain_ids_.path, structure.name, [&] {
      const Json& lists = entry(chain_ids_.path, chain_ids_.json, structure.name);
      choice.designed = lists.at(0).get<std::vector<std::string>>();
      choice.fixed = lists.at(1).get<std::vector<std::string>>();
    });
  }
  return choice;
}

Constraints DesignInputs::constraints(const Complex& complex) const {
  Constraints constraints = free_design(complex);
  omit_letters(constraints);
  fix_listed(complex, constraints);
  if (!fixed_.path.empty())
    guard(fixed_.path, complex.name, [&] { fix_positions(complex, constraints); });
  if (!omit_.path.empty())
    guard(omit_.path, complex.name, [&] { omit_positions(complex, constraints); });
  add_bias(complex, constraints);
  if (!profiles_.path.empty())
    guard(profiles_.path, complex.name, [&] { add_profiles(complex, constraints); });
  if (!tied_.path.empty()) guard(tied_.path, complex.name, [&] { tie(complex, constraints); });
  if (request_.homooligomer) tie_chains(complex, constraints);
  check_tied(complex, constraints);
  check_omitted(complex, constraints);
  return constraints;
}

void DesignInputs::omit_letters(Constraints& constraints) const {
  for (const char letter : request_.omit) {
    const int index = letter_index(letter);
    if (index < 0)
      throw Error(ErrorCode::usage,
                  fmt::format("--omit: {} is no letter of {}",
                              biogpu::quoted(std::string_view(&letter, 1)), kLetters));
    constraints.omit[static_cast<std::size_t>(index)] = 1;
  }
  const auto x = static_cast<std::size_t>(letter_index('X'));
  if (request_.allow_x && constraints.omit[x] != 0)
    throw Error(ErrorCode::usage, "--omit: X is omitted and allowed by --allow-X");
  if (!request_.allow_x) constraints.omit[x] = 1;
  if (std::count(constraints.omit.begin(), constraints.omit.end(), 1) == kLetterCount)
    throw Error(
        ErrorCode::usage,
        fmt::format("--omit: leaves no letter of {}; X is drawn with --allow-X alone", kLetters));
}

// Of a tied group the last member's omissions count; the others' are checked with them.
void DesignInputs::check_omitted(const Complex& complex, const Constraints& constraints) const {
  if (constraints.omit_at.empty()) return;
  for (std::size_t i = 0; i < constraints.free.size(); ++i) {
    bool leaves_one = constraints.free[i] == 0;
    for (std::size_t a = 0; a < kLetterRow; ++a)
      leaves_one =
          leaves_one || (constraints.omit[a] == 0 && constraints.omit_at[i * kLetterRow + a] == 0);
    if (leaves_one) continue;
    const auto c = static_cast<std::size_t>(complex.chain[i]);
    throw_bad_entry(
        omit_.path, complex.name,
        fmt::format("position {} of chain {} has no letter left that may be drawn",
                    static_cast<std::int64_t>(i) - complex.begin[c] + 1, complex.chains[c]));
  }
}

void DesignInputs::fix_positions(const Complex& complex, Constraints& constraints) const {
  const Json& chains = entry(fixed_.path, fixed_.json, complex.name);
  for_chains(fixed_.path, chains, complex, [&](std::size_t c, const Json& positions) {
    for (const std::int64_t position : positions_of(positions))
      constraints.free[residue_at(fixed_.path, complex, c, position)] = 0;
  });
}

void DesignInputs::omit_positions(const Complex& complex, Constraints& constraints) const {
  constraints.omit_at.assign(static_cast<std::size_t>(complex.n) * kLetterRow, 0);
  const Json& chains = entry(omit_.path, omit_.json, complex.name);
  for_chains(omit_.path, chains, complex, [&](std::size_t c, const Json& items) {
    for (const Json& item : items)
      for (const std::int64_t position : positions_of(item.at(0)))
        for (const char letter : item.at(1).get<std::string>())
          constraints.omit_at[residue_at(omit_.path, complex, c, position) * kLetterRow +
                              letter_at(omit_.path, complex.name, letter)] = 1;
  });
}

void DesignInputs::add_bias(const Complex& complex, Constraints& constraints) const {
  if (!bias_.path.empty())
    guard(bias_.path, complex.name, [&] {
      for (const auto& [letter, bias] : bias_.json.items())
        constraints
            .bias[letter_at(bias_.path, complex.name, letter.size() == 1 ? letter.front() : '?')] =
            number_of(bias);
    });
  for (const auto& [letter, bias] : request_.bias)
    constraints.bias[letter_at("--bias", complex.name, letter)] = bias;
  if (bias_at_.path.empty()) return;
  guard(bias_at_.path, complex.name, [&] {
    constraints.bias_at.assign(static_cast<std::size_t>(complex.n) * kLetterRow, 0.0f);
    const Json& chains = entry(bias_at_.path, bias_at_.json, complex.name);
    for_chains(bias_at_.path, chains, complex, [&](std::size_t c, const Json& rows) {
      const auto n = static_cast<std::size_t>(complex.begin[c + 1] - complex.begin[c]);
      if (rows.size() != n)
        throw_bad_entry(bias_at_.path, complex.name,
                        fmt::format("chain {} has {} residues, its table {}", complex.chains[c], n,
                                    rows.size()));
      const LetterTable table = table_of(rows, n);
      for (std::size_t i = 0; i < table.size(); ++i)
        std::copy(table[i].begin(), table[i].end(),
                  constraints.bias_at.begin() +
                      (complex.begin[c] + static_cast<std::int64_t>(i)) * kLetterCount);
    });
  });
}

void DesignInputs::add_profiles(const Complex& complex, Constraints& constraints) const {
  constexpr float kAnything = 10000.0f;
  ProfileRow none;
  std::fill_n(none.log_odds, kLetterRow, kAnything);
  constraints.profiles.assign(static_cast<std::size_t>(complex.n), none);
  constraints.profile_weight = request_.pssm_multi;
  constraints.use_profile_bias = request_.pssm_bias;
  constraints.use_log_odds = request_.pssm_log_odds;
  constraints.log_odds_threshold = request_.pssm_threshold;
  const Json& chains = entry(profiles_.path, profiles_.json, complex.name);
  for_chains(profiles_.path, chains, complex, [&](std::size_t c, const Json& profile) {
    if (profile.empty()) return;
    const Json &weights = profile.at("pssm_coef"), &rows = profile.at("pssm_bias");
    const Json& odds_rows = profile.at("pssm_log_odds");
    const auto n = static_cast<std::size_t>(complex.begin[c + 1] - complex.begin[c]);
    if (weights.size() != n || rows.size() != n || odds_rows.size() != n)
      throw_bad_entry(profiles_.path, complex.name,
                      fmt::format("chain {} has {} residues, its profile {}", complex.chains[c], n,
                                  weights.size()));
    const LetterTable bias = table_of(rows, n), odds = table_of(odds_rows, n);
    for (std::size_t i = 0; i < n; ++i) {
      const float weight = float_of(weights.at(i));
      const bool is_share = weight >= 0 && weight <= 1;
      const bool is_positive =
          std::all_of(bias[i].begin(), bias[i].end(), [](float p) { return p >= 0; }) &&
          std::any_of(bias[i].begin(), bias[i].end(), [](float p) { return p > 0; });
      if (!is_share || !is_positive)
        throw_bad_entry(
            profiles_.path, complex.name,
            fmt::format("position {} of chain {}: pssm_coef is no share from 0 to 1, or pssm_bias "
                        "holds no probabilities",
                        i + 1, complex.chains[c]));
      ProfileRow& row = constraints.profiles[static_cast<std::size_t>(complex.begin[c]) + i];
      row.weight = weight;
      std::copy(bias[i].begin(), bias[i].end(), row.bias);
      std::copy(odds[i].begin(), odds[i].end(), row.log_odds);
    }
  });
}

}  // namespace biogpu::models::proteinmpnn
