#include "lib/qc/merge/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/io/mapped_file.hpp"
#include "lib/qc/stats/duplicates.hpp"

namespace biogpu::io {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Shard, index, count)
}

namespace biogpu::qc {
// All that decides what a run finds or how a report tells it; names of files do not.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FixedTrim, front, tail, max_length)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WindowCut, enabled, window, quality)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(
    Options, in2, report_title, interleaved, phred64, reads_to_process, profile, virtual_workers,
    adapter_trimming, detect_adapter_for_pe, adapter1, adapter2, dimer_max_len, fasta_adapters,
    trim1, trim2, cut_front, cut_tail, cut_right, trim_poly_g, poly_g_min_len, trim_poly_x,
    poly_x_min_len, quality_filter, qualified_quality, unqualified_percent, n_base_limit,
    average_quality, length_filter, length_required, length_limit, complexity_filter,
    complexity_percent, index_list1, index_list2, index_threshold, correction, overlap_require,
    overlap_diff_limit, overlap_diff_percent, merge, include_unmerged, umi, umi_location,
    umi_length, umi_skip, umi_delimiter, gapped_overlap, duplicates, duplicate_level,
    overrepresentation, overrepresentation_sampling, overrepresented1, overrepresented2, cycles1,
    cycles2, shard)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CycleSums, bases, quality, all_bases, all_quality)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReadStats, n_reads, n_bases, q20_bases, q30_bases, q40_bases,
                                   cycles, kmers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TurnCounts, n_reads, found)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Flow, reads, bases, bases_out)

namespace {

using nlohmann::json;

constexpr int kLayout = 4;

json json_of(const FilterCounts& counts) {
  return {{"verdicts", counts.verdicts},
          {"adapter_reads", counts.adapter_reads},
          {"adapter_bases", counts.adapter_bases},
          {"poly_x_reads", counts.poly_x_reads},
          {"poly_x_bases", counts.poly_x_bases},
          {"corrected_reads", counts.corrected_reads},
          {"corrected_bases", counts.corrected_bases},
          {"merged_pairs", counts.merged_pairs},
          {"insert_sizes", counts.insert_sizes}};
}

void read_filter_counts(const json& from, FilterCounts& counts) {
  from.at("verdicts").get_to(counts.verdicts);
  from.at("adapter_reads").get_to(counts.adapter_reads);
  from.at("adapter_bases").get_to(counts.adapter_bases);
  from.at("poly_x_reads").get_to(counts.poly_x_reads);
  from.at("poly_x_bases").get_to(counts.poly_x_bases);
  from.at("corrected_reads").get_to(counts.corrected_reads);
  from.at("corrected_bases").get_to(counts.corrected_bases);
  from.at("merged_pairs").get_to(counts.merged_pairs);
  from.at("insert_sizes").get_to(counts.insert_sizes);
}

// In their order, on which it depends which of them fastp 1 counts.
json json_of(const std::vector<TextCounts>& workers) {
  json all = json::array();
  for (const TextCounts& counts : workers) {
    json texts = json::array();
    json numbers = json::array();
    for (const auto& [text, n] : counts.list()) {
      texts.push_back(std::string(text));
      numbers.push_back(n);
    }
    all.push_back({{"texts", std::move(texts)}, {"counts", std::move(numbers)}});
  }
  return all;
}

static_assert(std::endian::native == std::endian::little);

// Gives the keys' memory back: they are most of a part.
json take_json_of(PackedKeys& keys) {
  const std::string_view bytes = keys.bytes();
  json all = json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  keys = PackedKeys();
  return all;
}

[[noreturn]] void refuse_numbers() {
  throw json::other_error::create(500, "numbers do not go together", nullptr);
}

// The keys of the options' hash. Leaves nothing of them in `from`.
PackedKeys take_keys(json& from, const Options& options) {
  std::vector<std::uint8_t>& bytes = from.get_binary();
  PackedKeys keys = options.duplicates ? PackedKeys(DuplicateHash(options).n_bits()) : PackedKeys();
  if (bytes.size() % keys.key_bytes() != 0) refuse_numbers();
  keys.append_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  from = nullptr;
  return keys;
}

// The counts of as many workers as the options have.
std::vector<TextCounts> read_text_counts(const json& from, const Options& options) {
  const int n_workers = options.follows_fastp_1() ? options.virtual_workers : 1;
  if (!from.is_array() || std::ssize(from) != n_workers) refuse_numbers();
  std::vector<TextCounts> workers(from.size());
  for (std::size_t w = 0; w < from.size(); ++w) {
    const auto& texts = from[w].at("texts").get_ref<const json::array_t&>();
    const auto& numbers = from[w].at("counts").get_ref<const json::array_t&>();
    if (texts.size() != numbers.size()) refuse_numbers();
    for (std::size_t i = 0; i < texts.size(); ++i)
      workers[w].add(texts[i].get_ref<const std::string&>(), numbers[i].get<std::uint64_t>());
  }
  return workers;
}

// There are none in a part, and not every one fits the whole number that it is read as.
void refuse_fractions(const json& value) {
  if (value.is_number_float()) refuse_numbers();
  if (value.is_structured())
    for (const json& inner : value) refuse_fractions(inner);
}

void check_part_ranges(const Options& options) {
  const bool good = options.overrepresentation_sampling >= 1 && options.duplicate_level >= 1 &&
                    options.duplicate_level <= 6 && options.overlap_require >= 0 &&
                    (options.profile == Profile::fastp_0_23 || options.profile == Profile::fastp_1);
  if (!good) refuse_numbers();
}

// What merging indexes with.
void check_sizes(const Part& part) {
  const Options& options = part.options;
  bool good = true;
  const auto sampling = static_cast<std::size_t>(options.overrepresentation_sampling);
  for (const auto* turns : {&part.partial.before, &part.partial.after})
    for (std::size_t m = 0; m < 2 && options.overrepresentation; ++m) {
      const std::size_t n =
          m == 0 ? options.overrepresented1.size() : options.overrepresented2.size();
      good = good && (*turns)[m].found.size() == (*turns)[m].n_reads.size() * sampling;
      for (const std::vector<std::uint64_t>& counts : (*turns)[m].found)
        good = good && counts.size() == n;
    }
  if (good && options.duplicates) {
    const DuplicateHash hash(options);
    const PackedKeys& keys = part.partial.keys;
    good = keys.size() % static_cast<std::size_t>(hash.n_tables()) == 0;
    for (std::size_t k = 0; good && k < keys.size(); ++k)
      good = keys[k] >> std::max(32, hash.n_bits()) == 0;
  }
  if (!good) refuse_numbers();
}

// Takes the keys out of `from`.
Part part_of(json& from) {
  Part part;
  from.at("options").get_to(part.options);
  from.at("records").get_to(part.n_records);
  from.at("command").get_to(part.command);
  from.at("before").get_to(part.summary.before);
  from.at("after").get_to(part.summary.after);
  read_filter_counts(from.at("tally"), part.summary.counts);
  from.at("flow").get_to(part.summary.flow);
  for (std::size_t m = 0; m < 2; ++m)
    part.partial.adapters[m] = read_text_counts(from.at("adapters").at(m), part.options);
  from.at("turns_before").get_to(part.partial.before);
  from.at("turns_after").get_to(part.partial.after);
  check_part_ranges(part.options);
  part.partial.keys = take_keys(from.at("duplicate_keys"), part.options);
  check_sizes(part);
  return part;
}

}  // namespace

std::string encode_part(Part part) {
  const std::size_t n_key_bytes = part.partial.keys.bytes().size();
  const json text{
      {"biogpu_qc_part", kLayout},
      {"options", part.options},
      {"records", part.n_records},
      {"command", part.command},
      {"before", part.summary.before},
      {"after", part.summary.after},
      {"tally", json_of(part.summary.counts)},
      {"flow", part.summary.flow},
      {"adapters", {json_of(part.partial.adapters[0]), json_of(part.partial.adapters[1])}},
      {"duplicate_keys", take_json_of(part.partial.keys)},
      {"turns_before", part.partial.before},
      {"turns_after", part.partial.after}};
  constexpr std::size_t kMuchOfTheRest = 1u << 20;
  std::string bytes;
  bytes.reserve(n_key_bytes + kMuchOfTheRest);
  json::to_cbor(text, bytes);
  return bytes;
}

Part read_part(const std::string& path) {
  const io::MappedFile file(path);
  const std::string_view bytes = file.bytes();
  const bool is_map = !bytes.empty() && static_cast<unsigned char>(bytes[0]) >> 5 == 5;
  json whole = is_map ? parse_bounded_cbor(bytes, path) : json();
  if (!whole.contains("biogpu_qc_part"))
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: is no part of a report; expected a file of 'biogpu qc --part'", path));
  if (whole["biogpu_qc_part"] != kLayout)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: is of another version; expected one of this biogpu", path));
  try {
    refuse_fractions(whole);
    return part_of(whole);
  } catch (const json::exception&) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: is damaged: what it holds is not what a part holds; write it again "
                    "with 'biogpu qc --part'",
                    path));
  }
}

std::string whole_command(const std::string& command_line) {
  std::istringstream words(command_line);
  std::string command;
  for (std::string word; words >> word;) {
    const bool ours = word == "--shard" || word == "--part";
    if (ours) words >> word;
    if (ours || word.starts_with("--shard=") || word.starts_with("--part=")) continue;
    // The spelling by which every MultiQC finds the sample's name.
    if (word == "--in1") word = "-i";
    if (word.starts_with("--in1=")) word.replace(0, 6, "-i ");
    if (word.starts_with("-i") && word.size() > 2 && word[2] != ' ') word.insert(2, " ");
    command += (command.empty() ? "" : " ") + word;
  }
  return command;
}

}  // namespace biogpu::qc
