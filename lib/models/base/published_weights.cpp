#include "lib/models/base/published_weights.hpp"

namespace biogpu::models {
namespace {

constexpr char kHub[] = "Hugging Face hub";

PublishedWeights esm2_weights() {
  return {"ESM-2",
          {"esm"},
          kHub,
          "MIT",
          {{"facebook/esm2_t6_8M_UR50D", "31 MB"},
           {"facebook/esm2_t12_35M_UR50D", "136 MB"},
           {"facebook/esm2_t30_150M_UR50D", "595 MB"},
           {"facebook/esm2_t33_650M_UR50D", "2.6 GB"},
           {"facebook/esm2_t36_3B_UR50D", "11.4 GB"},
           {"facebook/esm2_t48_15B_UR50D", "60.5 GB"}},
          {"hf download facebook/esm2_t33_650M_UR50D config.json vocab.txt model.safetensors "
           "--local-dir esm2_t33_650M_UR50D",
           "hf download facebook/esm2_t36_3B_UR50D --exclude 'tf_model*' --local-dir "
           "esm2_3B_pickles"},
          {"scripts/convert/to_safetensors.py esm2_3B_pickles esm2_t36_3B_UR50D"},
          "biogpu infer embed --model esm2_t33_650M_UR50D proteins.fasta -o means.npy",
          "The two largest are pickles in shards, which are converted once. The others need no "
          "conversion."};
}

PublishedWeights protbert_weights() {
  return {"ProtBERT",
          {"bert"},
          kHub,
          "Academic Free License 3.0",
          {{"Rostlab/prot_bert", "1.7 GB"}, {"Rostlab/prot_bert_bfd", "1.7 GB"}},
          {"hf download Rostlab/prot_bert config.json vocab.txt pytorch_model.bin --local-dir "
           "prot_bert_pickle"},
          {"scripts/convert/to_safetensors.py prot_bert_pickle prot_bert"},
          "biogpu infer embed --model prot_bert proteins.fasta -o means.npy",
          ""};
}

PublishedWeights proteinmpnn_weights() {
  return {"ProteinMPNN",
          {"proteinmpnn"},
          "repository of ProteinMPNN",
          "MIT",
          {{"vanilla_model_weights", "6.7 MB"},
           {"soluble_model_weights", "6.7 MB"},
           {"ca_model_weights", "6.7 MB"}},
          {"git clone https://github.com/dauparas/ProteinMPNN"},
          {"scripts/convert/proteinmpnn.py ProteinMPNN/vanilla_model_weights/v_48_020.pt v_48_020"},
          "biogpu infer design --model v_48_020 backbone.pdb -n 8 -o designs.fa",
          "Each folder has several files: the number in a name is the noise of the training in "
          "hundredths of an Angstrom. The size is that of one file."};
}

PublishedWeights enformer_weights() {
  return {
      "Enformer",
      {"enformer"},
      kHub,
      "see the model card",
      {{"EleutherAI/enformer-official-rough", "1 GB"}},
      {"hf download EleutherAI/enformer-official-rough --local-dir enformer_pickle",
       "git clone https://github.com/lucidrains/enformer-pytorch"},
      {"scripts/convert/enformer.py enformer_pickle enformer --gamma-table "
       "enformer-pytorch/enformer_pytorch/precomputed/tf_gammas.pt"},
      "biogpu infer tracks --model enformer --genome hg38.fa --regions peaks.bed --head human -o "
      "tracks.h5",
      "The official weights need the table of gamma features of enformer-pytorch."};
}

PublishedWeights borzoi_weights() {
  return {
      "Borzoi and Flashzoi",
      {"borzoi"},
      kHub,
      "CC-BY-4.0 (Borzoi), MIT (Flashzoi)",
      {{"johahi/borzoi-replicate-0", ""}, {"johahi/flashzoi-replicate-0", ""}},
      {"hf download johahi/flashzoi-replicate-0 config.json model.safetensors --local-dir "
       "flashzoi-replicate-0"},
      {},
      "biogpu infer tracks --model flashzoi-replicate-0 --genome hg38.fa --regions genes.bed "
      "--head human -o tracks.h5",
      "There are replicates 0 to 3 of each; the mean of their predictions is the usual result."};
}

PublishedWeights alphagenome_weights() {
  return {"AlphaGenome",
          {"alphagenome"},
          kHub,
          "non-commercial terms of DeepMind",
          {{"gtca/alphagenome_pytorch", "1.8 GB"}, {"google/alphagenome-all-folds", "1.8 GB"}},
          {"hf download gtca/alphagenome_pytorch model_all_folds.safetensors --local-dir "
           "alphagenome_download"},
          {"scripts/convert/alphagenome.py alphagenome_download/model_all_folds.safetensors "
           "alphagenome"},
          "biogpu infer info alphagenome",
          "The terms hold for predictions too. The hub asks you to accept them before it gives out "
          "DeepMind's checkpoints, which need orbax-checkpoint and jax to convert."};
}

PublishedWeights matgl_weights() {
  return {"TensorNet of matgl",
          {"tensornet"},
          "repository of matgl",
          "BSD-3",
          {{"TensorNet-MatPES-PBE-v2025.1-PES", "3.4 MB"},
           {"TensorNet-MatPES-r2SCAN-v2025.1-PES", "3.4 MB"},
           {"TensorNet-ANI-1x-Subset-PES", "0.9 MB"}},
          {"git clone --branch v2.0.4 --depth 1 https://github.com/materialyzeai/matgl"},
          {"scripts/convert/matgl.py matgl/pretrained_models/TensorNet-MatPES-PBE-v2025.1-PES "
           "matpes-pbe"},
          "biogpu infer relax --model matpes-pbe --cell crystals.extxyz -o relaxed.extxyz",
          "Take the weights of version 2.0.4, with which biogpu was compared."};
}

PublishedWeights aceff_weights() {
  return {"AceFF (TensorNet and TensorNet2)",
          {"tensornet", "tensornet2"},
          kHub,
          "Apache-2.0",
          {{"Acellera/AceFF-1.0", ""}, {"Acellera/AceFF-1.1", ""}, {"Acellera/AceFF-2.0", ""}},
          {"hf download Acellera/AceFF-2.0 aceff_v2.0.ckpt --local-dir aceff_download"},
          {"scripts/convert/torchmdnet.py aceff_download/aceff_v2.0.ckpt aceff --energy-unit eV"},
          "biogpu infer energy --model aceff --forces ligands.sdf -o energies.extxyz",
          "AceFF-2.0 is a TensorNet2 and needs the total charge of each molecule."};
}

PublishedWeights dualbind_weights() {
  return {"DualBind",
          {"dualbind"},
          "NVIDIA NGC",
          "research and evaluation only",
          {{"nvidia/clara/dualbind_v1_toxbench", ""}},
          {},
          {"scripts/convert/dualbind.py dualbind_v1_toxbench.ckpt dualbind"},
          "biogpu infer affinity --model dualbind --protein receptor.pdb docked.sdf.gz -o "
          "affinities.tsv",
          "NGC asks for an account. Its client fetches a version: ngc registry model "
          "download-version."};
}

PublishedWeights molscribe_weights() {
  return {"MolScribe",
          {"molscribe"},
          kHub,
          "MIT",
          {{"yujieq/MolScribe", "375 MB"}},
          {"hf download yujieq/MolScribe swin_base_char_aux_1m680k.pth --local-dir "
           "molscribe_download"},
          {"scripts/convert/molscribe.py molscribe_download/swin_base_char_aux_1m680k.pth "
           "molscribe"},
          "biogpu infer recognize --model molscribe drawings/ -o molecules.tsv",
          "The size is that of the converted weights in fp32."};
}

PublishedWeights pairformer_weights() {
  return {"Pairformer",
          {"pairformer"},
          "Protenix",
          "Apache-2.0",
          {{"protenix_mini_default_v0.5.0.pt", ""}},
          {},
          {"scripts/convert/pairformer.py protenix_mini_default_v0.5.0.pt protenix-mini"},
          "biogpu infer trunk --model protenix-mini in.npz -o out.npz",
          "Protenix fetches its checkpoints itself when it is first run."};
}

PublishedWeights diffusion_transformer_weights() {
  return {"Diffusion transformer",
          {"diffusion_transformer"},
          "Protenix",
          "Apache-2.0",
          {{"protenix_mini_default_v0.5.0.pt", ""}},
          {},
          {"scripts/convert/diffusion_transformer.py protenix_mini_default_v0.5.0.pt "
           "protenix-mini-diffusion"},
          "biogpu infer trunk --model protenix-mini-diffusion in.npz -o out.npz",
          "Protenix fetches its checkpoints itself when it is first run."};
}

}  // namespace

const std::vector<PublishedWeights>& published_weights() {
  static const std::vector<PublishedWeights> all = {esm2_weights(),
                                                    protbert_weights(),
                                                    proteinmpnn_weights(),
                                                    enformer_weights(),
                                                    borzoi_weights(),
                                                    alphagenome_weights(),
                                                    matgl_weights(),
                                                    aceff_weights(),
                                                    dualbind_weights(),
                                                    pairformer_weights(),
                                                    diffusion_transformer_weights(),
                                                    molscribe_weights()};
  return all;
}

}  // namespace biogpu::models
