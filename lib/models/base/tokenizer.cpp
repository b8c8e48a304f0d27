#include "lib/models/base/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"
#include "lib/tensor/weights/foreign_file.hpp"

namespace biogpu::models {
namespace {

Vocabulary make(std::initializer_list<const char*> special_first, std::string_view letters,
                std::initializer_list<const char*> special_last) {
  Vocabulary vocabulary;
  for (const char* word : special_first) vocabulary.tokens.emplace_back(word);
  for (const char letter : letters) vocabulary.tokens.emplace_back(1, letter);
  for (const char* word : special_last) vocabulary.tokens.emplace_back(word);
  vocabulary.of_letter.fill(-1);
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& word = vocabulary.tokens[id];
    if (word.size() != 1) continue;
    const auto letter = static_cast<unsigned char>(word[0]);
    vocabulary.of_letter[letter] = static_cast<std::int32_t>(id);
    vocabulary.of_letter[static_cast<std::size_t>(std::tolower(letter))] =
        static_cast<std::int32_t>(id);
  }
  return vocabulary;
}

// The special word that the text begins with, if any: its id and its length.
std::int32_t special_word(const Vocabulary& vocabulary, std::string_view text,
                          std::size_t& length) {
  if (text.front() != '<' && text.front() != '[') return -1;
  for (const std::string_view mask : {"<mask>", "[MASK]"})
    if (text.starts_with(mask)) {
      length = mask.size();
      return vocabulary.mask;
    }
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id)
    if (vocabulary.tokens[id].size() > 1 && text.starts_with(vocabulary.tokens[id])) {
      length = vocabulary.tokens[id].size();
      return static_cast<std::int32_t>(id);
    }
  return -1;
}

std::string show(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return std::isprint(byte) != 0 ? fmt::format("'{}'", letter) : fmt::format("byte 0x{:02x}", byte);
}

}  // namespace

std::int32_t Vocabulary::find(std::string_view word) const {
  const auto found = std::find(tokens.begin(), tokens.end(), word);
  return found == tokens.end() ? -1 : static_cast<std::int32_t>(found - tokens.begin());
}

Vocabulary esm_vocabulary() {
  Vocabulary vocabulary = make({"<cls>", "<pad>", "<eos>", "<unk>"}, "LAGVSERTIDPKQNFYMHWCXBUZO.-",
                               {"<null_1>", "<mask>"});
  vocabulary.begin = 0;
  vocabulary.end = 2;
  vocabulary.unknown = 3;
  vocabulary.mask = 32;
  return vocabulary;
}

Vocabulary protbert_vocabulary(bool keep_rare) {
  Vocabulary vocabulary =
      make({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}, "LAGVESIKRDTPNQFYMHCWXUBZO", {});
  vocabulary.begin = 2;
  vocabulary.end = 3;
  vocabulary.unknown = 1;
  vocabulary.mask = 4;
  if (!keep_rare)
    for (const char letter : std::string_view("UBZOubzo"))
      vocabulary.of_letter[static_cast<unsigned char>(letter)] = vocabulary.of_letter['X'];
  return vocabulary;
}

void check_vocabulary_file(const std::string& folder, const Vocabulary& vocabulary) {
  const std::string path = folder + "/vocab.txt";
  if (!std::filesystem::exists(path)) return;
  io::LineReader lines(path, "a word of the vocabulary on each line");
  std::size_t id = 0;
  for (std::string word; lines.next(word);) {
    while (!word.empty() && (word.back() == '\r' || word.back() == ' ')) word.pop_back();
    if (word.empty()) continue;
    if (id == 0 && !tensor::foreign_file(word).empty())
      throw Error(ErrorCode::bad_input, fmt::format("{}: {}", path, tensor::foreign_file(word)));
    if (id >= vocabulary.tokens.size() || word != vocabulary.tokens[id])
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: word {} is {}; expected {}", path, id, biogpu::quoted(word),
                              id < vocabulary.tokens.size() ? "'" + vocabulary.tokens[id] + "'"
                                                            : std::string("no more words")));
    ++id;
  }
  if (id != vocabulary.tokens.size())
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} words; expected {}", path, id, vocabulary.tokens.size()));
}

std::vector<std::int32_t> tokenize(const Vocabulary& vocabulary, std::string_view sequence,
                                   const TokenizeOptions& options, LazyText label,
                                   std::uint64_t* n_unknown) {
  std::vector<std::int32_t> ids;
  ids.reserve(sequence.size() + 2);
  ids.push_back(vocabulary.begin);
  while (!sequence.empty() &&
         (sequence.back() == '*' || std::isspace(static_cast<unsigned char>(sequence.back())) != 0))
    sequence.remove_suffix(1);
  const auto limit = static_cast<std::size_t>(options.truncate);
  while (!sequence.empty() && (limit == 0 || ids.size() - 1 < limit)) {
    const char letter = sequence.front();
    std::size_t length = 1;
    std::int32_t id = vocabulary.of_letter[static_cast<unsigned char>(letter)];
    if (id < 0) id = special_word(vocabulary, sequence, length);
    if (id < 0 && std::isspace(static_cast<unsigned char>(letter)) == 0) {
      if (!options.allow_unknown)
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: residue {} is {}, which the model's alphabet has not; "
                                "--allow-unknown reads it as {}",
                                label.str(), ids.size(), show(letter),
                                vocabulary.tokens[static_cast<std::size_t>(vocabulary.unknown)]));
      id = vocabulary.unknown;
      if (n_unknown != nullptr) ++*n_unknown;
    }
    if (id >= 0) ids.push_back(id);
    sequence.remove_prefix(length);
  }
  ids.push_back(vocabulary.end);
  const auto n_residues = static_cast<std::int64_t>(ids.size()) - 2;
  if (options.max_residues > 0 && n_residues > options.max_residues)
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: {} residues; the model takes at most {}, --truncate keeps the first",
                    label.str(), n_residues, options.max_residues));
  return ids;
}

}  // namespace biogpu::models
