#include "lib/io/records/chunk_parser.hpp"

#include "lib/core/error.hpp"
#include "lib/io/records/fasta.hpp"
#include "lib/io/records/fasta_in_place.hpp"
#include "lib/io/records/fastq.hpp"

namespace biogpu::io::input {

RecordChunk& chunk_of(Block& block) {
  if (!block.tool) block.tool = std::make_shared<RecordChunk>();
  return *static_cast<RecordChunk*>(block.tool.get());
}

const RecordChunk& chunk_of(const Block& block) {
  return *static_cast<const RecordChunk*>(block.tool.get());
}

void ChunkParser::parse(RecordChunk& chunk, CharBuffer& text) const {
  chunk.records.clear(1);
  chunk.n_lines = 0;
  chunk.whole = false;
  if (!*parses_) return;
  try {
    chunk.whole =
        rules_.format == RecordFormat::fasta ? parse_fasta(chunk, text) : parse_fastq(chunk, text);
  } catch (const Error&) {
    // A serial reader comes to the same place and says where it is.
  }
}

bool ChunkParser::parse_fasta(RecordChunk& chunk, CharBuffer& text) const {
  SequenceBatch& records = chunk.records;
  if (add_fasta_in_place(chunk.text, text.data(), rules_.max_residues, records, chunk.n_lines)) {
    records.swap_text(text);
    return true;
  }
  records.clear(1);
  TextWindow window(chunk.text);
  FastaSource source(window, {}, 1, rules_.words);
  while (source.next(records))
    if (records.sequence(records.size() - 1).size() >= rules_.max_residues) return false;
  chunk.n_lines = source.line() - 1;
  return true;
}

bool ChunkParser::parse_fastq(RecordChunk& chunk, CharBuffer& text) const {
  TextWindow window(chunk.text);
  FastqSource source(window, {}, 1);
  source.keep_in_place(text.data());
  while (window.size() > 0 && source.next(chunk.records)) {
    // A record that took the chunk's end for the file's.
    if (window.at_end() && !chunk.ends_file) return false;
  }
  chunk.n_lines = source.line() - 1;
  chunk.records.swap_text(text);
  return true;
}

}  // namespace biogpu::io::input
