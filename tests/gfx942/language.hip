// What kernels are made of, compiled for gfx942 and run below the runtime of
// third_party/hip_on_gfx942: loads and stores past the edge of a grid, the vendor's tanhf and expf,
// shared memory and barriers, values that begin at any byte, carries, registers with high numbers,
// accumulators.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gpu/rt/hip.hpp"

namespace {

__global__ void functions(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tanhf(in[i]) + expf(in[i]);
}

__global__ void block_sums(float* out, const float* in) {
  __shared__ float part[256];
  int i = threadIdx.x;
  part[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (int width = 128; width > 0; width /= 2) {
    if (i < width) part[i] += part[i + width];
    __syncthreads();
  }
  if (i == 0) out[blockIdx.x] = part[0];
}

// Numbers of 16 and of 64 bits of a text in shared memory, from each of its bytes on.
__global__ void numbers_of_text(unsigned long long* out) {
  __shared__ unsigned char text[72];
  const int i = threadIdx.x;
  if (i < 72) text[i] = static_cast<unsigned char>(3 * i + 1);
  __syncthreads();
  if (i >= 64) return;
  unsigned short two;
  unsigned long long eight;
  __builtin_memcpy(&two, text + i, sizeof two);
  __builtin_memcpy(&eight, text + i, sizeof eight);
  out[i] = eight ^ two;
}

// The carries of additions whose result takes the place of an operand: a loop that ends where a
// counter has none is made of them.
__global__ void carries(unsigned long long* out) {
  const unsigned i = threadIdx.x;
  unsigned sum = (i % 3 == 0 ? 0xffffff00u : 0xfffffe00u) + i;
  unsigned long long carry = 0;
  asm volatile("v_add_co_u32_e32 %0, vcc, 0x100, %0\n\ts_mov_b64 %1, vcc"
               : "+v"(sum), "=s"(carry)
               :
               : "vcc");
  out[i] = static_cast<unsigned long long>(sum) << 1 | (carry >> i & 1);
}

// Numbers of 16 bits to and from registers with high numbers, which are not halves of other ones.
__global__ void high_registers(float* out, const float* in) {
  float rounded = 0, other = in[threadIdx.x];
  asm volatile(
      "v_mov_b32_e32 v72, %1\n\tv_cvt_f16_f32_e32 v200, %1\n\tv_add_f16_e32 v201, v200, v200\n\t"
      "v_cvt_f32_f16_e32 %0, v201\n\tv_mov_b32_e32 %1, v72"
      : "=&v"(rounded), "+v"(other)
      :
      : "v72", "v200", "v201");
  out[threadIdx.x] = rounded + other;
}

// Shared memory written from accumulators, AGPRs.
__global__ void accumulators(float* out, const float* in) {
  __shared__ float room[128];
  const auto at = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(room + 2 * threadIdx.x));
  const float x = in[threadIdx.x], y = 2 * x;
  asm volatile(
      "v_accvgpr_write_b32 a6, %1\n\tv_accvgpr_write_b32 a7, %2\n\ts_nop 4\n\t"
      "ds_write_b64 %0, a[6:7]\n\ts_waitcnt lgkmcnt(0)"
      :
      : "v"(at), "v"(x), "v"(y)
      : "a6", "a7", "memory");
  __syncthreads();
  out[threadIdx.x] = room[127 - 2 * threadIdx.x] + room[126 - 2 * threadIdx.x];
}

bool tell(const char* test, bool is_equal, double difference) {
  std::printf("%s\t%s\tdifference %g\n", is_equal ? "equal" : "DIFFERS", test, difference);
  return is_equal;
}

}  // namespace

int main() {
  constexpr int kNumbers = 300, kRoom = 512;
  std::vector<float> in(kRoom), out(kRoom, -7.0f);
  for (int i = 0; i < kRoom; ++i) in[i] = 0.0078125f * static_cast<float>(i - 100);
  float *in_device = nullptr, *out_device = nullptr;
  constexpr std::size_t kBytes = kRoom * sizeof(float);
  if (hipMalloc(reinterpret_cast<void**>(&in_device), kBytes) != hipSuccess ||
      hipMalloc(reinterpret_cast<void**>(&out_device), kBytes) != hipSuccess)
    return 1;
  (void)hipMemcpyAsync(in_device, in.data(), kBytes, hipMemcpyHostToDevice, nullptr);
  (void)hipMemcpyAsync(out_device, out.data(), kBytes, hipMemcpyHostToDevice, nullptr);

  hipLaunchKernelGGL(functions, dim3(3), dim3(128), 0, nullptr, out_device, in_device, kNumbers);
  bool all = hipGetLastError() == hipSuccess;
  (void)hipMemcpyAsync(out.data(), out_device, kBytes, hipMemcpyDeviceToHost, nullptr);
  double worst = 0;
  for (int i = 0; i < kRoom; ++i) {
    const double x = in[i], expected = i < kNumbers ? std::tanh(x) + std::exp(x) : -7.0;
    const double difference = std::fabs(out[i] - expected) / (1 + std::fabs(expected));
    if (!(difference <= worst)) worst = difference;  // a NaN is kept
  }
  all = tell("functions", worst < 5e-7, worst) && all;

  hipLaunchKernelGGL(block_sums, dim3(2), dim3(256), 0, nullptr, out_device, in_device);
  all = hipGetLastError() == hipSuccess && all;
  (void)hipMemcpyAsync(out.data(), out_device, kBytes, hipMemcpyDeviceToHost, nullptr);
  worst = 0;
  for (int block = 0; block < 2; ++block) {
    double sum = 0;  // all sums are exact
    for (int i = 0; i < 256; ++i) sum += in[block * 256 + i];
    const double difference = std::fabs(out[block] - sum);
    if (!(difference <= worst)) worst = difference;
  }
  all = tell("block sums", worst == 0, worst) && all;

  hipLaunchKernelGGL(high_registers, dim3(1), dim3(64), 0, nullptr, out_device, in_device);
  all = hipGetLastError() == hipSuccess && all;
  (void)hipMemcpyAsync(out.data(), out_device, kBytes, hipMemcpyDeviceToHost, nullptr);
  worst = 0;
  for (int i = 0; i < 64; ++i) {  // all of these numbers are exact in fp16
    const double difference = std::fabs(out[i] - 3.0 * in[i]);
    if (!(difference <= worst)) worst = difference;
  }
  all = tell("high registers", worst == 0, worst) && all;

  hipLaunchKernelGGL(accumulators, dim3(1), dim3(64), 0, nullptr, out_device, in_device);
  all = hipGetLastError() == hipSuccess && all;
  (void)hipMemcpyAsync(out.data(), out_device, kBytes, hipMemcpyDeviceToHost, nullptr);
  worst = 0;
  for (int i = 0; i < 64; ++i) {
    const double difference = std::fabs(out[i] - 3.0 * in[63 - i]);
    if (!(difference <= worst)) worst = difference;
  }
  all = tell("accumulators", worst == 0, worst) && all;

  auto* const words_device = reinterpret_cast<unsigned long long*>(out_device);
  hipLaunchKernelGGL(numbers_of_text, dim3(1), dim3(128), 0, nullptr, words_device);
  all = hipGetLastError() == hipSuccess && all;
  std::vector<unsigned long long> words(64);
  (void)hipMemcpyAsync(words.data(), words_device, 64 * sizeof words[0], hipMemcpyDeviceToHost,
                       nullptr);
  int n_wrong = 0;
  for (int i = 0; i < 64; ++i) {
    unsigned long long expected = 0;
    for (int k = 0; k < 8; ++k)
      expected |= static_cast<unsigned long long>((3 * (i + k) + 1) & 0xff) << 8 * k;
    n_wrong += words[i] != (expected ^ (expected & 0xffff));
  }
  all = tell("numbers of text", n_wrong == 0, n_wrong) && all;

  hipLaunchKernelGGL(carries, dim3(1), dim3(64), 0, nullptr, words_device);
  all = hipGetLastError() == hipSuccess && all;
  (void)hipMemcpyAsync(words.data(), words_device, 64 * sizeof words[0], hipMemcpyDeviceToHost,
                       nullptr);
  n_wrong = 0;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned sum = (i % 3 == 0 ? 0u : 0xffffff00u) + i;
    n_wrong += words[i] != (static_cast<unsigned long long>(sum) << 1 | (i % 3 == 0 ? 1 : 0));
  }
  all = tell("carries", n_wrong == 0, n_wrong) && all;
  (void)hipFree(in_device);
  (void)hipFree(out_device);
  return all ? 0 : 1;
}
