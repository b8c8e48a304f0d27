/* Blocks of protein-structure models for other programs, over arrays of the program: triangle
 * attention and triangle multiplication of AlphaFold 2, AlphaFold 3 and their relatives, and the
 * other blocks of AlphaFold 3's trunk.
 *
 * Link with -lbiogpu_potential. Functions that can fail return 0, or the exit code that `biogpu`
 * would end with (1 failed, 2 wrong use, 3 bad input, 4 no such device, 5 out of device memory, 137
 * out of memory); biogpu_block_error() then tells what went wrong. A context and its blocks are
 * used by one thread at a time, several contexts by as many threads.
 *
 * Arrays are in memory of the context's device: the host's, or the GPU's. On a GPU a call queues
 * its work behind that of the given stream, which goes on when the work is done; the call may
 * return before, and leaves the context's device as the current one of the calling thread.
 * Arguments that may be NULL are named.
 */
#ifndef BIOGPU_BLOCK_H
#define BIOGPU_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BIOGPU_BLOCK_EXPORT __attribute__((visibility("default")))
#else
#define BIOGPU_BLOCK_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BIOGPU_BLOCK_VERSION 2

/* The library's version: BIOGPU_BLOCK_VERSION of the header that it was built with. */
BIOGPU_BLOCK_EXPORT int biogpu_block_version(void);

/* The message of the calling thread's last call that failed: one line. Never NULL. */
BIOGPU_BLOCK_EXPORT const char* biogpu_block_error(void);

/* A device and the memory for what blocks keep there. */
typedef struct biogpu_block_context biogpu_block_context;

/* device: "cpu", "gpu" or a GPU's number; precision of products and attention: "fp32" or "auto",
 * "fp64" on the CPU (slow: one number after the other), "tf32", "bf16" and "fp16" on a GPU;
 * n_threads: of the CPU, up to 1024, 0 for all. *context becomes NULL where it fails. */
BIOGPU_BLOCK_EXPORT int biogpu_block_open(const char* device, const char* precision, int n_threads,
                                          biogpu_block_context** context);
/* The context's device as biogpu_block_open() takes it: "cpu" or a GPU's number, which tells what
 * "gpu" chose. NULL where the context is NULL; else valid until it is closed. */
BIOGPU_BLOCK_EXPORT const char* biogpu_block_device(const biogpu_block_context* context);
/* NULL does nothing. Blocks of the context can still be used; the memory of its weights goes with
 * the last of them. */
BIOGPU_BLOCK_EXPORT void biogpu_block_close(biogpu_block_context* context);

/* Types of numbers. Those of 16 bits are for a context of that precision; of weights any. */
enum {
  BIOGPU_BLOCK_F32 = 0,
  BIOGPU_BLOCK_F16 = 1,
  BIOGPU_BLOCK_BF16 = 2,
  BIOGPU_BLOCK_U8 = 3 /* masks of biogpu_block_attention() */
};

/* An array. Number (i, j, ...) is at data + i stride[0] + j stride[1] + ..., counted in numbers. */
typedef struct biogpu_block_tensor {
  void* data;
  int32_t type;
  int32_t n_axes; /* 0: not given, where that may be */
  int64_t shape[5];
  int64_t stride[5]; /* 0 or more; of a result, 1 on the last axis and no 0 */
} biogpu_block_tensor;

/* Triangle attention without its maps: for each b, n, h and query q
 *   out = sum over keys k of softmax_k(scale q.k + bias[b, h, q, k]) v
 * where a key with mask[b, n, k] = 0 has a logit of -1e9, so that a row without other keys weighs
 * all equally. A first axis of 1 may be left out of all arrays. */
typedef struct biogpu_block_attention_call {
  biogpu_block_tensor q;    /* [B, N, H, Q, D]; D up to 192 on a GPU */
  biogpu_block_tensor k;    /* [B, N, H, K, D] */
  biogpu_block_tensor v;    /* [B, N, H, K, D] */
  biogpu_block_tensor bias; /* [B, 1, H, Q, K], or not given */
  biogpu_block_tensor mask; /* [B, N, 1, 1, K], F32 or U8, or not given */
  biogpu_block_tensor out;  /* [B, N, H, Q, D] */
  float scale;              /* 0: 1 / sqrt(D) */
  void* workspace;          /* at a multiple of 256 bytes; NULL: the context's own */
  size_t workspace_bytes;
  void* stream; /* of a GPU, hipStream_t or cudaStream_t; NULL: the default stream */
} biogpu_block_attention_call;

BIOGPU_BLOCK_EXPORT int biogpu_block_attention(biogpu_block_context* context,
                                               const biogpu_block_attention_call* call);
/* Bytes of workspace that the call needs. Addresses of the arrays are not looked at. */
BIOGPU_BLOCK_EXPORT int biogpu_block_attention_workspace(biogpu_block_context* context,
                                                         const biogpu_block_attention_call* call,
                                                         size_t* bytes);

/* A block with its weights, which is copied to the device. */
typedef struct biogpu_block biogpu_block;

/* In memory of the host, contiguous: stride is not looked at. */
typedef struct biogpu_block_weight {
  const char* name; /* as a checkpoint of Protenix or OpenFold calls it within the block */
  biogpu_block_tensor tensor;
} biogpu_block_weight;

/* kind: as `biogpu lab list` has it, with the weights and inputs below. A norm has .weight and
 * .bias [width], a map .weight [outputs, inputs] and, where it is said so, .bias [outputs]. N:
 * tokens or atoms. c, c_s, c_z, c_m: widths of tokens, of what they are conditioned on, of pairs
 * and of an alignment; these, hidden widths and heads are those of the weights. The first input is
 * the one that is updated, unless another is named; masks are 0 or 1 and optional.
 *
 *   triangle-product-out, triangle-product-in
 *     weights: norms layer_norm_in, layer_norm_out; maps linear_a_p, linear_a_g, linear_b_p,
 *       linear_b_g, linear_g, linear_z, each with a .bias or none; the first five all or none
 *     inputs: pairs [N, N, c_z]; mask [N, N], 0 where a pair is none
 *
 *   triangle-attention-start, triangle-attention-end
 *     weights: norm layer_norm; maps linear (the bias of heads), mha.linear_q, mha.linear_k,
 *       mha.linear_v, and mha.linear_g, mha.linear_o, each with a .bias or none
 *     inputs: pairs [N, N, c_z]; mask [N, N], 0 where a pair is none
 *
 *   pair-transition, token-transition
 *     weights: norm layernorm1; maps linear_no_bias_a, linear_no_bias_b, linear_no_bias; or those
 *       of AlphaFold 2, without a gate: norm layer_norm; maps linear_1, linear_2 with a .bias
 *     inputs: pairs [N, N, c_z], or tokens [N, c], which may be any rows
 *
 *   pair-bias-attention
 *     weights: norms layernorm_a, layernorm_z; maps linear_nobias_z (the bias of heads),
 *       attention.linear_q with a .bias, attention.linear_k, attention.linear_v, and
 *       attention.linear_g, attention.linear_o, each with a .bias or none
 *     inputs: tokens [N, c]; pairs [N, N, c_z]; mask [N], 0 where a token is no key
 *
 *   outer-product-mean
 *     weights: norm layer_norm; maps linear_1, linear_2, both with a .bias or none, and linear_out
 *       with a .bias
 *     inputs: msa [S, N, c_m], S rows of an alignment; mask [S, N], 0 where a row has no token;
 *       pairs [N, N, c_z], which are updated, and are needed only where they are added
 *
 *   pair-weighted-averaging
 *     weights: norms layernorm_m, layernorm_z; maps linear_no_bias_z (the weights of heads),
 *       linear_no_bias_mv, linear_no_bias_mg, linear_no_bias_out
 *     inputs: msa [S, N, c_m]; pairs [N, N, c_z]; mask [N], 0 where a token weighs nothing
 *
 *   adaptive-norm: the update is the norm itself
 *     weights: layernorm_s.weight; maps linear_s with a .bias, linear_nobias_s
 *     inputs: tokens [N, c]; condition [N, c_s]
 *
 *   conditioned-attention
 *     weights: those of adaptive-norm behind layernorm_a.; norm layernorm_z, or its .weight; maps
 *       linear_nobias_z, attention.linear_* as in pair-bias-attention, linear_a_last with a .bias
 *     inputs: tokens [N, c]; condition [N, c_s]; pairs [N, N, c_z]; mask [N], 0: no key
 *
 *   conditioned-transition
 *     weights: those of adaptive-norm behind adaln.; maps linear_nobias_a1, linear_nobias_a2,
 *       linear_nobias_b, and linear_s with a .bias; for a product of three, as in Boltz-2,
 *       linear_nobias_a3
 *     inputs: tokens [N, c]; condition [N, c_s]
 *
 *   window-attention: each 32 atoms attend to the 128 around them
 *     weights: those of pair-bias-attention
 *     inputs: atoms [N, c]; pairs [ceil(N / 32), 32, 128, c_z], those of atom 32 t + i with atom
 *       32 t - 48 + j at (t, i, j), anything where there is no such atom; mask [N], 0: no key
 *
 * Weights that are missing or unknown, have another shape, or hold NaN or an infinity are bad
 * input. eps: of the norms; 0: 1e-5. *block becomes NULL where it fails. */
BIOGPU_BLOCK_EXPORT int biogpu_block_make(biogpu_block_context* context, const char* kind,
                                          const biogpu_block_weight* weights, int n_weights,
                                          float eps, biogpu_block** block);
/* NULL does nothing. Memory of weights goes with the context and all of its blocks. */
BIOGPU_BLOCK_EXPORT void biogpu_block_free(biogpu_block* block);

/* An input by the name that the kind has for it. F32, or numbers of 16 bits if the context takes
 * them; masks are F32. Each may have an axis of B batches in front; one without it is the same for
 * all batches. */
typedef struct biogpu_block_input {
  const char* name;
  biogpu_block_tensor tensor; /* 0 axes: not given */
} biogpu_block_input;

typedef struct biogpu_block_call {
  const biogpu_block_input* inputs; /* in any order */
  int32_t n_inputs;
  int32_t add;             /* 1: out becomes the updated input plus the update; 0: the update */
  biogpu_block_tensor out; /* as the updated input, whose memory it may be; else it overlaps none */
  void* workspace;         /* at a multiple of 256 bytes; NULL: the context's own */
  size_t workspace_bytes;
  void* stream; /* of a GPU, hipStream_t or cudaStream_t; NULL: the default stream */
} biogpu_block_call;

BIOGPU_BLOCK_EXPORT int biogpu_block_run(biogpu_block* block, const biogpu_block_call* call);
/* Bytes of workspace that the call needs. Addresses of the arrays are not looked at. */
BIOGPU_BLOCK_EXPORT int biogpu_block_workspace(biogpu_block* block, const biogpu_block_call* call,
                                               size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
