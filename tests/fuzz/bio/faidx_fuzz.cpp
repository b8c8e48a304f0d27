// One file of an indexed genome from any bytes, named by the first of them: FASTA, plain (0) or
// compressed (1), or the .fai of a plain file (2) or the .fai (3) or .gzi (4) of a compressed one.
// An Error, or letters.
#include <htslib/bgzf.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"

using namespace biogpu;

namespace {

const fuzz::Folder& folder() {
  static const fuzz::Folder made;
  return made;
}

std::string put(const std::string& name, const std::string& text) {
  return folder().write(name, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::string fasta_text() {
  std::string text = ">a first\n";
  for (int i = 0; i < 3000; ++i) text += "ACGTNacgtnACGTNacgtnACGTNacgtnRYSWKMBDHV\n";
  return text + ">b\nTTT\nA\n>c\n";
}

std::string compressed_path(const std::string& name) {
  const std::string path = folder().path() + "/" + name;
  BGZF* file = bgzf_open(path.c_str(), "w");
  const std::string text = fasta_text();
  fuzz::require(file != nullptr && bgzf_write(file, text.data(), text.size()) == std::ssize(text) &&
                    bgzf_close(file) == 0,
                "bgzf_write");
  return path;
}

// What the input replaces a file of, and the suffix of that file.
std::pair<std::string, std::string> subject(unsigned kind) {
  static const std::string plain = put("plain.fa", fasta_text());
  static const std::string packed = compressed_path("packed.fa.gz");
  if (kind == 0) return {folder().path() + "/own.fa", ""};
  if (kind == 1) return {folder().path() + "/own.fa.gz", ""};
  if (kind == 2) return {plain, ".fai"};
  return {packed, kind == 3 ? ".fai" : ".gzi"};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  if (n == 0) return 0;
  const auto [path, suffix] = subject(bytes[0] % 5);
  for (const char* index : {".fai", ".gzi"}) std::filesystem::remove(path + index);
  const std::string name = path.substr(path.rfind('/') + 1);
  folder().write(name + suffix, bytes + 1, n - 1);
  fuzz::expect_error_of(path, [&, file = path] {
    const genome::IndexedFasta genome(file);
    const std::size_t n_contigs = std::min<std::size_t>(genome.contigs().size(), 4);
    for (std::size_t contig = 0; contig < n_contigs; ++contig) {
      const auto length = static_cast<std::int64_t>(genome.contigs()[contig].length);
      for (const std::int64_t begin : {std::int64_t{-5}, length / 2, length - 20})
        fuzz::expect_error_of(file, [&] {
          std::vector<genome::LetterCode> codes(300);
          genome.fetch(contig, begin, codes);
          for (const genome::LetterCode code : codes)
            fuzz::require(code <= genome::kUnknownLetter, "a code of no letter");
        });
    }
  });
  return 0;
}
