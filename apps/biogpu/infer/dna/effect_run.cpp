#include "apps/biogpu/infer/dna/effect_run.hpp"

#include <fmt/format.h>

#include <deque>
#include <limits>
#include <utility>

#include "apps/biogpu/command_line/list_option.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/file_kind.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/output_file.hpp"
#include "lib/io/shard.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

DnaFlags checked_flags(const EffectFlags& flags) {
  DnaFlags dna = flags.dna;
  dna.infer.inputs = {flags.vcf};
  dna.heads.both_strands = flags.compare.strands == "both";
  dna.infer.also_read.push_back({"--genome", flags.genome});
  dna.infer.also_read.push_back({"--targets", dna.heads.targets});
  if (is_vcf_path(dna.infer.output) && flags.wide)
    throw Error(ErrorCode::usage, "--wide is for tables, not for VCF");
  if (is_vcf_path(dna.infer.output) && !(flags.genes.empty() && flags.samples.empty()))
    throw Error(ErrorCode::usage, "--genes and --samples are for tables, not for VCF");
  if (!flags.samples.empty())
    io::require_regular_file(flags.vcf, "--samples reads all of it first");
  dna.infer.also_read.push_back({"--genes", flags.genes});
  return dna;
}

// Without a shard: haplotypes are read from the whole file.
genome::VariantReaderOptions reader_options(const EffectFlags& flags) {
  genome::VariantReaderOptions options;
  options.bad = flags.dna.infer.bad_records();
  options.samples = flags.samples;
  return options;
}

}  // namespace

// A line of VCF has some hundred bytes; each is two windows or more.
double guess_bases(const EffectFlags& flags) {
  constexpr double kBasesOfByte = 2 * 196608 / 200.0;
  return kBasesOfByte * file_bytes({flags.vcf});
}

genome::VariantReaderOptions shard_options(const EffectFlags& flags) {
  genome::VariantReaderOptions options = reader_options(flags);
  options.keep_source = is_vcf_path(flags.dna.infer.output);
  if (const io::Shard& shard = flags.dna.infer.shard; !shard.is_whole()) {
    io::require_file_for_shard(flags.vcf);
    options.records = io::shard_range(shard, genome::count_variant_records(flags.vcf));
  }
  return options;
}

bool is_vcf_path(const std::string& path) {
  const std::string format = io::suffix_of(path).format;
  return format == "vcf" || format == "bcf";
}

EffectRun::EffectRun(const EffectFlags& flags, const std::string& command_line)
    : flags_(flags),
      scores_(parse_scores(flags.scores)),
      compare_(compare_options(flags.compare, unknown_code(flags.dna))),
      run_(checked_flags(flags), "infer variants", command_line, guess_bases(flags)),
      input_(flags.vcf, flags.genome, shard_options(flags)),
      tracks_(track_names(flags.dna.heads, flags.dna.infer.model, run_.model())),
      table_(scores_, tracks_, {flags.wide, !flags.samples.empty()}) {
  for (const std::string& bins : flags.bins) add_bins(bins);
  windows_.grid = flags.grid;
  windows_.shifts = compare_.shifts;
  read_annotation();
  for (const models::BinGrid& bins : run_.model().grids())
    if (flags.grid > bins.n_bases())
      throw Error(ErrorCode::usage,
                  fmt::format("--grid {}: the model predicts {} bases of a window", flags.grid,
                              bins.n_bases()));
  tasks::require_centre(windows_.bins, run_.model(), compare_.shifts, flags.grid);
}

// "centre" and "centre:1" are the same.
void EffectRun::add_bins(const std::string& text) {
  const tasks::BinChoice choice = tasks::parse_bin_choice(text);
  for (const tasks::BinChoice& other : windows_.bins)
    if (other.width == choice.width)
      throw Error(ErrorCode::usage, "--bins: " + describe_repeat(choice.name));
  windows_.bins.push_back(choice);
}

// Genes, and the haplotypes of samples, which need all of the file.
void EffectRun::read_annotation() {
  if (!flags_.genes.empty()) read_genes();
  if (flags_.samples.empty()) return;
  genome::VariantReader reader(flags_.vcf, input_.genome(), reader_options(flags_));
  haplotypes_.emplace(reader,
                      flags_.dna.infer.skip_bad ? genome::UnphasedGenotypes::skip
                                                : genome::UnphasedGenotypes::refuse,
                      input_.records());
  windows_.haplotypes = &*haplotypes_;
  const genome::HaplotypeCounts& counts = haplotypes_->counts();
  if (counts.overlapping > 0)
    run_.log().warn(
        fmt::format("{}: {} alleles overlap an earlier one of their haplotype and are "
                    "left out",
                    reader.label(), counts.overlapping));
}

void EffectRun::read_genes() {
  const genome::GeneTable& genes = genes_.emplace(flags_.genes, input_.genome());
  windows_.genes = &genes;
  if (genes.size() == 0) run_.log().warn(fmt::format("{}: has no gene", flags_.genes));
  if (genes.n_spanned() > 0)
    run_.log().info(
        fmt::format("{}: {} genes have no line of their own: they are what their "
                    "other lines span",
                    flags_.genes, genes.n_spanned()));
  if (genes.n_lines_elsewhere() > 0)
    run_.log().info(fmt::format("{}: {} lines are of sequences that {} does not have", flags_.genes,
                                genes.n_lines_elsewhere(), flags_.genome));
}

// Text of a batch, or an array [alleles, scores * targets * tracks] of each variant.
void EffectRun::compute(models::DnaModel& model, std::size_t slot, bool as_text,
                        pipeline::RecordOutputs& result) const {
  const std::vector<genome::Variant>& variants = input_.variants(slot);
  const tasks::VariantWindows windows =
      tasks::make_variant_windows(input_.genome(), model, variants, windows_);
  const std::vector<tasks::Compared> compared =
      tasks::compare_windows(model, windows.comparisons, compare_);
  std::vector<std::vector<float>> of_variant(variants.size());
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const tasks::ScoredAllele& allele = windows.alleles[i];
    const genome::Variant& variant = variants[allele.variant];
    const std::vector<float> values = compute_scores(scores_, compared[i]);
    run_.require_finite(values, [&] { return input_.place(variant); });
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
  run_.prepare(compare_);
  input_.set_windows([this](const genome::Variant& variant) {
    return tasks::place_window(variant, flags_.grid, run_.info().window);
  });
  input_.set_batch(compare_.windows_per_pass);
  run_.run(
      input_,
      [&](models::DnaModel& model, std::size_t slot, pipeline::RecordOutputs& result) {
        compute(model, slot, as_text, result);
      },
      write);
  if (run_.n_records() == 0) run_.log().warn("the input has no variant; the output has none");
}

void EffectRun::write_table() {
  io::OutputFile out(flags_.dna.infer.output, flags_.dna.infer.shared.threads);
  out.write(table_.header());
  run([&](const pipeline::RecordOutputs& result) { out.write(result.text); }, true);
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

void EffectRun::warn_of_tags(const genome::Variant& variant) {
  for (const genome::MissingDefinition& missing : variant.missing_definitions)
    if (!missing.name.starts_with("contig/"))
      run_.log().warn(
          fmt::format("{}: record {}: the header does not define {}; it is written as "
                      "it is",
                      input_.reader().label(), variant.record, shortened(missing.name)));
}

// Results that --resume had come before their variants are read.
void EffectRun::write_vcf() {
  genome::AnnotatedVcfWriter writer(flags_.dna.infer.output, input_.own_reader(), info_fields());
  std::deque<io::NamedArray> waiting;
  const auto write_read = [&] {
    while (const auto variant = input_.take_variant(!waiting.empty())) {
      warn_of_tags(*variant);
      if (variant->is_scored) {
        write_annotated(writer, *variant, waiting.front());
        waiting.pop_front();
      } else {
        writer.write(*variant, {});
      }
    }
  };
  run(
      [&](const pipeline::RecordOutputs& result) {
        waiting.insert(waiting.end(), result.arrays.begin(), result.arrays.end());
        write_read();
      },
      false);
  write_read();
  writer.finish();
  finish(0, [&] { writer.commit(); });
}

void EffectRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  finish_variants(run_, input_, haplotypes_ ? haplotypes_->counts() : genome::HaplotypeCounts{},
                  {{"windows_per_pass", compare_.windows_per_pass}}, output_bytes, name_outputs);
}

void finish_variants(DnaRun& run, const VariantInput& input,
                     const genome::HaplotypeCounts& haplotypes, nlohmann::ordered_json counts_json,
                     std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  const genome::VariantCounts& counts = input.reader().counts();
  counts_json.update({{"records", counts.records},
                      {"variants", run.n_records()},
                      {"skipped",
                       {{"no_alternate", counts.no_alternate},
                        {"outside_sequence", counts.outside},
                        {"symbolic_alleles", counts.symbolic},
                        {"unknown_sequence", counts.unknown_contig},
                        {"other_reference", counts.other_ref},
                        {"no_genotypes", counts.no_genotypes},
                        {"unphased", haplotypes.unphased},
                        {"missing", haplotypes.missing}}}});
  run.finish(output_bytes, counts_json, name_outputs);
  if (counts.no_alternate > 0)
    run.log().info(
        fmt::format("{}: {} of {} records have no allele to score ('*', <NON_REF>, <*>, '.'){}",
                    input.reader().label(), counts.no_alternate, counts.records,
                    is_vcf_path(run.flags().output) ? "; they are written as they are" : ""));
  const std::uint64_t n_genotypes = counts.no_genotypes + haplotypes.unphased + haplotypes.missing;
  if (counts.skipped() + n_genotypes == 0) return;
  throw skipped_error(
      input.reader().label(),
      fmt::format("{}, {} of unknown sequences, {} outside of theirs, {} with another REF than the "
                  "genome, {} without phase or missing",
                  report::counted(counts.symbolic, "symbolic alleles"),
                  report::counted(counts.unknown_contig, "records"), counts.outside,
                  counts.other_ref, report::counted(n_genotypes, "genotypes")));
}

}  // namespace biogpu::app
