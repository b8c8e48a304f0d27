#include "lib/bio/molecule/extxyz_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "lib/bio/molecule/extxyz_comment.hpp"
#include "lib/bio/molecule/fields.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::array<std::string_view, 4> kReserved{"Lattice", "Properties", "pbc", "charge"};
constexpr std::size_t kQm9Fields = 17;  // of a comment of QM9: "gdb", a number, 15 properties

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::bad_input, fmt::format(format, std::forward<Args>(args)...));
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::array<double, 9> parse_box(std::string_view text) {
  const std::vector<std::string_view> fields = split_fields(text, kArrayBlanks);
  std::vector<double> numbers;
  for (const std::string_view field : fields) {
    const auto value = parse_real(field);
    if (!value) refuse("Lattice has {}, which is no number", quoted(field));
    numbers.push_back(*value);
  }
  if (numbers.size() == 3) return {numbers[0], 0, 0, 0, numbers[1], 0, 0, 0, numbers[2]};
  if (numbers.size() != 9) refuse("Lattice has {} numbers; expected 9", numbers.size());
  std::array<double, 9> box{};
  std::copy(numbers.begin(), numbers.end(), box.begin());
  return box;
}

std::int32_t parse_charge(std::string_view text) {
  std::string_view number = trimmed(text);
  number = number.substr(0, number.find_last_not_of(",;") + 1);
  const auto charge = parse_real(number);
  if (!charge || std::abs(*charge) > 1000 || *charge != std::round(*charge))
    refuse("charge={} is no whole number", quoted(text));
  return static_cast<std::int32_t>(*charge);
}

AtomColumns columns_of(const std::string& properties) {
  const auto groups = parse_properties(properties);
  if (!groups)
    refuse("Properties={} is malformed; expected NAME:S|R|I|L:COLUMNS:...", quoted(properties));
  const auto find = [&](std::string_view name, char type,
                        std::size_t n) -> std::optional<std::size_t> {
    std::optional<std::size_t> column;
    for (const PropertyColumns& group : *groups) {
      if (group.name != name) continue;
      if (column) refuse("Properties has {} twice", name);
      if (group.type != type || group.n != n)
        refuse("Properties has {}:{}:{}; expected {}:{}:{}", name, group.type, group.n, name, type,
               n);
      column = group.first;
    }
    return column;
  };
  AtomColumns columns;
  columns.symbol = find("species", 'S', 1);
  columns.atomic_number = find("Z", 'I', 1);
  const auto position = find("pos", 'R', 3);
  if ((!columns.symbol && !columns.atomic_number) || !position)
    refuse("Properties={} has no species:S:1 or no pos:R:3", quoted(properties));
  columns.position = *position;
  const auto velocities = find("velocities", 'R', 3), velo = find("velo", 'R', 3);
  columns.momentum = find("momenta", 'R', 3);
  if (velocities.has_value() + velo.has_value() + columns.momentum.has_value() > 1)
    refuse("Properties={} has velocities twice; expected one of velocities, velo and momenta",
           quoted(properties));
  columns.velocity = velocities ? velocities : velo;
  const auto masses = find("masses", 'R', 1), mass = find("mass", 'R', 1);
  if (masses && mass) refuse("Properties has mass and masses; expected one of them");
  columns.mass = masses ? masses : mass;
  columns.partial_charge = find("partial_charges", 'R', 1);
  for (const PropertyColumns& group : *groups)
    if (group.name == "move_mask") columns.n_move_mask = group.n == 3 ? 3 : 1;
  columns.move_mask = find("move_mask", 'L', columns.n_move_mask);
  columns.n_required = groups->back().first + groups->back().n;
  return columns;
}

bool is_qm9_comment(std::string_view line) {
  const std::vector<std::string_view> fields = split_fields(line);
  return fields.size() == kQm9Fields && fields[0] == "gdb" &&
         parse_number<std::uint64_t>(fields[1]).has_value();
}

// The values of the keys that have a meaning, and what else there is.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view line) : line_(line), comment_(parse_comment(line)) {
    is_extended_ = has("Lattice") || has("Properties");
    header_.is_qm9 = !is_extended_ && is_qm9_comment(line);
  }

  FrameHeader read() {
    if (is_extended_ && !comment_.is_closed)
      refuse("the comment has a quote or bracket that does not end");
    if (is_extended_ && std::any_of(comment_.pairs.begin(), comment_.pairs.end(),
                                    [](const CommentPair& pair) { return pair.key.empty(); }))
      refuse("the comment has a value without a key");
    if (is_words()) {
      if (!trimmed(line_).empty()) header_.info.emplace_back("comment", trimmed(line_));
      return std::move(header_);
    }
    for (CommentPair& pair : comment_.pairs)
      if (!take_reserved(pair) && !pair.key.empty())
        header_.info.emplace_back(std::move(pair.key), std::move(pair.value));
    if (properties_) header_.columns = columns_of(*properties_);
    if (charge_) header_.charge = parse_charge(*charge_);
    read_box();
    return std::move(header_);
  }

 private:
  bool has(std::string_view key) const {
    return std::any_of(comment_.pairs.begin(), comment_.pairs.end(),
                       [&](const CommentPair& pair) { return pair.has_value && pair.key == key; });
  }

  // Whether there is no key=value.
  bool is_words() const {
    return std::none_of(comment_.pairs.begin(), comment_.pairs.end(),
                        [](const CommentPair& pair) { return pair.has_value; });
  }

  bool take_reserved(const CommentPair& pair) {
    const std::string name = lower(pair.key);
    if (std::none_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view key) { return lower(key) == name; })) {
      if (name == "cell") note_other_box(pair);
      return false;
    }
    if (!pair.has_value) {
      if (is_extended_) refuse("{} has no value", pair.key);
      return true;  // a word of a plain comment
    }
    // Keys are told apart by their case, but a key in another case is hardly something else.
    if (name == "charge") return take(charge_, pair);
    if (pair.key == "Lattice") return take(lattice_, pair);
    if (pair.key == "Properties") return take(properties_, pair);
    if (pair.key == "pbc") return take(periodic_, pair);
    if (name == "lattice") note_other_box(pair);
    if (name == "pbc") refuse("has the key {}; expected pbc", quoted(pair.key));
    if (name == "properties" && parse_properties(pair.value))
      refuse("has the key {}; expected Properties", quoted(pair.key));
    return false;
  }

  static bool take(std::optional<std::string>& value, const CommentPair& pair) {
    if (value) refuse("{} is there twice", pair.key);
    value = pair.value;
    return true;
  }

  void note_other_box(const CommentPair& pair) {
    const std::vector<std::string_view> fields = split_fields(pair.value, kArrayBlanks);
    if (fields.size() == 9 && std::all_of(fields.begin(), fields.end(), [](std::string_view field) {
          return parse_real(field).has_value();
        }))
      other_box_ = pair.key;
  }

  // A box that is told has an effect, or is refused.
  void read_box() {
    std::size_t n_periodic = lattice_ || !other_box_.empty() ? 3 : 0;
    if (periodic_) {
      const auto axes = parse_periodic(*periodic_);
      if (!axes) refuse("pbc={} is no T or F for each axis", quoted(*periodic_));
      n_periodic = *axes;
    }
    if (lattice_) header_.box = parse_box(*lattice_);
    if (n_periodic == 1 || n_periodic == 2)
      refuse("pbc={} is periodic in some directions; expected all or none", quoted(*periodic_));
    if (n_periodic == 0) header_.box.reset();
    if (n_periodic == 0 || lattice_) return;
    if (!other_box_.empty())
      refuse("has a box in {}; expected the key Lattice", quoted(other_box_));
    refuse("pbc={} is periodic, but there is no Lattice", quoted(*periodic_));
  }

  std::string_view line_;
  Comment comment_;
  bool is_extended_ = false;
  std::optional<std::string> lattice_, properties_, periodic_, charge_;
  std::string other_box_;  // the key of a box that is not Lattice
  FrameHeader header_;
};

}  // namespace

FrameHeader read_frame_header(std::string_view line) { return HeaderReader(line).read(); }

}  // namespace biogpu::molecule
