#include "lib/io/alignments/bam_output.hpp"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>

namespace biogpu::io::output {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::uint32_t kMaxCigar = 65535;  // operations that a record itself can hold

template <class Number>
void put(CharBuffer& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put_cigar(CharBuffer& bytes, const bam1_t& record) {
  const auto* cigar = reinterpret_cast<const char*>(bam_get_cigar(&record));
  bytes.append(cigar, record.core.n_cigar * sizeof(std::uint32_t));
}

// Stands for a path that is too long: all of the read clipped, then all of the target skipped.
void put_long_cigar_sign(CharBuffer& bytes, const bam1_t& record) {
  const std::uint32_t* cigar = bam_get_cigar(&record);
  const hts_pos_t span = bam_cigar2rlen(static_cast<int>(record.core.n_cigar), cigar);
  put(bytes, static_cast<std::uint32_t>(record.core.l_qseq) << 4 | BAM_CSOFT_CLIP);
  put(bytes, static_cast<std::uint32_t>(span) << 4 | BAM_CREF_SKIP);
}

void put_record(CharBuffer& bytes, const bam1_t& record) {
  const bam1_core_t& core = record.core;
  const bool long_cigar = core.n_cigar > kMaxCigar;
  const std::size_t name_bytes = core.l_qname - core.l_extranul;  // htslib pads names to four bytes
  put(bytes, core.tid);
  put(bytes, static_cast<std::int32_t>(core.pos));
  put(bytes, static_cast<std::uint8_t>(name_bytes));
  put(bytes, core.qual);
  put(bytes, core.bin);
  put(bytes, static_cast<std::uint16_t>(long_cigar ? 2 : core.n_cigar));
  put(bytes, core.flag);
  put(bytes, core.l_qseq);
  put(bytes, core.mtid);
  put(bytes, static_cast<std::int32_t>(core.mpos));
  put(bytes, static_cast<std::int32_t>(core.isize));
  bytes.append(bam_get_qname(&record), name_bytes);
  if (long_cigar) {
    put_long_cigar_sign(bytes, record);
  } else {
    put_cigar(bytes, record);
  }
  const auto* sequence = reinterpret_cast<const char*>(bam_get_seq(&record));
  const auto* end = reinterpret_cast<const char*>(record.data + record.l_data);
  bytes.append(sequence, static_cast<std::size_t>(end - sequence));
  if (long_cigar) {
    bytes.append("CGBI", 4);
    put(bytes, core.n_cigar);
    put_cigar(bytes, record);
  }
}

}  // namespace

BamOutput::BamOutput(AtomicFile& file, const std::string& header, Targets targets,
                     const SeqLetters& letters, int n_threads)
    : file_(file), bgzf_(file, n_threads), maker_(letters) {
  check_target_lengths(file.label(), targets);
  bytes_.append("BAM\1", 4);
  put(bytes_, static_cast<std::uint32_t>(header.size()));
  bytes_.append(header.data(), header.size());
  put(bytes_, static_cast<std::uint32_t>(targets.size()));
  for (const auto& [name, length] : targets) {
    put(bytes_, static_cast<std::uint32_t>(name.size() + 1));
    bytes_.append(name.c_str(), name.size() + 1);
    put(bytes_, static_cast<std::uint32_t>(length));
  }
  bgzf_.write(bytes_.view());
}

void BamOutput::write(const SamRecord& record) {
  bytes_.clear();
  put(bytes_, std::uint32_t{0});  // the size of what follows, once it is known
  put_record(bytes_, maker_.make(file_, record));
  const std::size_t size = bytes_.size() - sizeof(std::uint32_t);
  if (size > std::numeric_limits<std::int32_t>::max()) file_.fail("cannot hold a record", EFBIG);
  const auto size32 = static_cast<std::uint32_t>(size);
  std::memcpy(bytes_.data(), &size32, sizeof(size32));
  bgzf_.write(bytes_.view());
}

}  // namespace biogpu::io::output
