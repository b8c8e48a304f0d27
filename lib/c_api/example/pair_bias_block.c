/* A block with its weights: attention of tokens with a bias of their pairs, the last tokens
 * padding.
 *
 *   cc pair_bias_block.c -lbiogpu_potential -o pair_bias_block && ./pair_bias_block TOKENS PADDING
 */
#include <biogpu/block.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWidth = 8, kPairWidth = 3, kHeads = 2, kMaxTokens = 64, kWeights = 12 };

static int fail(void) {
  fprintf(stderr, "pair_bias_block: %s\n", biogpu_block_error());
  return 1;
}

/* A contiguous array of 1 to 3 axes; the last ones are 0 where there are fewer. */
static biogpu_block_tensor array(float* data, int64_t a, int64_t b, int64_t c) {
  biogpu_block_tensor x = {data, BIOGPU_BLOCK_F32, 1, {a, b, c}, {1}};
  if (c != 0) {
    x.n_axes = 3;
    x.stride[0] = b * c;
    x.stride[1] = c;
    x.stride[2] = 1;
  } else if (b != 0) {
    x.n_axes = 2;
    x.stride[0] = b;
    x.stride[1] = 1;
  }
  return x;
}

/* Numbers of no meaning from -0.5 to 0.5. */
static float* numbers(float* to, int n, int seed) {
  for (int i = 0; i < n; ++i) to[i] = (float)((i + 7 * seed) * 37 % 101) / 100 - 0.5f;
  return to;
}

int main(int argc, char** argv) {
  static float values[kWeights][kWidth * kWidth], tokens[kMaxTokens * kWidth],
      pairs[kMaxTokens * kMaxTokens * kPairWidth], mask[kMaxTokens], out[kMaxTokens * kWidth];
  static const struct {
    const char* name;
    int rows, columns; /* 0 columns: of one axis */
  } kShapes[kWeights] = {{"layernorm_a.weight", kWidth, 0},
                         {"layernorm_a.bias", kWidth, 0},
                         {"layernorm_z.weight", kPairWidth, 0},
                         {"layernorm_z.bias", kPairWidth, 0},
                         {"linear_nobias_z.weight", kHeads, kPairWidth},
                         {"attention.linear_q.weight", kWidth, kWidth},
                         {"attention.linear_q.bias", kWidth, 0},
                         {"attention.linear_k.weight", kWidth, kWidth},
                         {"attention.linear_v.weight", kWidth, kWidth},
                         {"attention.linear_g.weight", kWidth, kWidth},
                         {"attention.linear_o.weight", kWidth, kWidth},
                         {"attention.linear_o.bias", kWidth, 0}};
  if (argc != 3) {
    fprintf(stderr, "usage: pair_bias_block TOKENS PADDING\n");
    return 2;
  }
  const int n = atoi(argv[1]), n_seen = n - atoi(argv[2]);
  if (n < 1 || n > kMaxTokens || n_seen < 0 || n_seen > n) {
    fprintf(stderr, "pair_bias_block: expected 1 to %d tokens, and no more padding\n", kMaxTokens);
    return 2;
  }
  biogpu_block_context* context = NULL;
  if (biogpu_block_open("cpu", "auto", 1, &context) != 0) return fail();

  biogpu_block_weight weights[kWeights];
  for (int i = 0; i < kWeights; ++i) {
    weights[i].name = kShapes[i].name;
    numbers(values[i], kWidth * kWidth, i);
    weights[i].tensor = array(values[i], kShapes[i].rows, kShapes[i].columns, 0);
  }
  biogpu_block* block = NULL;
  if (biogpu_block_make(context, "pair-bias-attention", weights, kWeights, 0, &block) != 0)
    return fail();

  for (int i = 0; i < n; ++i) mask[i] = i < n_seen;
  const biogpu_block_input inputs[] = {
      {"tokens", array(numbers(tokens, n * kWidth, 20), n, kWidth, 0)},
      {"pairs", array(numbers(pairs, n * n * kPairWidth, 21), n, n, kPairWidth)},
      {"mask", array(mask, n, 0, 0)}};
  biogpu_block_call call = {0};
  call.inputs = inputs;
  call.n_inputs = 3;
  call.add = 1;
  call.out = array(out, n, kWidth, 0);
  if (biogpu_block_run(block, &call) != 0) return fail();

  printf("first token");
  for (int i = 0; i < kWidth; ++i) printf(" %.4f", out[i]);
  printf("\n");
  biogpu_block_free(block);
  biogpu_block_close(context);
  return 0;
}
