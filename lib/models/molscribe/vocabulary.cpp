#include "lib/models/molscribe/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/models/molscribe/characters.hpp"

namespace biogpu::models::molscribe {
namespace {

constexpr std::size_t kMaxSymbols = 4096, kMaxFileBytes = std::size_t{1} << 20;
constexpr std::array<std::string_view, Vocabulary::kFirstCharacter> kSpecial{
    "<pad>", "<sos>", "<eos>", "<unk>", "<mask>"};

// As Python's isalpha() for one letter of Latin alphabets.
bool is_letter(std::string_view text) {
  if (text.size() == 1)
    return (text[0] >= 'A' && text[0] <= 'Z') || (text[0] >= 'a' && text[0] <= 'z');
  if (text.size() != 2) return false;
  const unsigned code = (static_cast<unsigned char>(text[0]) & 31u) << 6 |
                        (static_cast<unsigned char>(text[1]) & 63u);
  return code >= 0xC0 && code <= 0x24F && code != 0xD7 && code != 0xF7;
}

std::string read_text(const std::string& path) {
  io::input::RawFile file(path);
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t n = 0;
  for (std::size_t got = 1; got > 0 && n < text.size(); n += got)
    got = file.read(text.data() + n, text.size() - n);
  if (n > kMaxFileBytes)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: has more than {} bytes", path, kMaxFileBytes));
  text.resize(n);
  return std::string(io::input::without_mark(text, path));
}

}  // namespace

Vocabulary::Vocabulary(const std::string& path, std::int64_t n_bins)
    : n_bins_(static_cast<std::int32_t>(n_bins)) {
  const auto json = parse_bounded_json<nlohmann::ordered_json>(read_text(path), path);
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_input, path + ": " + what);
  };
  if (!json.is_object() || json.size() < kFirstCharacter || json.size() > kMaxSymbols)
    fail(fmt::format("expected an object of {} to {} tokens and their numbers",
                     static_cast<int>(kFirstCharacter), kMaxSymbols));
  texts_.resize(json.size());
  std::vector<bool> is_there(json.size());
  for (const auto& [text, number] : json.items()) {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= json.size() ||
        is_there[number.get<std::size_t>()])
      fail(fmt::format("{} has the number {}; expected each from 0 to {} once", quoted(text),
                       shortened(number.dump()), json.size() - 1));
    is_there[number.get<std::size_t>()] = true;
    texts_[number.get<std::size_t>()] = text;
  }
  for (std::size_t i = 0; i < kSpecial.size(); ++i)
    if (texts_[i] != kSpecial[i])
      fail(fmt::format("token {} is {}; expected '{}'", i, quoted(texts_[i]), kSpecial[i]));
  // An atom's confidence is that of as many tokens as its symbol has characters.
  for (std::size_t i = kFirstCharacter; i < texts_.size(); ++i)
    if (n_characters(texts_[i]) != 1)
      fail(fmt::format("token {} is {}; expected one character", i, quoted(texts_[i])));
  for (const std::string& text : texts_)
    begins_atom_.push_back(text == kSpecial[kUnknown] || text == "*" || text.starts_with("[") ||
                           is_letter(text));
}

}  // namespace biogpu::models::molscribe
