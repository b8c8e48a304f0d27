#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/nn/arena.hpp"
#include "lib/nn/tensor.hpp"

namespace biogpu::nn {

// How matrix products and attention read their operands. Sums, normalisation and softmax are fp32
// in all of them; the residual stream is of the type that the model chooses.
enum class Precision { fp32, tf32, fp16, bf16 };

// The type in which operands are stored: fp32 and tf32 differ only in how they are multiplied.
constexpr DType operand_type(Precision precision) {
  return precision == Precision::fp16   ? DType::f16
         : precision == Precision::bf16 ? DType::bf16
                                        : DType::f32;
}

// Words used below: T tokens of all sequences of a batch, one after the other without padding; d
// width of the model; H heads of h numbers each; V size of the vocabulary. "operand" is
// operand_type(precision()). Shapes are row-major with the last axis contiguous; rows may be
// further apart than their length where it is said so.

// A linear map y = x W^T + b in the backend's own layout. Made by Backend::upload_linear(), which
// owns the memory.
struct Linear {
  std::int64_t n_out = 0;
  std::int64_t n_in = 0;
  Tensor weight;                 // operand [n_out, n_in], or empty where `packed` holds it
  Tensor bias;                   // f32 [n_out], or empty
  const void* packed = nullptr;  // the backend's own
};

// Layer normalisation: (x - mean) / sqrt(variance + eps) * weight + bias over the last axis, the
// variance taken in a second pass. (Ba, Kiros and Hinton 2016, arXiv 1607.06450)
struct Norm {
  Tensor weight;  // f32 [d]
  Tensor bias;    // f32 [d]
  float eps = 1e-5f;
};

// A batch as the host makes it. Sequence s has tokens [starts[s], starts[s + 1]).
struct HostBatch {
  std::vector<std::int32_t> ids;     // [T]
  std::vector<std::int32_t> starts;  // [n_sequences + 1], from 0 to T, rising
  std::vector<float> scale;          // [T], or empty: what embed() multiplies a token's row by
};

// The same in the backend's memory, made by Backend::upload_batch(). n_tokens may be more than
// starts.back(), rounded up to a bucket for captured graphs: rows past the end belong to no
// sequence, operations may leave anything in them, and nothing of them reaches other rows.
struct Batch {
  std::int64_t n_tokens = 0;
  std::int64_t n_sequences = 0;      // those of the host's batch
  std::int64_t max_length = 0;       // of the longest sequence, in tokens
  std::vector<std::int32_t> starts;  // on the host, [n_sequences + 1]
  Tensor ids;                        // i32 [n_tokens]
  Tensor positions;                  // i32 [n_tokens], from 0 in each sequence
  Tensor scale;                      // f32 [n_tokens], or empty
  Tensor device_starts;              // i32 [n_sequences + 1]
  std::shared_ptr<void> plan;        // the backend's own, for example a work list for attention
};

// x[t] = (table[ids[t]] * scale[t] + position_table[positions[t]]), then the targets of a
// normalisation. scale: 1 where batch.scale is empty. ESM-2's token dropout is a scale of 0 for a
// mask and of 0.88 / (1 - masked share) for every other token of the sequence.
struct Embed {
  Tensor table;           // f32 [V, d]
  Tensor position_table;  // f32 [P, d], or empty; P >= batch.max_length
  Norm norm;              // weight empty: no normalisation, only `sum` is written
  Tensor sum;             // f32 [T, d], or empty: x as it is
  Tensor out;             // f32 [T, d], or empty: x normalised
  Tensor out_operand;     // operand [T, d], or empty: x normalised
};

// x + add, normalised. Each target is optional, and may be the memory of x where it has x's type.
struct AddLayerNorm {
  Tensor x;            // f32 or operand [R, d], rows of any distance
  Tensor add;          // operand [R, d], or empty
  Norm norm;           //
  Tensor sum;          // f32 [R, d], or empty: x + add
  Tensor out;          // f32 [R, d], or empty: normalised
  Tensor out_operand;  // operand [R, d], or empty: normalised
};

enum class Activation { none, gelu_erf };  // x / 2 (1 + erf(x / sqrt 2)), exact to rounding

// out = residual + activation(x W^T + b), in one pass over out where the backend can.
struct Gemm {
  Tensor x;  // operand [R, n_in], rows of any distance
  const Linear* linear = nullptr;
  Activation activation = Activation::none;
  Tensor residual;  // of out's type, [R, n_out], or empty; may be out's memory; not with activation
  Tensor out;       // f32 or operand [R, n_out], rows of any distance
};

// Rotary position embedding of the rotate-half form: for i < h / 2 and the angle of (position, i),
// (a_i, a_{i + h/2}) -> (a_i cos - a_{i + h/2} sin, a_{i + h/2} cos + a_i sin).
// (Su et al. 2021, arXiv 2104.09864)
struct Rotary {
  Tensor cos_sin;  // f32 [P, h]: h / 2 cosines, then h / 2 sines; P >= batch.max_length
};

// qkv = x W^T + b with q and k rotated where rotary is given. Row: q [H, h], k [H, h], v [H, h].
// Any scale of q is in W and b already.
struct QkvRotary {
  Tensor x;                        // operand [T, d]
  const Linear* linear = nullptr;  // n_out = 3 d
  std::int64_t n_heads = 0;
  Rotary rotary;  // cos_sin empty: none
  Tensor qkv;     // operand [T, 3 d], out
};

// softmax(scale q k^T + bias) v for each sequence and head by itself, softmax in fp32 with running
// maxima. (Dao et al. 2022, arXiv 2205.14135) h: a multiple of 8 from 16 to 128.
struct Attention {
  Tensor q;  // operand [T, H, h], rows of any distance; k and v the same
  Tensor k;
  Tensor v;
  float scale = 1;
  // operand [n_sequences or 1, H, L, L], or empty; L = max_length, an axis of size 1 is shared by
  // all. Element (s, head, i, j) is added to the scaled score of token i for token j.
  Tensor bias;
  Tensor out;          // operand [T, H * h], rows of any distance
  Tensor log_sum_exp;  // f32 [H, T], or empty: log sum_j exp(score_ij), for the contacts
};

// ESM's contact head, one layer at a time. A_c are the softmax probabilities of channel c = (layer,
// head) between the residues of a sequence: its tokens without the first and the last.
//   scores  += sum_head weight[head] (A_c + A_c^T)
//   row_sums[first_channel + head][t] = sum_j (A_c + A_c^T)_tj, 0 at the first and last token
// (Rao et al. 2020, Transformer protein language models are unsupervised structure learners)
struct Contacts {
  Tensor q;            // operand [T, H, h], as attention had them
  Tensor k;            //
  float scale = 1;     //
  Tensor log_sum_exp;  // f32 [H, T], from attention
  Tensor weight;       // f32 [H], of this layer
  std::int64_t first_channel = 0;
  Tensor scores;    // f32 [sum over sequences of n^2], n residues; sequence after sequence, [n, n]
  Tensor row_sums;  // f32 [C, T]
};

// scores -> probabilities, with the average product correction of every channel c of weight w_c:
// p_ij = sigmoid(scores_ij - sum_c w_c r_ci r_cj / sum_i r_ci + bias). In place.
// (Dunn, Wahl and Gloor 2008, doi 10.1093/bioinformatics/btm604)
struct FinishContacts {
  Tensor scores;    // as above
  Tensor row_sums;  // f32 [C, T]
  Tensor weight;    // f32 [C]
  float bias = 0;
};

// A block of an encoder that normalises in front of both halves: x += attention_out(attention(
// qkv(norm(x)))), x += feed_down(gelu(feed_up(norm(x)))).
struct EncoderBlock {
  const Linear* qkv = nullptr;  // n_out = 3 d
  const Linear* attention_out = nullptr;
  const Linear* feed_up = nullptr;
  const Linear* feed_down = nullptr;
  Norm attention_norm;
  Norm feed_norm;
};

// A whole encoder: x = table[ids] * scale of the batch, its blocks, and the normalisation behind.
struct Encoder {
  Tensor table;                      // f32 [V, d]
  std::vector<EncoderBlock> blocks;  //
  Norm final_norm;                   //
  std::int64_t n_heads = 0;          //
  Rotary rotary;                     // cos_sin empty: none
  float scale = 1;                   // of scores
  Tensor x;                          // f32 [T, d]: normalised at the end
  Tensor h;                          // operand [T, d]: the same
};

// The fused operations that models are written in, memory to run them on, and what each device does
// its own way. One object a device; not thread-safe. Operations are queued: they are done after
// synchronize(). Shapes are the caller's promise, checked by assertions only. Every operation
// with a floating-point sum adds in an order that depends on the row's own sequence alone, so that
// a sequence gets the same bytes whatever else is in the batch, unless the backend's page says
// else.
//
// Errors: Error{device}, Error{device_memory}, Error{failed}.
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual std::string name() const = 0;  // "cpu", "gpu:0"
  virtual Precision precision() const = 0;
  DType operand() const { return operand_type(precision()); }

  // Uninitialised memory, aligned to Arena::kAlignment, until release() or the backend's end.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  // Bytes that allocate() could still give: bounds the tokens of a batch.
  virtual std::uint64_t free_bytes() = 0;

  // Weights. Host memory may go when the call returns; the backend owns what it makes.
  // host: contiguous f32. as: f32, or operand for a 16-bit copy.
  virtual Tensor upload(const Tensor& host, DType as) = 0;
  // weight f32 [n_out, n_in]; bias f32 [n_out] or empty.
  virtual Linear upload_linear(const Tensor& weight, const Tensor& bias) = 0;

  // Copies a batch into memory of the arena; positions are made here.
  virtual Batch upload_batch(const HostBatch& batch, Arena& arena) = 0;
  // Copies i32 or f32 to the backend: host memory may go when the call returns.
  virtual void copy_in(const Tensor& to, const void* host) = 0;
  // Copies rows to the host, f32 [R, d] contiguous there; from: f32 or operand, rows of any
  // distance. There after synchronize().
  virtual void copy_out(float* host, const Tensor& from) = 0;
  virtual void synchronize() = 0;

  // Runs the body, which does nothing but call operations of this object on memory of one arena. A
  // backend with graphs records it on the first run of a key and replays it later. Equal keys must
  // mean equal calls up to the contents of the memory: same n_tokens, same outputs.
  virtual void run_captured(std::uint64_t key, const std::function<void()>& body) {
    (void)key;
    body();
  }
  // Seconds that the device spent on the last run_captured(); waits for it. 0: not known.
  virtual double captured_seconds() { return 0; }
  // The most bytes of a device that weights and allocate() held at a time, without what operations
  // keep for themselves (split operands, a library's room); 0 for host memory.
  virtual std::uint64_t peak_device_bytes() const { return 0; }

  // Runs the encoder where the backend has a faster way for this batch than its operations one by
  // one; false: it has none and nothing was queued.
  virtual bool encode(const Encoder& op, const Batch& batch) {
    (void)op;
    (void)batch;
    return false;
  }

  virtual void embed(const Embed& op, const Batch& batch) = 0;
  virtual void add_layer_norm(const AddLayerNorm& op) = 0;
  virtual void gemm(const Gemm& op) = 0;
  virtual void qkv_rotary(const QkvRotary& op, const Batch& batch) = 0;
  virtual void attention(const Attention& op, const Batch& batch) = 0;
  virtual void accumulate_contacts(const Contacts& op, const Batch& batch) = 0;
  virtual void finish_contacts(const FinishContacts& op, const Batch& batch) = 0;
  // Sets f32 numbers to 0.
  virtual void clear(const Tensor& tensor) = 0;
  // to[r] = from[rows[r]], cast where the types differ. from: f32 or operand [*, d]; rows: i32 [R].
  virtual void gather_rows(const Tensor& to, const Tensor& from, const Tensor& rows) = 0;
  // f32 [R, V] in place: x - log sum exp x.
  virtual void log_softmax(const Tensor& x) = 0;
  // f32 [R, d] in place, tanh: BERT's pooler.
  virtual void tanh(const Tensor& x) = 0;
  // out[s] = mean of the rows of sequence s without its first and last; 0 where that leaves none.
  // x: f32 [T, d]; out: f32 [n_sequences, d].
  virtual void mean_pool(const Tensor& out, const Tensor& x, const Batch& batch) = 0;
};

struct BackendOptions {
  Precision precision = Precision::fp32;
  int n_threads = 1;                   // of a CPU backend
  std::uint64_t max_device_bytes = 0;  // 0: what is free
};

// Threads of oneTBB, SIMD of Highway. lib/nn/cpu.
std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options);

// The GPU backend of this build. Throws Error{device} where there is none.
std::unique_ptr<Backend> make_gpu_backend(int device, const BackendOptions& options);

}  // namespace biogpu::nn
