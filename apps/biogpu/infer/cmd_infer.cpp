#include "apps/biogpu/infer/commands.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kInferSubcommands[] = {
    {"embed", "compute vectors of residues or of whole sequences", add_infer_embed, "Proteins"},
    {"logits", "compute the scores of all residues at every position", add_infer_logits,
     "Proteins"},
    {"fill-mask", "list likely residues at masked positions", add_infer_fill_mask, "Proteins"},
    {"score", "score sequences and the effects of variants", add_infer_score, "Proteins"},
    {"contacts", "predict which residues touch", add_infer_contacts, "Proteins"},
    {"design", "design sequences that fold into a backbone", add_infer_design, "Structures"},
    {"trunk", "run the blocks of a structure model on tokens and pairs", add_infer_trunk,
     "Structures"},
    {"tracks", "predict tracks along windows of DNA", add_infer_tracks, "DNA"},
    {"variants", "score what variants change in predicted tracks", add_infer_variants, "DNA"},
    {"mutagenesis", "score what every substitution of a region changes", add_infer_mutagenesis,
     "DNA"},
    {"energy", "compute energies and forces of molecules and crystals", add_infer_energy, "Atoms"},
    {"relax", "minimise the energy of structures, of the box too", add_infer_relax, "Atoms"},
    {"md", "run molecular dynamics", add_infer_md, "Atoms"},
    {"affinity", "predict binding affinities of docked ligands", add_infer_affinity, "Complexes"},
    {"recognize", "turn drawings of molecules into SMILES and molfiles", add_infer_recognize,
     "Pictures"},
    {"info", "describe a model folder", add_infer_info, "Model"},
    {"models", "list the published weights of models, and how to get them", add_infer_models,
     "Model"},
    {"bench", "measure time, rate and error of kernels and whole passes", add_infer_bench, "Model"},
};

constexpr char kInferFooter[] =
    "Examples:\n"
    "  biogpu infer embed --model esm2_t33_650M_UR50D proteins.fasta -o out.npy\n"
    "  biogpu infer score --model esm2_t33_650M_UR50D --variants dms.tsv wild_type.fa\n"
    "  biogpu infer design --model v_48_020 backbone.pdb -o designs.fa\n"
    "  biogpu infer tracks --model enformer --genome genome.fa --regions peaks.bed -o "
    "tracks.h5\n"
    "  biogpu infer energy --model matpes-pbe --forces crystals.extxyz -o computed.extxyz\n\n";

}  // namespace

Run add_infer(CLI::App& command) {
  return add_subcommands(command, kInferSubcommands, kInferFooter);
}

}  // namespace biogpu::app
