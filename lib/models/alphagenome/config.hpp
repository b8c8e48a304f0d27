#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"

namespace biogpu::models::alphagenome {

// Rows of coarse positions that one position of pairs covers.
inline constexpr std::int64_t kPairRows = 16;
// Coarse positions of the longest input, and positions of pairs: the ranges of positional features.
inline constexpr std::int64_t kMaxPositions = 8192;
inline constexpr std::int64_t kMaxPairPositions = kMaxPositions / kPairRows;
inline constexpr std::int64_t kLetterTaps = 15;
inline constexpr std::int64_t kTaps = 5;
inline constexpr std::int64_t kSpliceClasses = 5;  // donor +, acceptor +, donor -, acceptor -, none
inline constexpr std::int64_t kJunctionClasses = 4;  // those before none
inline constexpr std::int64_t kMaxSites = 512;       // of a class, between which are junctions
inline constexpr char kContactMaps[] = "contact_maps";
inline constexpr char kSpliceSites[] = "splice_sites";
inline constexpr char kSpliceUsage[] = "splice_site_usage";
inline constexpr char kJunctions[] = "splice_junctions";
// The output of a pass from which splice sites are chosen.
inline constexpr char kSiteProbabilities[] = "site_probabilities";

// A head of tracks: tensors heads.NAME.*.
struct TrackHeadShape {
  std::string name;           // "rna_seq"
  std::int64_t n_tracks = 0;  // columns of its weights, padding included
  bool is_fine = false;       // has predictions for every base
  bool is_coarse = true;      // has predictions for coarse bins
  bool is_squashed = false;   // values are stored as their power of 0.75
};

// Shapes of a model; what config.json leaves out is the published model's.
struct Config {
  std::int64_t n_organisms = 2;  // 0: no embeddings of organisms, and tensors of one
  std::vector<std::string> organisms = {"human", "mouse"};  // names of the first ones
  std::int64_t n_channels = 768;
  std::int64_t channel_step = 128;
  std::int64_t n_down_blocks = 6;
  std::int64_t n_tower_blocks = 9;
  std::int64_t n_heads = 8;
  std::int64_t d_key = 128;
  std::int64_t d_value = 192;
  std::int64_t pair_channels = 128;
  std::int64_t n_pair_heads = 32;
  std::int64_t pair_head_dim = 128;
  std::int64_t n_position_features = 64;  // half of them are signed
  std::int64_t contact_tracks = 28;
  std::int64_t usage_tracks = 734;  // 0 of a head's tracks: fine-tuned models without it
  bool has_splice_sites = true;
  std::int64_t junction_tissues = 367;
  std::int64_t junction_channels = 768;
  std::vector<TrackHeadShape> track_heads;

  std::int64_t stored_organisms() const { return n_organisms == 0 ? 1 : n_organisms; }
  // Channels of level l, which has a row for 2^l bases.
  std::int64_t channels(std::int64_t level) const { return n_channels + level * channel_step; }
  std::int64_t width() const { return channels(n_down_blocks); }  // of the tower
  std::int64_t coarse_bin() const { return std::int64_t{2} << n_down_blocks; }
  std::int64_t pair_bin() const { return kPairRows * coarse_bin(); }
  std::int64_t fine_width() const { return 2 * n_channels; }  // of embeddings of bases
  std::int64_t coarse_width() const { return 2 * width(); }
};

// Throws Error{bad_input} naming file and key.
Config read_config(const ModelConfig& file);

// The row of an organism. Throws Error{usage} for one that the model does not have.
std::int64_t find_organism(const ModelConfig& file, const Config& config, const std::string& name);

// The heads of the model for windows of n_bases, in the order of their outputs: tracks as NAME/1
// and NAME/128, contact maps, splice sites, their usage and junctions. Their tracks are those of an
// organism.
std::vector<TrackHead> all_heads(const Config& config, std::int64_t n_bases,
                                 std::int64_t organism = 0);

// Throws Error{bad_input} for a width that a GPU's attention does not take.
void require_gpu_shape(const ModelConfig& file, const Config& config);

}  // namespace biogpu::models::alphagenome
