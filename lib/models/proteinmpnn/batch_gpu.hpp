#pragma once

#include <cstdint>
#include <vector>

#include "gpu/models/proteinmpnn/decoder.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/models/proteinmpnn/work.hpp"

namespace biogpu::models::proteinmpnn {

// Arrays that go to the device in one copy.
class Upload {
 public:
  // values must stay until send(). Returns what at() finds them by.
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    const Piece piece{values.data(), values.size() * sizeof(T), n_bytes_};
    pieces_.push_back(piece);
    n_bytes_ += (piece.n_bytes + kAlignment - 1) / kAlignment * kAlignment;
    return pieces_.size() - 1;
  }
  // Queues the copy; the last one must be over. Forgets the pieces' sources.
  void send(gpu::Stream& stream);
  // Device memory, until the next send().
  template <class T>
  T* at(std::size_t piece) const {
    return reinterpret_cast<T*>(device_.data() + pieces_[piece].begin);
  }
  std::uint64_t device_bytes() const { return device_.bytes(); }
  void clear() {
    pieces_.clear();
    n_bytes_ = 0;
  }

 private:
  static constexpr std::size_t kAlignment = 256;
  struct Piece {
    const void* values;
    std::size_t n_bytes;
    std::size_t begin;
  };
  std::vector<Piece> pieces_;
  std::size_t n_bytes_ = 0;
  gpu::PinnedBuffer<std::uint8_t> host_;
  gpu::DeviceBuffer<std::uint8_t> device_;
};

// Structures one behind the other.
class StructureBatch {
 public:
  void add(const Work& work);
  void send(gpu::Stream& stream);
  // After send(); neighbours and distances are not set.
  gpu::proteinmpnn::Structures structures() const;
  gpu::proteinmpnn::RuleRows rules() const;

  std::int64_t n_rows() const { return static_cast<std::int64_t>(places_.size()); }
  std::int32_t first_row(std::size_t work) const { return first_rows_[work]; }
  std::uint64_t device_bytes() const { return upload_.device_bytes(); }

 private:
  void add_rules(const Constraints& constraints, std::size_t n);

  std::vector<std::int32_t> first_rows_;
  std::vector<gpu::proteinmpnn::Place> places_;
  std::vector<float> points_, frames_;
  int n_points_ = 0;
  std::vector<std::uint8_t> present_, free_, omit_at_;
  std::vector<std::int32_t> index_, chain_;
  std::vector<float> tied_weight_, bias_at_;
  std::vector<gpu::proteinmpnn::Rules> rules_;
  std::vector<gpu::proteinmpnn::ProfileRow> profiles_;
  Upload upload_;
  enum Array : std::size_t {
    array_places,
    array_points,
    array_frames,
    array_present,
    array_index,
    array_chain,
    array_free,
    array_tied_weight,
    array_rules,
    array_omit_at,
    array_bias_at,
    array_profiles
  };
};

// Sequences of structures of a batch.
class SequenceBatch {
 public:
  // work: its number in the batch; first_row: of its structure.
  void add(const Complex& complex, std::size_t work, std::int32_t first_row,
           const DecodingOrder& order, const std::vector<std::uint8_t>& letters, double temperature,
           const std::vector<double>& uniforms);
  void send(gpu::Stream& stream);
  // After send(); seen and log_probabilities are not set.
  gpu::proteinmpnn::Sequences sequences() const;
  const gpu::proteinmpnn::Unit* units() const {
    return upload_.at<gpu::proteinmpnn::Unit>(array_units);
  }
  std::size_t n_units() const { return units_.size(); }
  const double* uniforms() const { return upload_.at<double>(array_uniforms); }

  std::size_t n_states() const { return order_.size(); }
  std::size_t n_sequences() const { return sequences_.size(); }
  const gpu::proteinmpnn::Sequence& sequence(std::size_t s) const { return sequences_[s]; }
  std::uint64_t device_bytes() const { return upload_.device_bytes(); }
  void clear() { *this = SequenceBatch(std::move(upload_)); }

  SequenceBatch() = default;

 private:
  explicit SequenceBatch(Upload upload) : upload_(std::move(upload)) {}
  void deal_units();

  std::vector<gpu::proteinmpnn::Sequence> sequences_;
  std::vector<std::int32_t> sequence_of_, order_, rank_;
  std::vector<std::uint8_t> letters_;
  std::vector<double> uniforms_;
  std::vector<std::vector<std::int32_t>> unit_begins_;
  std::vector<gpu::proteinmpnn::Unit> units_;
  Upload upload_;
  enum Array : std::size_t {
    array_sequences,
    array_sequence_of,
    array_order,
    array_rank,
    array_letters,
    array_uniforms,
    array_units
  };
};

}  // namespace biogpu::models::proteinmpnn
