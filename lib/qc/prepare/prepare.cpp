#include "lib/qc/prepare/prepare.hpp"

#include <algorithm>
#include <string_view>

#include "lib/io/file_kind.hpp"
#include "lib/qc/input/fastq_file.hpp"
#include "lib/qc/input/read_sample.hpp"
#include "lib/qc/prepare/detect_adapter.hpp"
#include "lib/qc/prepare/known_adapters.hpp"
#include "lib/qc/stats/overrepresented.hpp"

namespace biogpu::qc {
namespace {

constexpr std::size_t kLengthRecords = 1000;
constexpr std::uint64_t kDetectionReads = 256u << 10;
constexpr std::uint64_t kCountReads = 512u << 10;
constexpr std::uint64_t kTypicalLength = 151;
constexpr std::uint64_t kOverrepresentationBases = kTypicalLength * 10000;

// A damaged record ends the look; the run itself will tell.
Damage damage_of_look(const Options& options) {
  return options.lenient ? Damage::skipped : Damage::ends_look;
}

// What the first records tell.
struct FirstRecords {
  int longest_read = 0;
  std::string first_name;  // empty: there are none
};

FirstRecords look_at(const std::string& path, const Options& options) {
  FastqFile file(path, damage_of_look(options), {});
  FastqChunk chunk;
  FirstRecords found;
  std::size_t n_left = kLengthRecords;
  while (file.read(chunk, n_left, kBytesOfLook)) {
    if (n_left == kLengthRecords) found.first_name = chunk.name(chunk.records[0]);
    for (const RecordPlace& record : chunk.records)
      found.longest_read = std::max(found.longest_read, static_cast<int>(record.length));
    n_left -= chunk.records.size();
  }
  return found;
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

using Say = std::function<void(const std::string&)>;

// Returns the number of reads in the file, as far as it is known now.
std::uint64_t detect(const std::string& path, Options& options, const char* mate,
                     std::string& adapter, const Say& say) {
  say(std::string("Detecting adapter sequence for ") + mate + "...");
  const ReadSample reads(path, kDetectionReads, kDetectionReads * kTypicalLength,
                         damage_of_look(options));
  adapter = detect_adapter(reads, options.trim1.tail, options.follows_fastp_1());
  const std::string_view name = known_adapter_name(adapter);
  if (!name.empty()) say(std::string(name));
  if (!adapter.empty()) say(adapter);
  // A slip of fastp that only known adapters are long enough for: it means to shorten them.
  constexpr std::size_t kLongestUsed = 60;
  if (adapter.size() > kLongestUsed) adapter.clear();
  if (adapter.empty()) say(std::string("No adapter detected for ") + mate);
  say("");
  if (!adapter.empty() && name.empty()) options.adapter_is_new = true;
  return reads.n_reads_of_file();
}

std::vector<std::string> candidates(const std::string& path, const Options& options, int n_cycles) {
  // As many reads as bases: for reads without any, of which a small file may hold billions.
  return overrepresented_candidates(
      ReadSample(path, kOverrepresentationBases, kOverrepresentationBases, damage_of_look(options)),
      n_cycles);
}

}  // namespace

void prepare(Options& options, const Say& say) {
  options.trim_poly_g = options.poly_g == Options::PolyG::on;
  const bool looks = !options.reads_standard_input() && !io::passes_once(options.in1) &&
                     (options.in2.empty() || !io::passes_once(options.in2));
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
  const FirstRecords first = look_at(options.in1, options);
  options.cycles1 = first.longest_read;
  if (!options.in2.empty()) options.cycles2 = look_at(options.in2, options).longest_read;
  if (options.overrepresentation) {
    options.overrepresented1 = candidates(options.in1, options, options.cycles1);
    if (!options.in2.empty())
      options.overrepresented2 = candidates(options.in2, options, options.cycles2);
  }
  std::uint64_t n_reads = 0;
  if (detects1) n_reads = detect(options.in1, options, "read1", options.adapter1, say);
  if (detects2) n_reads = detect(options.in2, options, "read2", options.adapter2, say);
  if (options.split_files > 0) {
    if (n_reads == 0)
      n_reads = ReadSample(options.in1, kCountReads, kCountReads * kTypicalLength,
                           damage_of_look(options))
                    .n_reads_of_file();
    options.split_records = n_reads / static_cast<std::uint64_t>(options.split_files);
    if (options.split_records == 0) {
      options.split_records = 1;
      say("WARNING: the input file has less reads than the number of files to split");
    }
  }
  if (options.poly_g == Options::PolyG::automatic)
    options.trim_poly_g = is_two_colour(first.first_name, options.profile);
}

}  // namespace biogpu::qc
