#include "lib/io/alignments/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::io::output {

AlignmentMaker::AlignmentMaker(const SeqLetters& letters)
    : alignment_(bam_init1()), letters_(letters) {
  if (!alignment_) throw std::bad_alloc();
}

const bam1_t& AlignmentMaker::make(const AtomicFile& file, const SamRecord& record) {
  phred_.assign(record.quality);
  std::transform(phred_.begin(), phred_.end(), phred_.begin(),
                 [](char c) { return static_cast<char>(c - '!'); });
  sequence_.clear();
  letters_.append(sequence_, record.sequence);
  const bool has_quality = !phred_.empty() && phred_.size() == record.sequence.size();
  constexpr std::size_t kTagBytes = 2 * (2 + 1 + sizeof(std::int32_t));  // name, type, number
  // bam_set1() refuses an aligned record without a path, which --output score or ends gives.
  const auto flag =
      static_cast<std::uint16_t>(record.flag | (record.cigar.empty() ? BAM_FUNMAP : 0));
  bam1_t* alignment = alignment_.get();
  errno = 0;
  const int size = bam_set1(alignment, record.query_name.size(), record.query_name.data(), flag,
                            record.target_id, record.target_begin, record.mapq, record.cigar.size(),
                            record.cigar.data(), -1, -1, 0, sequence_.size(), sequence_.data(),
                            has_quality ? phred_.data() : nullptr, kTagBytes);
  if (size < 0) file.fail("cannot hold a record", errno);
  alignment->core.flag = record.flag;
  bool failed = bam_aux_update_int(alignment, "AS", record.score) != 0;
  if (record.edit_distance >= 0) {
    failed |= bam_aux_update_int(alignment, "NM", record.edit_distance) != 0;
  }
  if (failed) file.fail("cannot hold a record", errno);
  return *alignment;
}

void check_target_lengths(const std::string& label, Targets targets) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int32_t>::max();
  for (const auto& [name, length] : targets) {
    if (length <= kMax) continue;
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: target {} has {} residues, BAM and CRAM hold at most {}; write SAM", label,
                    quoted(name), length, kMax));
  }
}

}  // namespace biogpu::io::output
