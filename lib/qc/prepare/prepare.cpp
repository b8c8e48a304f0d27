#include "lib/qc/prepare/prepare.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "lib/qc/input/fastq_file.hpp"
#include "lib/qc/prepare/detect_adapter.hpp"
#include "lib/qc/prepare/read_sample.hpp"
#include "lib/qc/stats/overrepresented.hpp"

namespace biogpu::qc {
namespace {

constexpr std::size_t kLengthRecords = 1000;
constexpr std::uint64_t kDetectionReads = 256u << 10;
constexpr std::uint64_t kCountReads = 512u << 10;
constexpr std::uint64_t kTypicalLength = 151;
constexpr std::uint64_t kOverrepresentationBases = kTypicalLength * 10000;

// Lenient: a damaged record ends the look; the run itself will tell.
FastqChunk first_records(const std::string& path, std::size_t n) {
  FastqFile file(path, true, {});
  FastqChunk chunk;
  file.read(chunk, n);
  return chunk;
}

int longest_read(const FastqChunk& chunk) {
  std::uint32_t longest = 0;
  for (const RecordPlace& record : chunk.records) longest = std::max(longest, record.length);
  return static_cast<int>(longest);
}

// Whether G is what such an instrument writes for no signal.
bool is_two_colour(std::string_view name, Profile profile) {
  constexpr std::string_view kOld[] = {"@NS", "@NB", "@NDX", "@A0"};
  constexpr std::string_view kNew[] = {"@FS", "@MN", "@SH", "@NS", "@NB", "@NDX",
                                       "@VL", "@VH", "@A",  "@NA", "@LH"};
  const auto starts = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return profile == Profile::fastp_1 ? std::any_of(std::begin(kNew), std::end(kNew), starts)
                                     : std::any_of(std::begin(kOld), std::end(kOld), starts);
}

// Where there is no file, so that reading tells.
bool can_be_read_twice(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

using Say = std::function<void(const std::string&)>;

// Returns the number of reads in the file, as far as it is known now.
std::uint64_t detect(const std::string& path, const Options& options, const char* mate,
                     std::string& adapter, const Say& say) {
  say(std::string("Detecting adapter sequence for ") + mate + "...");
  const ReadSample reads(path, kDetectionReads, kDetectionReads * kTypicalLength);
  adapter = detect_adapter(reads, options.trim1.tail, options.follows_fastp_1());
  say(adapter.empty() ? std::string("No adapter detected for ") + mate + "\n" : adapter + "\n");
  return reads.n_reads_of_file();
}

std::vector<std::string> candidates(const std::string& path, int n_cycles) {
  return overrepresented_candidates(ReadSample(path, UINT64_MAX, kOverrepresentationBases),
                                    n_cycles);
}

}  // namespace

void prepare(Options& options, const Say& say) {
  options.trim_poly_g = options.poly_g == Options::PolyG::on;
  const bool looks = !options.reads_standard_input() && can_be_read_twice(options.in1) &&
                     (options.in2.empty() || can_be_read_twice(options.in2));
  const bool both = options.in2.empty() || options.detect_adapter_for_pe;
  const bool detects1 = options.adapter_trimming && options.adapter1 == "auto" && both &&
                        (!options.paired() || options.detect_adapter_for_pe);
  const bool detects2 = options.adapter_trimming && options.adapter2 == "auto" &&
                        options.detect_adapter_for_pe && !options.in2.empty();
  if (!looks) {
    if (detects1) say("Adapter auto-detection is disabled for STDIN mode");
    if (options.split_files > 0) options.split_records = UINT64_MAX;
    return;
  }
  const FastqChunk first = first_records(options.in1, kLengthRecords);
  options.cycles1 = longest_read(first);
  if (!options.in2.empty())
    options.cycles2 = longest_read(first_records(options.in2, kLengthRecords));
  if (options.overrepresentation) {
    options.overrepresented1 = candidates(options.in1, options.cycles1);
    if (!options.in2.empty()) options.overrepresented2 = candidates(options.in2, options.cycles2);
  }
  std::uint64_t n_reads = 0;
  if (detects1) n_reads = detect(options.in1, options, "read1", options.adapter1, say);
  if (detects2) n_reads = detect(options.in2, options, "read2", options.adapter2, say);
  if (options.split_files > 0) {
    if (n_reads == 0)
      n_reads =
          ReadSample(options.in1, kCountReads, kCountReads * kTypicalLength).n_reads_of_file();
    options.split_records = n_reads / static_cast<std::uint64_t>(options.split_files);
    if (options.split_records == 0) {
      options.split_records = 1;
      say("WARNING: the input file has less reads than the number of files to split");
    }
  }
  if (options.poly_g == Options::PolyG::automatic && !first.records.empty())
    options.trim_poly_g = is_two_colour(first.name(first.records[0]), options.profile);
}

}  // namespace biogpu::qc
