#include "lib/bio/genome/vcf/vcf_input.hpp"

#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "lib/bio/genome/vcf/vcf_header.hpp"
#include "lib/core/error.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/input/warnings.hpp"

namespace biogpu::genome {

VcfInput::VcfInput(const std::string& path, VcfFields fields) : fields_(fields), raw_(path) {
  hts_set_log_level(HTS_LOG_OFF);  // htslib prints what it finds; a library may not
  if (raw_.peek(1).empty()) {
    header_.reset(bcf_hdr_init("w"));
    if (!header_) throw std::bad_alloc();
    return;
  }
  open();
}

// Before htslib looks at it, which ends the program at some formats and asks a server for others.
void VcfInput::require_format(const std::string& head) const {
  io::input::refuse_compression(head, label());
  for (const char* begin : {"##", "BCF", "\x1f\x8b"})
    if (head.starts_with(begin)) return;
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", label(), kExpectedVcf));
}

void VcfInput::open() {
  const bool is_regular = raw_.file_bytes() > 0;
  char mark[16];
  raw_.read(mark, io::input::count_mark_bytes(raw_.peek(sizeof mark), label()));
  require_format(raw_.peek(16));
  stream_ = raw_.release();
  errno = 0;
  htsFormat format{};
  const bool known = hts_detect_format(stream_, &format) == 0;
  is_text_ = format.format == vcf || format.format == text_format;
  if (known && (is_text_ || format.format == bcf))
    file_.reset(hts_hopen(stream_, label().c_str(), "r"));
  if (!file_) {
    const int error = herrno(stream_);
    hclose_abruptly(stream_);
    throw_read_error(error);
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", label(), kExpectedVcf));
  }
  const bool lacks_end_marker = is_regular && is_bgzf() && hts_check_EOF(file_.get()) == 0;
  if (lacks_end_marker && !is_text_) fail_cut_short();
  throw_if_unreadable();
  if (lacks_end_marker) io::input::check_unmarked_text(label());
  header_.reset(read_vcf_header(*file_, is_text_, label()));
  if (!header_) {
    throw_if_unreadable();
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the header is malformed; expected that of VCF or BCF, with a line "
                            "#CHROM",
                            label()));
  }
  n_samples_ = static_cast<std::size_t>(bcf_hdr_nsamples(header_.get()));
}

bool VcfInput::is_bgzf() const {
  return hts_get_format(file_.get())->compression == bgzf && file_->is_bgzf != 0;
}

bool VcfInput::read(bcf1_t& record, std::uint64_t number) {
  if (!file_) return false;
  errno = 0;
  const int status =
      is_text_ ? read_text(record, number) : bcf_read(file_.get(), header_.get(), &record);
  constexpr int kTolerated = BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF;
  if (status == 0 && (record.errcode & ~kTolerated) == 0) return true;
  throw_if_unreadable();
  if (status == -1) {
    // A pipe could not be looked at before.
    if (is_bgzf() && file_->fp.bgzf->no_eof_block != 0) {
      if (!is_text_) fail_cut_short();
      io::add_warning(fmt::format("{}: {}", label(), io::input::kNoEndMarker));
    }
    return false;
  }
  const bool has_odd_name = (record.errcode & (BCF_ERR_CTG_INVALID | BCF_ERR_TAG_INVALID)) != 0;
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: record {}: {}", label(), number,
                          has_odd_name
                              ? "the name of its sequence or of a tag has characters that VCF does "
                                "not allow"
                              : "malformed or cut short; expected the columns of VCF, as the "
                                "header defines them"));
}

// As vcf_read() does, but for what it would read otherwise than it is written.
int VcfInput::read_text(bcf1_t& record, std::uint64_t number) {
  kstring_t& line = file_->line;
  int status = 0;
  do {
    status = hts_getline(file_.get(), '\n', &line);
    if (status < 0) return status;
  } while (line.l == 0);
  const std::string_view text(line.s, line.l);
  const std::string fault = find_vcf_fault(text, header_.get(), n_samples_, fields_);
  if (!fault.empty())
    throw Error(ErrorCode::bad_input, fmt::format("{}: record {} ({}): {}", label(), number,
                                                  vcf_line_position(text), fault));
  constexpr int kUnreadable = -2;  // -1 is the end of the file
  return vcf_parse(&line, header_.get(), &record) == 0 ? 0 : kUnreadable;
}

void VcfInput::fail_cut_short() const {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: ends without its end marker; the file may be cut short", label()));
}

void VcfInput::throw_if_unreadable() const { throw_read_error(herrno(stream_)); }

// Throws the stream's error. Only errno tells that htslib found no memory.
void VcfInput::throw_read_error(int error) const {
  if (error == ENOMEM || errno == ENOMEM) throw std::bad_alloc();
  if (error == 0 || error == ESPIPE) return;
  throw Error(ErrorCode::failed, fmt::format("{}: cannot be read: {}", label(),
                                             std::generic_category().message(error)));
}

}  // namespace biogpu::genome
