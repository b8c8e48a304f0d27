// The first convolution, from letters: sums of rows of a table.
//
// Shapes   see lib/ops/convolution/conv1d_letters.hpp; k taps, n columns.
// Mapping  a block has 64 columns, whose part of the table it keeps in shared memory (24 k columns
//          bytes: 23 KB for 15 taps), and kBlockRows rows, 16 of them at a time; a thread adds 4
//          columns of a row.
// Traffic  4 m n stored as y and 2 m n as activated; the table from L2 once a block. 4 k m n bytes
//          from shared memory: 9 GB for 196,608 rows of 768 columns and 15 taps, 0.32 ms on an
//          H100 (28 TB/s), next to 0.27 ms for the stores.
// Result   fp32 sums, taps ascending.
// Limits   31 taps.
// Source   own.
// Oracle   conv1d_letters_ref, lib/ops/convolution/conv1d_letters_ref.cpp.
#include "lib/ops/convolution/conv1d_letters.hpp"

#include <string>

#include "gpu/ops/device.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/segment_windows.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kLetterColumns = 64, kLetterThreads = 256, kLetterRows = 128, kMaxTaps = 31;
constexpr int kCodes = static_cast<int>(biogpu::ops::kLetterCodes);

struct LettersArgs {
  const std::uint8_t* letters = nullptr;  // [m]
  const float* table = nullptr;           // [taps, kCodes, n]
  const float* bias = nullptr;            // [n], or not given
  SegmentMap segments;
  int m = 0, taps = 0;
  Outputs outputs;
};

__global__ __launch_bounds__(kLetterThreads) void conv1d_letters_kernel(LettersArgs a) {
  BIOGPU_DYNAMIC_SHARED(float, table);  // [taps, kCodes, kLetterColumns]
  const int n = a.outputs.n, n_across = ceil_div(n, kLetterColumns);
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int column = block % n_across * kLetterColumns, row = block / n_across * kLetterRows;
  for (int i = thread; i < a.taps * kCodes * kLetterColumns; i += kLetterThreads) {
    const int c = column + i % kLetterColumns;
    table[i] = c < n ? a.table[std::int64_t{i / kLetterColumns} * n + c] : 0.0f;
  }
  __syncthreads();
  constexpr int kThreadsOfRow = kLetterColumns / 4;
  const int mine = thread % kThreadsOfRow * 4, c = column + mine;
  if (c >= n) return;
  Float4 bias = {};
  if (a.bias != nullptr) {
#pragma unroll
    for (int i = 0; i < 4; ++i) bias.value[i] = c + i < n ? a.bias[c + i] : 0.0f;
  }
  for (int r = row + thread / kThreadsOfRow; r < row + kLetterRows && r < a.m;
       r += kLetterThreads / kThreadsOfRow) {
    const RowWindow window = window_of(a.segments, r, a.taps, 1, (a.taps - 1) / 2);
    Float4 y = bias;
    for (int tap = window.begin; tap < window.end; ++tap) {
      const int line = tap * kCodes + a.letters[window.first + tap];
      const Float4 x = *reinterpret_cast<const Float4*>(table + line * kLetterColumns + mine);
#pragma unroll
      for (int i = 0; i < 4; ++i) y.value[i] += x.value[i];
    }
    store_outputs<4>(a.outputs, r, c, y.value);
  }
}

}  // namespace

void conv1d_letters(Device& device, const biogpu::ops::Conv1dLetters& op) {
  LettersArgs args;
  args.taps = static_cast<int>(op.table.shape[0]);
  args.m = static_cast<int>(op.letters.shape[0]);
  args.outputs = outputs_of(op.table.shape[2], op.out, op.activated);
  if (args.taps > kMaxTaps)
    throw DeviceError(
        DeviceError::Kind::failed,
        "a first convolution of " + std::to_string(args.taps) + " taps; GPUs take up to 31");
  if (args.m == 0) return;
  args.letters = op.letters.as<const std::uint8_t>();
  args.table = op.table.as<const float>();
  if (!op.bias.empty()) args.bias = op.bias.as<const float>();
  args.segments = map_segments(*op.segments, *op.segments);
  const std::size_t n_blocks = static_cast<std::size_t>(ceil_div(args.m, kLetterRows)) *
                               static_cast<std::size_t>(ceil_div(args.outputs.n, kLetterColumns));
  device.stream().launch_shared(
      conv1d_letters_kernel, n_blocks, kLetterThreads,
      sizeof(float) * static_cast<std::size_t>(args.taps * kCodes * kLetterColumns), args);
}

}  // namespace biogpu::gpu::ops
