// Lines of SAM from any name, residues and qualities: refused, or what htslib reads as that record.
#include <htslib/sam.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/alignments/sam_text.hpp"
#include "tests/fuzz/support/memory_file.hpp"

using namespace biogpu;
using fuzz::require;

namespace {

struct Destroy {
  void operator()(bam1_t* record) const { bam_destroy1(record); }
  void operator()(sam_hdr_t* header) const { sam_hdr_destroy(header); }
};

// Up to the next line feed.
std::string take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string line(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

void check_line(std::string& line, const io::SamRecord& record, sam_hdr_t* header) {
  const std::unique_ptr<bam1_t, Destroy> read(bam_init1());
  line.pop_back();
  kstring_t text{line.size(), line.size() + 1, line.data()};
  require(sam_parse1(&text, header, read.get()) >= 0, "htslib does not read a line");
  require(bam_get_qname(read.get()) == record.query_name, "another name");
  require(static_cast<std::size_t>(read->core.l_qseq) == record.sequence.size(), "another length");
  require(read->core.flag == record.flag, "another flag");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  hts_set_log_level(HTS_LOG_OFF);
  std::string_view rest(reinterpret_cast<const char*>(bytes), n);
  const std::string target = take_line(rest);
  const std::string name = take_line(rest);
  const std::string program = take_line(rest);
  const std::string residues = take_line(rest);
  const std::vector<std::pair<std::string, std::uint64_t>> targets{{"empty", 0}, {target, 900}};
  const io::output::SeqLetters letters({n % 2 == 0, n % 3 == 0 ? 'X' : 'N'});
  try {
    const std::string text = io::output::sam_header("fuzz", targets, program);
    io::output::check_query_name("fuzz", name);
    if (name.empty()) return 0;  // no reader gives such a record
    const std::unique_ptr<sam_hdr_t, Destroy> header(sam_hdr_parse(text.size(), text.c_str()));
    require(header && sam_hdr_nref(header.get()) == 1, "htslib does not read the header");
    const std::vector<std::uint32_t> cigar{static_cast<std::uint32_t>(residues.size()) << 4 | 7};
    io::SamRecord record;
    record.query_name = name;
    record.sequence = residues;
    record.flag = 4;
    record.mapq = 0;
    if (!residues.empty()) {
      record.flag = 256;
      record.target_id = 1;
      record.target_begin = 3;
      record.cigar = cigar;
    }
    std::string line;
    io::output::append_sam_line(line, record, targets, letters);
    check_line(line, record, header.get());
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of another kind");
    require(std::string_view(error.what()).size() < 400, "a long error");
  }
  return 0;
}
