#include "apps/biogpu/infer/commands.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kInferSubcommands[] = {
    {"embed", "vectors of residues or whole sequences", add_infer_embed, "Proteins"},
    {"logits", "scores of all residues at every position", add_infer_logits, "Proteins"},
    {"fill-mask", "likely residues at masked positions", add_infer_fill_mask, "Proteins"},
    {"score", "likelihood of sequences, effect of variants", add_infer_score, "Proteins"},
    {"contacts", "probability that two residues touch", add_infer_contacts, "Proteins"},
    {"design", "sequences that fold into a backbone", add_infer_design, "Structures"},
    {"trunk", "tokens and pairs after a Pairformer's blocks", add_infer_trunk, "Structures"},
    {"tracks", "predicted tracks of DNA windows, as Enformer's", add_infer_tracks, "DNA"},
    {"variants", "what variants change in predicted tracks", add_infer_variants, "DNA"},
    {"mutagenesis", "what every substitution of a region changes", add_infer_mutagenesis, "DNA"},
    {"energy", "energies and forces of molecules and crystals", add_infer_energy, "Atoms"},
    {"relax", "minima of energy, of the box too", add_infer_relax, "Atoms"},
    {"md", "molecular dynamics", add_infer_md, "Atoms"},
    {"affinity", "binding affinities of docked ligands", add_infer_affinity, "Complexes"},
    {"recognize", "drawings of molecules to SMILES and molfiles", add_infer_recognize, "Pictures"},
    {"info", "what a model folder holds", add_infer_info, "Model"},
    {"bench", "time, rate and error of kernels and whole passes", add_infer_bench, "Model"},
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
