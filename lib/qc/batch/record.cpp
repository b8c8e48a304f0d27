#include "lib/qc/batch/record.hpp"

#include <algorithm>

#include "lib/core/complement.hpp"

namespace biogpu::qc {

Mate whole_read(FastqChunk& chunk, std::size_t index) {
  const RecordPlace& place = chunk.records[index];
  return {chunk.sequence(place), chunk.quality(place), static_cast<int>(place.length)};
}

Record open_record(FastqChunk& chunk, std::size_t index) {
  Record record;
  record.original = whole_read(chunk, index);
  record.mate = record.original;
  record.text = {chunk.name(chunk.records[index]), chunk.strand(chunk.records[index])};
  return record;
}

void convert_phred64(const Mate& mate) {
  for (int i = 0; i < mate.length; ++i) {
    char& symbol = mate.quality[i];
    symbol = static_cast<char>(std::max(kPhredOffset, symbol - (64 - kPhredOffset)));
  }
}

Mate merge_mates(const Mate& mate1, const Mate& mate2, int from1, int from2,
                 io::CharBuffer& sequence, io::CharBuffer& quality) {
  const auto n1 = static_cast<std::size_t>(from1);
  const auto n = n1 + static_cast<std::size_t>(from2);
  sequence.resize(n + FastqChunk::kPadding);
  quality.resize(n + FastqChunk::kPadding);
  Mate merged{sequence.data(), quality.data(), static_cast<int>(n)};
  std::copy_n(mate1.sequence, n1, merged.sequence);
  std::copy_n(mate1.quality, n1, merged.quality);
  for (int k = 0; k < from2; ++k) {
    merged.sequence[from1 + k] = complement_acgt(mate2.sequence[from2 - 1 - k]);
    merged.quality[from1 + k] = mate2.quality[from2 - 1 - k];
  }
  return merged;
}

}  // namespace biogpu::qc
