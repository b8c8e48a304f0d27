#include "lib/bio/genome/vcf_input.hpp"

#include <fmt/format.h>
#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "lib/bio/genome/vcf_header.hpp"
#include "lib/core/error.hpp"

namespace biogpu::genome {

VcfInput::VcfInput(const std::string& path) : raw_(path) {
  hts_set_log_level(HTS_LOG_OFF);  // htslib prints what it finds; a library may not
  if (raw_.peek(1).empty()) {
    header_.reset(bcf_hdr_init("w"));
    if (!header_) throw std::bad_alloc();
    return;
  }
  open();
}

void VcfInput::open() {
  const bool is_regular = raw_.file_bytes() > 0;
  stream_ = raw_.release();
  // Before htslib opens it: some other formats make it ask a server.
  htsFormat format{};
  const bool known = hts_detect_format(stream_, &format) == 0;
  if (known && (format.format == vcf || format.format == bcf))
    file_.reset(hts_hopen(stream_, label().c_str(), "r"));
  if (!file_) {
    hclose_abruptly(stream_);
    throw Error(ErrorCode::bad_input, fmt::format("{}: expected VCF or BCF", label()));
  }
  if (is_regular && is_bgzf() && hts_check_EOF(file_.get()) == 0) fail_cut_short();
  throw_if_unreadable();
  header_.reset(read_vcf_header(*file_, label()));
  if (!header_) {
    throw_if_unreadable();
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the header is malformed; expected that of VCF or BCF, with a line "
                            "#CHROM",
                            label()));
  }
}

bool VcfInput::is_bgzf() const {
  return hts_get_format(file_.get())->compression == bgzf && file_->is_bgzf != 0;
}

bool VcfInput::read(bcf1_t& record, std::uint64_t number) {
  if (!file_) return false;
  const int status = bcf_read(file_.get(), header_.get(), &record);
  constexpr int kTolerated = BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF;
  if (status == 0 && (record.errcode & ~kTolerated) == 0) return true;
  throw_if_unreadable();
  if (status == -1) {
    // Of a pipe, which could not be looked at before.
    if (is_bgzf() && file_->fp.bgzf->no_eof_block != 0) fail_cut_short();
    return false;
  }
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: record {}: malformed or cut short; expected the columns of VCF, as "
                          "the header defines them",
                          label(), number));
}

void VcfInput::fail_cut_short() const {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: ends without its end marker; the file may be cut short", label()));
}

void VcfInput::throw_if_unreadable() const {
  const int error = herrno(stream_);
  if (error == 0 || error == ESPIPE) return;
  if (error == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorCode::failed, fmt::format("{}: cannot be read: {}", label(),
                                             std::generic_category().message(error)));
}

}  // namespace biogpu::genome
