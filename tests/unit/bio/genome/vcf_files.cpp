#include "tests/unit/bio/genome/vcf_files.hpp"

#include <htslib/vcf.h>

#include <algorithm>
#include <stdexcept>

namespace biogpu::test {

std::string vcf_text(const std::vector<std::string>& samples,
                     const std::vector<std::string>& lines) {
  std::string text =
      "##fileformat=VCFv4.2\n"
      "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"count\">\n"
      "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"genotype\">\n"
      "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"depth\">\n"
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO";
  if (!samples.empty()) text += "\tFORMAT";
  for (const std::string& sample : samples) text += "\t" + sample;
  text += "\n";
  for (const std::string& line : lines) {
    text += line;
    const auto n_columns = std::count(line.begin(), line.end(), '\t') + 1;
    if (n_columns >= 5)
      for (auto i = n_columns; i < 8; ++i) text += "\t.";
    text += "\n";
  }
  return text;
}

std::string to_bcf(const TempFolder& folder, const std::string& vcf) {
  std::string defined = vcf;
  for (const char* contig : {"chr1", "chr2"})
    defined.insert(defined.find("#CHROM"),
                   "##contig=<ID=" + std::string(contig) + ",length=1000>\n");
  const std::string text = folder.file("to-bcf.vcf", defined);
  const std::string path = folder.path("made.bcf");
  htsFile* const in = hts_open(text.c_str(), "r");
  htsFile* const out = hts_open(path.c_str(), "wb");
  bcf_hdr_t* const header = bcf_hdr_read(in);
  bcf1_t* const record = bcf_init();
  bool good = bcf_hdr_write(out, header) == 0;
  while (good && bcf_read(in, header, record) == 0) good = bcf_write(out, header, record) == 0;
  bcf_destroy(record);
  bcf_hdr_destroy(header);
  hts_close(in);
  if (hts_close(out) != 0 || !good) throw std::runtime_error("writing BCF failed");
  return path;
}

}  // namespace biogpu::test
