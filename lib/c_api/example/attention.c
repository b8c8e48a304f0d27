/* Triangle attention of padded rows: the use of biogpu/block.h in C.
 *
 *   cc attention.c -lbiogpu_potential -o attention && ./attention TOKENS PADDING
 */
#include <biogpu/block.h>
#include <stdio.h>
#include <stdlib.h>

enum { kHeads = 2, kHead = 8 };

static int fail(void) {
  fprintf(stderr, "attention: %s\n", biogpu_block_error());
  return 1;
}

/* An array [1, shape[0], ..., shape[3]] that is contiguous. */
static biogpu_block_tensor array(void* data, int type, int64_t a, int64_t b, int64_t c, int64_t d) {
  biogpu_block_tensor x = {data, type, 5, {1, a, b, c, d}, {a * b * c * d, b * c * d, c * d, d, 1}};
  return x;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: attention TOKENS PADDING\n");
    return 2;
  }
  const int n = atoi(argv[1]), n_seen = n - atoi(argv[2]);
  if (n < 1 || n > 256 || n_seen < 0 || n_seen > n) {
    fprintf(stderr, "attention: expected 1 to 256 tokens, and no more padding\n");
    return 2;
  }
  const int size = n * kHeads * n * kHead;
  float* const x = malloc((size_t)size * 2 * sizeof(float)); /* queries, keys and values; results */
  float* const bias = malloc((size_t)(kHeads * n * n) * sizeof(float));
  uint8_t* const mask = malloc((size_t)(n * n));
  if (x == NULL || bias == NULL || mask == NULL) return 1;
  for (int i = 0; i < size; ++i) x[i] = (float)(i * 37 % 101) / 50 - 1;
  for (int i = 0; i < kHeads * n * n; ++i) bias[i] = (float)(i % 7) / 7;
  for (int i = 0; i < n * n; ++i) mask[i] = i % n < n_seen;

  biogpu_block_context* context = NULL;
  if (biogpu_block_open("cpu", "auto", 1, &context) != 0) return fail();
  biogpu_block_attention_call call = {0};
  call.q = call.k = call.v = array(x, BIOGPU_BLOCK_F32, n, kHeads, n, kHead);
  call.bias = array(bias, BIOGPU_BLOCK_F32, 1, kHeads, n, n);
  call.mask = array(mask, BIOGPU_BLOCK_U8, n, 1, 1, n);
  call.out = array(x + size, BIOGPU_BLOCK_F32, n, kHeads, n, kHead);
  if (biogpu_block_attention(context, &call) != 0) return fail();

  float lowest = x[size], highest = x[size];
  for (int i = size; i < 2 * size; ++i) {
    if (x[i] < lowest) lowest = x[i];
    if (x[i] > highest) highest = x[i];
  }
  printf("first %.6f\nrange %.6f to %.6f\n", x[size], lowest, highest);
  biogpu_block_close(context);
  free(x);
  free(bias);
  free(mask);
  return 0;
}
