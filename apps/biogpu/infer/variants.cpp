// `biogpu infer variants`: what variants change in the tracks that a model of DNA predicts.
#include <fmt/format.h>

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/compare_flags.hpp"
#include "apps/biogpu/infer/dna_run.hpp"
#include "apps/biogpu/infer/table.hpp"
#include "apps/biogpu/infer/variant_input.hpp"
#include "apps/biogpu/infer/variant_scores.hpp"
#include "apps/biogpu/option_group.hpp"
#include "apps/biogpu/value_checks.hpp"
#include "lib/bio/genome/annotated_vcf.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {
namespace {

struct EffectFlags {
  DnaFlags dna;
  std::string vcf = "-";
  std::string genome;
  std::vector<std::string> scores = {"SAD"};
  std::vector<std::string> bins = {"all"};
  CompareFlags compare;
  std::int64_t grid = 1;
  bool wide = false;
  bool skip_bad = false;
};

bool is_vcf_path(const std::string& path) {
  return path.ends_with(".vcf") || path.ends_with(".vcf.gz") || path.ends_with(".bcf");
}

DnaFlags checked_flags(const EffectFlags& flags) {
  DnaFlags dna = flags.dna;
  dna.infer.inputs = {flags.vcf};
  dna.infer.also_read.push_back({"--genome", flags.genome});
  dna.infer.also_read.push_back({"--targets", dna.heads.targets});
  if (!is_vcf_path(dna.infer.output)) require_table_name(dna.infer.output);
  if (is_vcf_path(dna.infer.output) && flags.wide)
    throw Error(ErrorCode::usage, "--wide is for tables, not for VCF");
  return dna;
}

// A line of VCF has some hundred bytes; each is two windows or more.
double guess_bases(const std::string& vcf) {
  constexpr double kBasesOfByte = 2 * 196608 / 200.0;
  return kBasesOfByte * file_bytes({vcf});
}

class EffectRun {
 public:
  EffectRun(const EffectFlags& flags, const std::string& command_line);
  void write_table();
  void write_vcf();

 private:
  void run(const DnaRun::Write& write, bool as_text);
  void compute(models::DnaModel& model, std::size_t slot, bool as_text,
               pipeline::BatchResult& result) const;
  std::vector<genome::InfoField> info_fields() const;
  void write_annotated(genome::AnnotatedVcfWriter& writer, const genome::Variant& variant,
                       const io::NamedArray& array) const;
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

  const EffectFlags flags_;
  const std::vector<VariantScore> scores_;
  tasks::VariantWindowOptions windows_;
  tasks::CompareOptions compare_;
  DnaRun run_;
  VariantInput input_;
  std::vector<std::string> tracks_;
  VariantTable table_;
};

genome::VariantReaderOptions reader_options(const EffectFlags& flags) {
  genome::VariantReaderOptions options;
  options.bad = flags.skip_bad ? genome::BadVariants::skip : genome::BadVariants::refuse;
  options.keep_source = is_vcf_path(flags.dna.infer.output);
  return options;
}

EffectRun::EffectRun(const EffectFlags& flags, const std::string& command_line)
    : flags_(flags),
      scores_(parse_scores(flags.scores)),
      compare_(compare_options(flags.compare, unknown_code(flags.dna))),
      run_(checked_flags(flags), "infer variants", command_line, guess_bases(flags.vcf)),
      input_(flags.vcf, flags.genome, reader_options(flags)),
      tracks_(track_names(flags.dna.heads, flags.dna.infer.model, run_.model())),
      table_(scores_, tracks_, flags.wide) {
  for (const std::string& bins : flags.bins) windows_.bins.push_back(tasks::parse_bin_choice(bins));
  windows_.grid = flags.grid;
  const models::DnaModel::Info& info = run_.info();
  if (const std::int64_t most = info.n_bins * info.bin_size; flags.grid > most)
    throw Error(ErrorCode::usage, fmt::format("--grid {}: the model predicts {} bases of a window",
                                              flags.grid, most));
}

// Text of a batch, or an array [alleles, scores * ranges * tracks] of each variant.
void EffectRun::compute(models::DnaModel& model, std::size_t slot, bool as_text,
                        pipeline::BatchResult& result) const {
  const std::vector<genome::Variant>& variants = input_.variants(slot);
  const tasks::VariantWindows windows =
      tasks::make_variant_windows(input_.genome(), model.info(), variants, windows_);
  const std::vector<tasks::Compared> compared =
      tasks::compare_windows(model, windows.comparisons, compare_);
  std::vector<std::vector<float>> of_variant(variants.size());
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const tasks::ScoredAllele& allele = windows.alleles[i];
    const genome::Variant& variant = variants[allele.variant];
    const std::vector<float> values = compute_scores(scores_, compared[i]);
    run_.require_finite(values, input_.place(variant));
    if (as_text)
      table_.append(input_.genome().contigs()[variant.contig].name, variant, allele, values,
                    result.text);
    else
      of_variant[allele.variant].insert(of_variant[allele.variant].end(), values.begin(),
                                        values.end());
  }
  result.n_records += variants.size();
  result.n_residues += compared.size();
  if (as_text) return;
  for (const std::vector<float>& values : of_variant)
    result.arrays.push_back({"", {std::ssize(values)}, values});
}

void EffectRun::run(const DnaRun::Write& write, bool as_text) {
  compare_.windows_per_pass = run_.windows_per_pass({});
  input_.set_windows(run_.info().window, flags_.grid);
  input_.set_batch(compare_.windows_per_pass);
  run_.run(
      input_,
      [&](models::DnaModel& model, std::size_t slot, pipeline::BatchResult& result) {
        compute(model, slot, as_text, result);
      },
      write);
  if (run_.n_records() == 0) run_.log().warn("the input has no variant; the output has none");
}

void EffectRun::write_table() {
  io::OutputFile out(flags_.dna.infer.output, flags_.dna.infer.shared.threads);
  out.write(table_.header());
  run([&](const pipeline::BatchResult& result) { out.write(result.text); }, true);
  finish(out.bytes(), [&] { out.commit(); });
}

std::vector<genome::InfoField> EffectRun::info_fields() const {
  std::vector<genome::InfoField> fields;
  for (const VariantScore& score : scores_)
    for (const tasks::BinChoice& bins : windows_.bins) {
      std::string id = score.name;
      if (bins.width > 0) id += fmt::format("_CENTRE_{}", bins.width);
      const bool single = tracks_.size() == 1;
      fields.push_back(
          {id, single ? "A" : ".",
           fmt::format("{}, {} of bins {}, by {}: {}{}", score.description,
                       flags_.compare.reduction, bins.name, run_.info().architecture,
                       single ? "" : "for each ALT allele the tracks ", fmt::join(tracks_, ","))});
    }
  return fields;
}

void EffectRun::write_annotated(genome::AnnotatedVcfWriter& writer, const genome::Variant& variant,
                                const io::NamedArray& array) const {
  const std::size_t n_fields = scores_.size() * windows_.bins.size();
  std::vector<std::vector<float>> fields(n_fields);
  const float* value = array.values.data();
  for (const genome::AltAllele& alt : variant.alts)
    for (std::vector<float>& field : fields) {
      const bool scored = alt.kind == genome::AlleleKind::letters;
      for (std::size_t t = 0; t < tracks_.size(); ++t)
        field.push_back(scored ? *value++ : std::numeric_limits<float>::quiet_NaN());
    }
  writer.write(variant, fields);
}

// Results that --resume had come before their variants are read.
void EffectRun::write_vcf() {
  genome::AnnotatedVcfWriter writer(flags_.dna.infer.output, input_.reader(), info_fields());
  std::deque<io::NamedArray> waiting;
  const auto write_read = [&] {
    while (!waiting.empty()) {
      const std::optional<genome::Variant> variant = input_.take_variant();
      if (!variant) return;
      write_annotated(writer, *variant, waiting.front());
      waiting.pop_front();
    }
  };
  run(
      [&](const pipeline::BatchResult& result) {
        waiting.insert(waiting.end(), result.arrays.begin(), result.arrays.end());
        write_read();
      },
      false);
  write_read();
  writer.finish();
  finish(0, [&] { writer.commit(); });
}

void EffectRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  const genome::VariantCounts& counts = input_.reader().counts();
  run_.finish(output_bytes,
              {{"windows_per_pass", compare_.windows_per_pass},
               {"records", counts.records},
               {"variants", run_.n_records()},
               {"skipped",
                {{"no_alternate", counts.no_alternate},
                 {"symbolic_alleles", counts.symbolic},
                 {"unknown_sequence", counts.unknown_contig},
                 {"other_reference", counts.other_ref}}}},
              name_outputs);
  if (counts.skipped() == 0) return;
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: skipped: {} symbolic alleles, {} records of unknown sequences, {} "
                          "with another REF than the genome; the output has the others",
                          input_.reader().label(), counts.symbolic, counts.unknown_contig,
                          counts.other_ref));
}

}  // namespace

Run add_infer_variants(CLI::App& command) {
  const auto flags = std::make_shared<EffectFlags>();
  const OptionGroup options(command);
  options.option("VCF", flags->vcf, "variants, VCF or BCF; none or -: standard input", " ");
  options
      .option("--genome", flags->genome, "genome of the variants; indexed where it has no .fai",
              "FASTA")
      ->required();
  options.option("-o,--output", flags->dna.infer.output,
                 "table, or .vcf, .vcf.gz, .bcf: the input with INFO fields [-, TSV on stdout]",
                 "FILE");
  add_head_flags(command, flags->dna.heads);
  options.option("--scores", flags->scores, known_scores() + " [SAD]", "SCORE,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  options
      .option("--bins", flags->bins,
              "bins that a score is of: all, centre (the variant's), centre:N (N around it) [all]",
              "BINS,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_compare_flags(command, flags->compare);
  options
      .option("--grid", flags->grid,
              "centres of windows in pieces of N bases, so that variants of one piece share the\n"
              "pass over their reference; 1: at each variant [1]",
              "N")
      ->transform(in_range(1, 1 << 24));
  options.flag("--wide", flags->wide, "a column a track");
  options.flag("--skip-bad", flags->skip_bad,
               "leave out symbolic alleles, unknown sequences and a REF that is not the genome's;\n"
               "the exit code is 3 then");
  add_dna_flags(command, flags->dna);
  command.footer(
      std::string("A line a variant, ALT allele, choice of bins, score and track. Windows have the "
                  "variant's\nfirst base in the middle; insertions and deletions move what is "
                  "right of them.\n\n"
                  "Examples:\n"
                  "  biogpu infer variants --model enformer --genome genome.fa --head human \\\n"
                  "      --tracks DNASE variants.vcf -o sad.tsv\n"
                  "  biogpu infer variants --model enformer --genome genome.fa --head human \\\n"
                  "      --scores SAD,SAR --bins centre:3 --strands both variants.vcf \\\n"
                  "      -o annotated.vcf\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) {
    EffectRun run(*flags, command_line);
    is_vcf_path(flags->dna.infer.output) ? run.write_vcf() : run.write_table();
  };
}

}  // namespace biogpu::app
