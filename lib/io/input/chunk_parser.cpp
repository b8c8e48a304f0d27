#include "lib/io/input/chunk_parser.hpp"

#include "lib/core/error.hpp"
#include "lib/io/input/fasta.hpp"
#include "lib/io/input/fastq.hpp"

namespace biogpu::io::input {

RecordChunk& chunk_of(Block& block) {
  if (!block.tool) block.tool = std::make_shared<RecordChunk>();
  return *static_cast<RecordChunk*>(block.tool.get());
}

const RecordChunk& chunk_of(const Block& block) {
  return *static_cast<const RecordChunk*>(block.tool.get());
}

void ChunkParser::parse(RecordChunk& chunk) const {
  chunk.records.clear(1);
  chunk.n_lines = 0;
  chunk.whole = false;
  if (!*parses_) return;
  try {
    chunk.whole = parse_records(chunk);
  } catch (const Error&) {
    // A serial reader comes to the same place and says where it is.
  }
}

bool ChunkParser::parse_records(RecordChunk& chunk) const {
  TextWindow text(chunk.text);
  SequenceBatch& records = chunk.records;
  if (rules_.format == RecordFormat::fasta) {
    FastaSource source(text, {}, 1, rules_.words);
    while (source.next(records))
      if (records.sequence(records.size() - 1).size() >= rules_.max_residues) return false;
    chunk.n_lines = source.line() - 1;
    return true;
  }
  FastqSource source(text, {}, 1);
  while (text.size() > 0 && source.next(records)) {
    // A record that took the chunk's end for the file's.
    if (text.at_end() && !chunk.ends_file) return false;
  }
  chunk.n_lines = source.line() - 1;
  return true;
}

}  // namespace biogpu::io::input
