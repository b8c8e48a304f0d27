#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/lazy_text.hpp"

namespace biogpu::models {

// The words of a protein language model: one a residue, and a few special ones. id = index.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::int32_t begin = 0;                     // <cls>, [CLS]
  std::int32_t end = 0;                       // <eos>, [SEP]
  std::int32_t unknown = 0;                   // <unk>, [UNK]
  std::int32_t mask = 0;                      // <mask>, [MASK]
  std::array<std::int32_t, 256> of_letter{};  // -1: no word of one letter

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
  std::int32_t find(std::string_view word) const;  // -1 where there is none
};

// ESM-2's 33 words in the order of its published vocab.txt.
Vocabulary esm_vocabulary();
// ProtBERT's 30. U, Z, O and B are read as X, as its authors do before tokenising, unless kept.
Vocabulary protbert_vocabulary(bool keep_rare);

// Throws Error{bad_input} where FOLDER/vocab.txt exists and differs from the vocabulary.
void check_vocabulary_file(const std::string& folder, const Vocabulary& vocabulary);

struct TokenizeOptions {
  bool allow_unknown = false;     // letters outside the alphabet become the unknown word
  std::int64_t max_residues = 0;  // 0: any number
  std::int64_t truncate = 0;      // keep the first residues only; 0: all
};

// The ids of <begin> residues <end>. Lower case counts as upper case; <mask>, [MASK] and the
// vocabulary's own special words count as one residue; blanks and a '*' at the end are left out.
// label ("proteins.fa: record 3 (P12345)") begins the message of Error{bad_input}, thrown for a
// letter outside the alphabet and for a sequence over the limit.
std::vector<std::int32_t> tokenize(const Vocabulary& vocabulary, std::string_view sequence,
                                   const TokenizeOptions& options, LazyText label,
                                   std::uint64_t* n_unknown = nullptr);

}  // namespace biogpu::models
