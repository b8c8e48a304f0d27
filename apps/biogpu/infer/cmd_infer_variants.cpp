// `biogpu infer variants`: what variants change in the tracks that a model of DNA predicts.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/dna/effect_run.hpp"
#include "apps/biogpu/infer/dna/scorer_run.hpp"

namespace biogpu::app {
namespace {

// AlphaGenome's own scores take the place of --scores and --bins.
void add_scorer_flags(CLI::App& command, EffectFlags& flags) {
  const OptionGroup options(command);
  CLI::Option* const scorers =
      add_list(command,
               {"--scorers",
                "compute AlphaGenome's scores as DeepMind's client gives them: recommended, or "
                "some of these by name (ATAC, RNA_SEQ_ACTIVE ...) and OUTPUT:WIDTH:AGGREGATION",
                "NAME,..."},
               flags.scorers);
  for (const char* other : {"--head", "--tracks", "--targets", "--scores", "--bins", "--reduce",
                            "--strands", "--shifts", "--samples", "--wide"})
    scorers->excludes(command.get_option(other));
  options
      .option("--polya", flags.polya,
              "read polyadenylation sites from this file: chromosome, start, end, gene_id, score, "
              "strand",
              "BED")
      ->needs(scorers);
  options
      .flag("--merge-strands", flags.merge_strands,
            "write one line for a track of + and of - in scores of genes")
      ->needs(scorers);
}

}  // namespace

Run add_infer_variants(CLI::App& command) {
  const auto flags = std::make_shared<EffectFlags>();
  const OptionGroup options(command);
  options.option("VCF", flags->vcf, "VCF or BCF files of the variants; none or - is standard input",
                 " ");
  options
      .option(
          "--genome", flags->genome,
          "read the windows of variants from this genome, which is indexed where it has no .fai",
          "FASTA")
      ->required();
  options
      .option("-o,--output", flags->dna.infer.output,
              "write a table, or the input with INFO fields (.vcf, .vcf.gz, .bcf), to this file "
              "[-, TSV on standard output]",
              "FILE")
      ->check(output_name({"tsv", "txt", "vcf", "bcf"}));
  flags->dna.heads.bins_only = true;
  add_head_flags(command, flags->dna.heads);
  add_list(command,
           {"--scores", fmt::format("compute these scores: {} [SAD]", known_scores()), "SCORE,..."},
           flags->scores);
  add_list(
      command,
      {"--bins", "compare all bins, those of the variant (centre) or N around it (centre:N) [all]",
       "BINS,..."},
      flags->bins);
  add_compare_flags(command, flags->compare);
  options
      .option("--grid", flags->grid,
              "centre windows in pieces of N bases, so that variants of one piece share the pass "
              "over their reference; 1 centres each window on its variant [1]",
              "N")
      ->transform(in_range(1, 1 << 24));
  options.option("--genes", flags->genes,
                 "score also the bins of each gene that a window predicts a part of; with "
                 "--scorers read genes, transcripts and exons from this GTF",
                 "BED|GTF");
  add_list(
      command,
      {"--samples", "compare on the phased haplotypes of samples that carry an allele", "NAME,..."},
      flags->samples);
  options.flag("--wide", flags->wide, "write a column for each track, not a line");
  add_scorer_flags(command, *flags);
  add_skip_bad_flag(command, flags->dna.infer,
                    "symbolic alleles, unknown sequences, a POS beyond its sequence, a REF that is "
                    "not the genome's, and genotypes without phase");
  add_dna_flags(command, flags->dna);
  add_infer_shard_flag(command, flags->dna.infer,
                       "compute part I of N of the records; 'biogpu gather' joins .tsv and .vcf");
  command.footer(
      std::string("A line a variant, ALT allele, choice of bins, score and track. Windows have the "
                  "variant's\nfirst base in the middle; insertions and deletions move what is "
                  "right of them.\n\n"
                  "Examples:\n"
                  "  biogpu infer variants --model enformer --genome genome.fa --head human \\\n"
                  "      --tracks DNASE variants.vcf -o sad.tsv\n"
                  "  biogpu infer variants --model enformer --genome genome.fa --head human \\\n"
                  "      --scores SAD,SAR --bins centre:3 --strands both variants.vcf \\\n"
                  "      -o annotated.vcf\n"
                  "  biogpu infer variants --model alphagenome --genome genome.fa \\\n"
                  "      --scorers ATAC,RNA_SEQ --genes genes.gtf variants.vcf -o scores.tsv\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) {
    if (!flags->scorers.empty()) return ScorerRun(*flags, command_line).write_table();
    EffectRun run(*flags, command_line);
    is_vcf_path(flags->dna.infer.output) ? run.write_vcf() : run.write_table();
  };
}

}  // namespace biogpu::app
