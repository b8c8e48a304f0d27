#include "lib/io/output/suffix.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace biogpu {
namespace {

TEST_CASE("io.suffix: format and compression in any case", "[io]") {
  struct Case {
    const char* path;
    const char* text;
    const char* format;
    bool is_compressed;
    bool is_known;
  };
  for (const auto& [path, text, format, is_compressed, is_known] : std::vector<Case>{
           {"-", "", "", false, false},
           {"/dev/stdout", "", "", false, false},
           {"/dev/fd/63", "", "", false, false},
           {"a.bam/b", "", "", false, false},
           {".bam", "", "", false, false},
           {"x.", "", "", false, false},
           {"x.gz", ".gz", "", true, false},
           {"x.BGZ", ".BGZ", "", true, false},
           {"x.Bam", ".Bam", "bam", false, true},
           {"d.1/x.sorted.SAM.Gz", ".SAM.Gz", "sam", true, true},
           {"x.HDF5", ".HDF5", "h5", false, true},
           {"x.bigWig", ".bigWig", "bw", false, true},
           {"x.faa.bgz", ".faa.bgz", "fasta", true, true},
           {"x.parquet", ".parquet", "parquet", false, true},
           {"x.V2", ".V2", "v2", false, false},
       }) {
    INFO(path);
    const io::Suffix suffix = io::suffix_of(path);
    CHECK(suffix.text == text);
    CHECK(suffix.format == format);
    CHECK(suffix.is_compressed == is_compressed);
    CHECK(suffix.is_known == is_known);
    CHECK(io::is_gzip_name(path) == is_compressed);
  }
}

TEST_CASE("io.suffix: what an output may be called", "[io]") {
  const std::vector<std::string> formats{"tsv", "txt", "bam"};
  for (const char* path : {"-", "x", "x.TSV", "x.tab.gz", "x.txt", "x.gz", "x.BAM", "/dev/null"})
    for (const auto others : {io::OtherSuffixes::refuse, io::OtherSuffixes::accept})
      CHECK(io::check_suffix(path, formats, others).empty());
  for (const char* path : {"x.csv", "x.bam.gz", "x.npz", "x.tsv.zst", "x.cram", "x.parquet"})
    for (const auto others : {io::OtherSuffixes::refuse, io::OtherSuffixes::accept})
      CHECK_FALSE(io::check_suffix(path, formats, others).empty());
  CHECK(io::check_suffix("x.v2", formats, io::OtherSuffixes::accept).empty());
  CHECK(io::check_suffix("x.v2", formats, io::OtherSuffixes::refuse) ==
        "'x.v2'; expected a name that ends in .tsv, .txt, .bam, text also with .gz, or has no "
        "suffix");
  const std::vector<std::string> binary{"npz"};
  CHECK_FALSE(io::check_suffix("x.gz", binary, io::OtherSuffixes::accept).empty());
}

}  // namespace
}  // namespace biogpu
