// A genome from any bytes, for both kinds of index: an Error that names the file, or a text that
// holds the records; that of the native index has those of io::SequenceReader, letter by letter.
#include <cctype>
#include <string>

#include "lib/bwt/text/reference.hpp"
#include "lib/core/error.hpp"
#include "lib/io/sequence_reader.hpp"
#include "tests/fuzz/support/memory_file.hpp"

using namespace biogpu;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

void check_places(const bwt::Reference& reference) {
  std::uint64_t end = 0;
  for (const bwt::Contig& contig : reference.contigs) {
    require(contig.offset == end, "a record begins where the one before it ends");
    end += contig.length;
  }
  require(end == reference.text.size(), "the records are the whole text");
  std::uint64_t behind = 0;
  for (const bwt::Hole& hole : reference.holes) {
    require(hole.length > 0 && hole.offset >= behind, "holes are apart and in order");
    behind = hole.offset + hole.length;
  }
  require(behind <= end, "holes lie in the text");
}

// The text with the letters of the holes.
std::string letters_of(const bwt::Reference& reference) {
  std::string letters(reference.text.size(), ' ');
  for (std::uint64_t i = 0; i < letters.size(); ++i) letters[i] = "ACGT"[reference.text[i]];
  for (const bwt::Hole& hole : reference.holes)
    letters.replace(hole.offset, hole.length, hole.length, hole.letter);
  return letters;
}

void check_native(const std::string& path) {
  const bwt::Reference reference = bwt::read_reference(path, 1);
  check_places(reference);
  const std::string letters = letters_of(reference);
  io::SequenceReader reader(path);
  io::SequenceBatch batch;
  std::size_t record = 0;
  while (reader.read(batch)) {
    for (std::size_t i = 0; i < batch.size(); ++i, ++record) {
      require(record < reference.contigs.size(), "a record is lost");
      const bwt::Contig& contig = reference.contigs[record];
      require(contig.name == batch.name(i) && contig.length == batch.sequence(i).size(),
              "a record has another name or length");
      for (std::uint64_t j = 0; j < contig.length; ++j) {
        const char read = batch.sequence(i)[j];
        const char indexed = letters[contig.offset + j];
        const auto upper = static_cast<char>(std::toupper(static_cast<unsigned char>(read)));
        require(indexed == read || indexed == upper, "a letter is another");
      }
    }
  }
  require(record == reference.contigs.size(), "a record is made up");
}

template <class Read>
void expect_result_or_error(const std::string& path, const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::failed,
            "an error of another kind");
    require(std::string_view(error.what()).starts_with(path), "an error without its file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  const std::string path = file.path();
  expect_result_or_error(path, [&] { check_native(path); });
  expect_result_or_error(path, [&] { check_places(bwt::read_reference_as_bwa(path, 1)); });
  return 0;
}
