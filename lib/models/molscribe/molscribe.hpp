#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/molscribe/config.hpp"
#include "lib/models/molscribe/decoder.hpp"
#include "lib/models/molscribe/encoder.hpp"
#include "lib/models/molscribe/graph.hpp"
#include "lib/models/molscribe/preprocess.hpp"
#include "lib/models/molscribe/vocabulary.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// MolScribe: a drawing of a molecule to a graph of atoms and bonds. A Swin Transformer reads the
// picture, a decoder writes symbols and places of atoms, a small network tells the bond of each
// pair of atoms. (Qian et al. 2023, doi 10.1021/acs.jcim.2c01480; docs/models/molscribe.md)
class MolScribe final : public Model {
 public:
  MolScribe(const std::string& folder, const ModelConfig& config, tensor::Context& context,
            const LoadOptions& options);

  std::string describe() const override;
  const molscribe::Config& config() const { return config_; }

  // A graph for each image, of any number. Rows of the decoder that are done are given the next
  // image. An image's result does not depend on the others. images: of Config::input_size.
  std::vector<molscribe::MoleculeGraph> recognize(std::span<const molscribe::PreparedImage> images);
  // Bytes that this takes in the context's memory.
  std::size_t measure(std::int64_t n_images) const;

  // For tests and comparisons: what the encoder gives of images, f32 [n * n_memory, encoder_width].
  std::vector<float> encode(std::span<const molscribe::PreparedImage> images);
  // The tokens of each image of the last recognize(), with their logarithms and margins.
  const std::vector<molscribe::DecodeRows::Sequence>& sequences() const { return sequences_; }

 private:
  // Images of a pass of the encoder, rows of the decoder, steps between two looks at them.
  struct Sizes {
    std::int64_t encoded, rows;
    int steps;
  };
  static Sizes sizes_of(const tensor::Context& context);
  std::int64_t n_rows_for(std::int64_t n_images) const;
  void require_rows(std::int64_t n_images);
  void forward(Pass& pass, std::span<const molscribe::PreparedImage> images,
               const tensor::Tensor& memory) const;
  void encode_memory(std::span<const molscribe::PreparedImage> images);
  void read_bonds(const std::string& name, tensor::WeightTable& table);
  molscribe::MoleculeGraph finish(std::int64_t row, molscribe::DecodeRows::Sequence sequence);
  void pair_forward(Pass& pass, const std::vector<std::int32_t>& rows,
                    const tensor::Tensor& states) const;

  molscribe::Config config_;
  molscribe::Vocabulary vocabulary_;
  Sizes sizes_;
  std::unique_ptr<const molscribe::SwinEncoder> encoder_;
  std::unique_ptr<const molscribe::TokenDecoder> decoder_;
  tensor::Linear pair_parts_, pair_out_;  // [W_a; W_b] of both atoms' states, and to the kinds
  std::unique_ptr<molscribe::DecodeRows> rows_;
  tensor::Tensor memory_;  // operand [images of a pass * n_memory, memory_width]
  std::vector<molscribe::DecodeRows::Sequence> sequences_;
  std::uint64_t n_parameters_ = 0;
};

ModelDef molscribe_model();

}  // namespace biogpu::models
