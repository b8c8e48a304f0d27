// `biogpu infer mutagenesis`: what every single substitution of a region changes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/dna/compare_flags.hpp"
#include "apps/biogpu/infer/dna/dna_run.hpp"
#include "apps/biogpu/infer/dna/region_input.hpp"
#include "apps/biogpu/infer/dna/variant_scores.hpp"
#include "lib/bio/genome/tracks/sequence_logo.hpp"
#include "lib/bio/genome/tracks/signal_file.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

struct MutagenesisFlags {
  DnaFlags dna;
  tasks::GenomeRegions regions;
  CompareFlags compare;
  std::string score = "SAD";
  std::string bins = "all";
  std::string max_path;
  std::string logo_path;
};

DnaFlags checked_flags(const MutagenesisFlags& flags) {
  DnaFlags dna = flags.dna;
  dna.heads.both_strands = flags.compare.strands == "both";
  InferFlags& infer = dna.infer;
  if (flags.regions.bed.empty() && flags.regions.regions.empty())
    throw Error(ErrorCode::usage, "give --region or --regions");
  infer.also_read.push_back({"--genome", flags.regions.genome});
  infer.also_read.push_back({"--regions", flags.regions.bed});
  infer.also_read.push_back({"--targets", dna.heads.targets});
  if (io::array_format(infer.output) == io::ArrayFormat::npy)
    infer.also_written.push_back({"the index", io::npy_index(infer.output)});
  if (!flags.max_path.empty()) infer.also_written.push_back({"--max", flags.max_path});
  if (!flags.logo_path.empty()) infer.also_written.push_back({"--logo", flags.logo_path});
  return dna;
}

// A region's numbers, as its pieces come.
struct RegionNumbers {
  std::vector<float> values;  // [letters, 4, tracks]

  // Of a letter, the substitutions' means over tracks, nothing for the letter itself and where it
  // stays as it is.
  std::vector<float> means(std::size_t letter, genome::LetterCode code,
                           std::size_t n_tracks) const {
    std::vector<float> found;
    if (code >= genome::kUnknownLetter) return found;
    for (std::size_t other = 0; other < 4; ++other) {
      if (other == code) continue;
      const float* const tracks = values.data() + (4 * letter + other) * n_tracks;
      double sum = 0;
      for (std::size_t t = 0; t < n_tracks; ++t) sum += static_cast<double>(tracks[t]);
      found.push_back(static_cast<float>(sum / static_cast<double>(n_tracks)));
    }
    return found;
  }
};

class MutagenesisRun {
 public:
  MutagenesisRun(const MutagenesisFlags& flags, const std::string& command_line);
  void run();

 private:
  void compute(models::DnaModel& model, std::size_t slot, pipeline::RecordOutputs& result) const;
  void append_lines(const genome::Window& region, const tasks::PieceMutations& made,
                    const std::vector<std::vector<float>>& values, std::string& text) const;
  void write(const pipeline::RecordOutputs& result);
  void finish_region(std::size_t region);
  genome::LogoTexts logo_texts(const genome::Window& region) const;

  const MutagenesisFlags flags_;
  const VariantScore score_;
  const tasks::BinChoice bins_;
  tasks::CompareOptions compare_;
  DnaRun run_;
  RegionInput input_;
  std::vector<std::string> tracks_;
  bool as_table_ = false;
  std::unique_ptr<io::OutputFile> table_;
  std::unique_ptr<io::ArrayWriter> arrays_;
  std::optional<genome::SignalFile> max_file_;
  std::optional<genome::Signal> max_;
  std::unique_ptr<io::OutputFile> logo_;
  std::size_t n_pieces_ = 0;  // written
  RegionNumbers numbers_;
};

MutagenesisRun::MutagenesisRun(const MutagenesisFlags& flags, const std::string& command_line)
    : flags_(flags),
      score_(parse_scores({flags.score}).front()),
      bins_(tasks::parse_bin_choice(flags.bins)),
      compare_(compare_options(flags.compare, unknown_code(flags.dna))),
      run_(checked_flags(flags), "infer mutagenesis", command_line, 0),
      input_(flags.regions, flags.dna.infer.shard, flags.dna.infer.bad_records()),
      tracks_(track_names(flags.dna.heads, flags.dna.infer.model, run_.model())) {
  const std::string& output = flags.dna.infer.output;
  as_table_ = io::array_format(output) == io::ArrayFormat::tsv;
  input_.set_windows(run_.info().window);
  tasks::require_centre({&bins_, 1}, run_.model(), compare_.shifts, 1);
  if (!flags.logo_path.empty() && input_.regions().size() != 1)
    throw Error(ErrorCode::usage,
                fmt::format("--logo is of one region; there are {}", input_.regions().size()));
  if (as_table_) {
    table_ = std::make_unique<io::OutputFile>(output, flags.dna.infer.shared.threads);
    table_->write("region\tchrom\tpos\tref\talt\tbins\tscore\ttrack\tvalue\n");
  } else {
    arrays_ = io::make_array_writer(output, io::array_format(output));
  }
  if (!flags.max_path.empty()) {
    max_.emplace(input_.genome().contigs());
    max_file_.emplace(flags.max_path);
    max_file_->check(input_.genome().contigs());
    genome::SignalPlaces places(input_.genome().contigs());
    for (std::size_t i = 0; i < input_.regions().size(); ++i) {
      const genome::Window& region = input_.regions()[i];
      places.take(region.contig, region.begin, region.end, input_.places()[i]);
    }
  }
  if (!flags.logo_path.empty()) logo_ = std::make_unique<io::OutputFile>(flags.logo_path);
}

void MutagenesisRun::append_lines(const genome::Window& region, const tasks::PieceMutations& made,
                                  const std::vector<std::vector<float>>& values,
                                  std::string& text) const {
  const std::int64_t begin = made.begin;
  for (std::size_t i = 0; i < made.mutations.size(); ++i) {
    const auto& [position, letter] = made.mutations[i];
    const genome::LetterCode codes[] = {made.letters[static_cast<std::size_t>(position - begin)],
                                        letter};
    const std::string letters = genome::decode_letters(codes);
    for (std::size_t t = 0; t < tracks_.size(); ++t)
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.6g}\n",
                     region.key, input_.genome().contigs()[region.contig].name, position + 1,
                     letters[0], letters[1], bins_.name, score_.name, tracks_[t], values[i][t]);
  }
}

// The array of a piece, and its lines where a table is written.
void MutagenesisRun::compute(models::DnaModel& model, std::size_t slot,
                             pipeline::RecordOutputs& result) const {
  const RegionInput::Piece& at = input_.piece(slot);
  const genome::Window& region = input_.regions()[at.region];
  const genome::Window& window = at.piece.window;
  const tasks::PieceMutations made = tasks::make_mutations(
      input_.genome(), at.piece, {tasks::make_target(bins_, window, window.centre())});
  std::vector<std::vector<float>> values;
  if (!made.mutations.empty())
    for (const tasks::Compared& compared :
         tasks::compare_windows(model, {&made.comparison, 1}, compare_)) {
      values.push_back(compute_scores({score_}, compared));
      run_.require_finite(values.back(), region.key);
    }
  const std::size_t n_tracks = tracks_.size();
  std::vector<float> dense(made.letters.size() * 4 * n_tracks);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [position, letter] = made.mutations[i];
    const auto row = static_cast<std::size_t>(position - made.begin) * 4 + letter;
    std::copy(values[i].begin(), values[i].end(), dense.begin() + row * n_tracks);
  }
  result.n_records = 1;
  result.n_residues = made.mutations.size();
  result.arrays.push_back(
      {region.key, {std::ssize(made.letters), 4, static_cast<std::int64_t>(n_tracks)}, dense});
  if (as_table_) append_lines(region, made, values, result.text);
}

void MutagenesisRun::write(const pipeline::RecordOutputs& result) {
  if (table_) table_->write(result.text);
  const io::SharedArray& piece = result.arrays.front().values;
  numbers_.values.insert(numbers_.values.end(), piece.begin(), piece.end());
  const RegionInput::Piece& at = input_.piece_at(n_pieces_++);
  if (at.piece.end == input_.regions()[at.region].end) finish_region(at.region);
}

genome::LogoTexts MutagenesisRun::logo_texts(const genome::Window& region) const {
  constexpr std::size_t kMaxNamed = 4;
  const std::vector<std::string> tracks =
      described_tracks(flags_.dna.heads, flags_.dna.infer.model, run_.model());
  genome::LogoTexts texts;
  texts.title = region.key;
  texts.x_axis =
      fmt::format("position on {} (bases)", input_.genome().contigs()[region.contig].name);
  texts.y_axis = fmt::format("loss of {} ({})", score_.name, score_.unit);
  std::string height =
      fmt::format("Height of a letter: mean loss of {} = {} by its three substitutions",
                  score_.name, score_.description);
  if (tracks.size() > 1) height += fmt::format(", mean of {} tracks", tracks.size());
  texts.notes.push_back(height + ". Letters below the line: a gain.");
  for (std::size_t i = 0; i < std::min(tracks.size(), kMaxNamed); ++i)
    texts.notes.push_back(fmt::format("Track {}", tracks[i]));
  if (tracks.size() > kMaxNamed)
    texts.notes.push_back(fmt::format("and {} more tracks", tracks.size() - kMaxNamed));
  return texts;
}

void MutagenesisRun::finish_region(std::size_t i) {
  const genome::Window& region = input_.regions()[i];
  const std::size_t n_tracks = tracks_.size();
  if (arrays_)
    arrays_->add(
        {region.key, {region.size(), 4, static_cast<std::int64_t>(n_tracks)}, numbers_.values});
  std::vector<genome::LetterCode> letters(static_cast<std::size_t>(region.size()));
  input_.genome().fetch(region.contig, region.begin, letters);
  std::vector<float> largest, heights;
  for (std::size_t at = 0; at < letters.size(); ++at) {
    const std::vector<float> means = numbers_.means(at, letters[at], n_tracks);
    float extreme = 0, sum = 0;
    for (const float mean : means) {
      if (std::abs(mean) > std::abs(extreme)) extreme = mean;
      sum += mean;
    }
    largest.push_back(extreme);
    heights.push_back(means.empty() ? 0 : -sum / static_cast<float>(means.size()));
  }
  if (max_) max_->add({region.contig, region.begin, 1, largest, region.key});
  if (logo_)
    logo_->write(genome::sequence_logo(logo_texts(region), letters, heights, region.begin + 1));
  numbers_.values.clear();
}

void MutagenesisRun::run() {
  run_.prepare(compare_);
  run_.run(
      input_,
      [&](models::DnaModel& model, std::size_t slot, pipeline::RecordOutputs& result) {
        compute(model, slot, result);
      },
      [&](const pipeline::RecordOutputs& result) { write(result); });
  if (run_.n_records() == 0) run_.log().warn("there is no region; the output is empty");
  if (max_file_) {
    max_file_->write(*max_);
    max_file_->finish();
  }
  if (logo_) logo_->finish();
  run_.finish(table_ ? table_->bytes() : arrays_->bytes(),
              {{"windows_per_pass", compare_.windows_per_pass},
               {"regions", input_.regions().size()},
               {"tracks", tracks_.size()},
               {"skipped", {{"records", input_.n_skipped()}}}},
              [&] {
                table_ ? table_->commit() : arrays_->commit();
                if (max_file_) max_file_->commit();
                if (logo_) logo_->commit();
              });
  if (input_.n_skipped() > 0)
    throw skipped_error(io::input::label_of(input_.bed()),
                        records_that_do_not_fit(input_.n_skipped()));
}

}  // namespace

Run add_infer_mutagenesis(CLI::App& command) {
  const auto flags = std::make_shared<MutagenesisFlags>();
  const OptionGroup options(command);
  options
      .option("-o,--output", flags->dna.infer.output,
              "write a table, or by the suffix arrays [positions, 4, tracks], to this file [-, TSV "
              "on standard output]",
              "FILE")
      ->check(array_name());
  options
      .option("--genome", flags->regions.genome,
              "read the regions from this genome, which is indexed where it has no .fai", "FASTA")
      ->required();
  add_list(command,
           {"--region",
            "change every base of this region, as chr7:1001-1200; repeat it for more",
            "REGION",
            {},
            '\0'},
           flags->regions.regions);
  options.option("--regions", flags->regions.bed,
                 "change every base of these regions, which the fourth column names", "BED");
  options
      .option("--max", flags->max_path,
              "write the largest change at each position, of the mean over tracks, to this file",
              "BEDGRAPH|BW")
      ->check(output_name({"bedgraph", "bw"}));
  options
      .option("--logo", flags->logo_path,
              "draw the letters of the region as high as they matter into this file", "SVG")
      ->check(output_name({"svg"}));
  flags->dna.heads.bins_only = true;
  add_head_flags(command, flags->dna.heads);
  options.option("--score", flags->score,
                 fmt::format("compute this score: {} [SAD]", known_scores()), "SCORE");
  options.option("--bins", flags->bins,
                 "compare all bins, those of the region (centre) or N around it (centre:N) [all]",
                 "BINS");
  add_skip_bad_flag(command, flags->dna.infer,
                    "intervals of --regions that are not in the genome, or longer than a window");
  add_compare_flags(command, flags->compare);
  add_dna_flags(command, flags->dna);
  add_infer_shard_flag(command, flags->dna.infer,
                       "compute part I of N of the regions; 'biogpu gather' joins tables");
  command.get_option("--logo")->excludes(command.get_option("--shard"));
  command.footer(
      std::string(
          "Every letter of a region becomes each of the three others, in the window around the\n"
          "region's centre. The logo's letters are as high as the mean loss of the three.\n\n"
          "Examples:\n"
          "  biogpu infer mutagenesis --model enformer --genome genome.fa --head human \\\n"
          "      --tracks TRACK2 --region chr1:5001-5020 -o ism.tsv --logo ism.svg\n"
          "  biogpu infer mutagenesis --model enformer --genome genome.fa --head human \\\n"
          "      --bins centre:3 --region chr1:5001-5020 -o ism.h5 --max ism.bedgraph\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { MutagenesisRun(*flags, command_line).run(); };
}

}  // namespace biogpu::app
