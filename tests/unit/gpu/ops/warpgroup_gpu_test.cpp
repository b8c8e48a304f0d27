// Products on Hopper beside the portable kernel on the same device, and beside sums in double
// precision on the host. Elsewhere they decline, and the portable kernel is compared.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "gpu/ops/gemm/gemm_warpgroup.hpp"
#include "tests/unit/gpu/ops/warpgroup_support.hpp"

using namespace biogpu;
using gpu::Number16;
using gpu::ops::Element;
using test::to_device;
using test::to_host;

namespace {

struct Product {
  int m = 0, n = 0, k = 0;
  // Results of 16 bits: "", "gelu", "relu", "rotary" or "residual" in place. Of 32: "f32", "f32
  // gelu", "f32 residual" in place, or "f32 residual elsewhere".
  std::string epilogue;
  int head = 0, n_rotated = 0;
  bool bias = true;
  int gap = 0;    // numbers between the result's rows
  int shift = 0;  // numbers before the result's first

  bool has(const char* word) const { return epilogue.find(word) != std::string::npos; }
  std::size_t stride() const { return static_cast<std::size_t>(n + gap); }
  std::size_t room() const {
    return static_cast<std::size_t>(m) * stride() + static_cast<std::size_t>(shift);
  }
};

struct Result {
  bool launched = false;
  bool rest_untouched = true;  // memory around the result; all of it where nothing was launched
  std::vector<float> values;   // [m, n]
};

// The operands of a product, and its results by either kernel and by the host.
class Products {
 public:
  Products(const Product& p, Number16 type, gpu::Stream& stream)
      : p_(p), type_(type), stream_(stream) {
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
               k = static_cast<std::size_t>(p.k);
    a_ = test::random_bits(m * k, 1, type, 1);
    b_ = test::random_bits(n * k, 1 / std::sqrt(static_cast<float>(p.k)), type, 2);
    bias_ = test::random_values(n, 1, 3);
    angles_ = test::random_values(64 * 251, 1, 4);
    positions_.resize(m);  // no two tiles have the same ones
    for (std::size_t i = 0; i < m; ++i) positions_[i] = static_cast<std::int32_t>(i * 7 % 251);
    residual_ = test::random_values(p.has("f32") ? p.room() : 1, 1, 5);
    residual16_ = test::random_bits(p.has("f32") ? 1 : p.room(), 1, type, 6);
    device_a_ = to_device(a_, stream);
    device_b_ = to_device(b_, stream);
    device_bias_ = to_device(bias_, stream);
    device_angles_ = to_device(angles_, stream);
    device_positions_ = to_device(positions_, stream);
    device_residual_ = to_device(residual_, stream);
  }

  Result run(bool warpgroups) {
    if (p_.has("f32")) return run_over(residual_, warpgroups);
    if (p_.has("residual")) return run_over(residual16_, warpgroups);
    return run_over(std::vector<std::uint16_t>(p_.room(), 0xffff), warpgroups);
  }

  // Of a sample of rows and columns, beside the host's sums.
  double difference_from_host(const Result& result) const {
    double worst = 0;
    for (const int row : sample(p_.m, 7)) {
      for (const int column : sample(p_.n, 8)) {
        const auto at = static_cast<std::size_t>(row) * static_cast<std::size_t>(p_.n) +
                        static_cast<std::size_t>(column);
        worst = test::worse(worst,
                            test::difference(expected(row, column), double{result.values.at(at)}));
      }
    }
    return worst;
  }

 private:
  // The first and last of some tiles of either width, among them the last one, and others.
  static std::vector<int> sample(int n, unsigned seed) {
    std::mt19937 random(seed);
    const auto any = [&] { return static_cast<int>(random() % 4096) * n / 4096; };
    std::vector<int> chosen = {0, 63, 64, n - 1};
    for (const int width : {128, 160, 192}) {
      chosen.insert(chosen.end(), {width - 1, width, (n - 1) / width * width});
      for (int i = 0; i < 2; ++i) {
        const int tile = any() / width * width;
        chosen.insert(chosen.end(), {tile, tile + width - 1, any()});
      }
    }
    for (int& x : chosen) x = std::min(x, n - 1);
    return chosen;
  }

  template <class T>
  Result run_over(const std::vector<T>& before, bool warpgroups) {
    auto out = to_device(before, stream_);
    const gpu::ops::GemmArgs args = arguments(out.data() + p_.shift);
    Result result;
    if (warpgroups) {
      result.launched = gpu::ops::launch_gemm_warpgroup(args, type_, tiles_, stream_);
    } else {
      gpu::ops::launch_gemm(args, type_, tiles_, stream_);
      result.launched = true;
    }
    const std::vector<T> after = to_host(out, stream_);
    const auto shift = static_cast<std::size_t>(p_.shift), n = static_cast<std::size_t>(p_.n);
    if (result.launched) result.values.reserve(after.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!result.launched || i < shift || (i - shift) % p_.stride() >= n) {
        result.rest_untouched = result.rest_untouched && after[i] == before[i];
      } else if constexpr (sizeof(T) == 4) {
        result.values.push_back(after[i]);
      } else {
        result.values.push_back(test::value_of(after[i], type_));
      }
    }
    return result;
  }

  gpu::ops::GemmArgs arguments(void* out) const {
    gpu::ops::GemmArgs args;
    args.a = device_a_.data();
    args.b = device_b_.data();
    args.lda = args.ldb = args.k = p_.k;
    args.m = p_.m;
    args.n = p_.n;
    args.epilogue.bias = p_.bias ? device_bias_.data() : nullptr;
    args.epilogue.activation = p_.has("gelu")   ? ops::Activation::gelu_erf
                               : p_.has("relu") ? ops::Activation::relu
                                                : ops::Activation::none;
    const auto stride = static_cast<std::int64_t>(p_.stride());
    args.out = {out, stride, p_.has("f32") ? Element::f32 : test::element_of(type_)};
    if (p_.has("residual")) args.epilogue.residual = args.out;
    if (p_.has("elsewhere")) args.epilogue.residual.data = device_residual_.data() + p_.shift;
    if (p_.has("rotary")) {
      args.epilogue.cos_sin = device_angles_.data();
      args.epilogue.positions = device_positions_.data();
      args.epilogue.head = p_.head;
      args.epilogue.n_rotated = p_.n_rotated;
    }
    return args;
  }

  double sum(int row, int column) const {
    const auto k = static_cast<std::size_t>(p_.k);
    const std::uint16_t* const x = a_.data() + static_cast<std::size_t>(row) * k;
    const std::uint16_t* const y = b_.data() + static_cast<std::size_t>(column) * k;
    double sum = p_.bias ? bias_[static_cast<std::size_t>(column)] : 0;
    for (std::size_t i = 0; i < k; ++i)
      sum += double{test::value_of(x[i], type_)} * test::value_of(y[i], type_);
    return sum;
  }

  double expected(int row, int column) const {
    double x = sum(row, column);
    const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
    if (column < p_.n_rotated) {
      const int half = p_.head / 2, in_head = column % p_.head;
      const bool first = in_head < half;
      const double other = sum(row, first ? column + half : column - half);
      const float* const angles = angles_.data() + positions_[r] * p_.head + in_head % half;
      x = x * angles[0] + (first ? -other : other) * angles[half];
    }
    if (p_.has("gelu")) x = x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    if (p_.has("relu")) x = std::max(x, 0.0);
    if (p_.has("residual")) {
      const std::size_t at = static_cast<std::size_t>(p_.shift) + r * p_.stride() + c;
      x += p_.has("f32") ? residual_[at] : test::value_of(residual16_[at], type_);
    }
    return x;
  }

  Product p_;
  Number16 type_;
  gpu::Stream& stream_;
  tensor::TileTable tiles_;
  std::vector<std::uint16_t> a_, b_, residual16_;
  std::vector<float> bias_, angles_, residual_;
  std::vector<std::int32_t> positions_;
  gpu::DeviceBuffer<std::uint16_t> device_a_, device_b_;
  gpu::DeviceBuffer<float> device_bias_, device_angles_, device_residual_;
  gpu::DeviceBuffer<std::int32_t> device_positions_;
};

// What emulated threads do in a moment: the same epilogue over less than two tiles of columns or,
// where they have Hopper's products, over some tiles for each warpgroup of the one cluster.
Product shrunk(Product p, bool warpgroups) {
  const double n_before = p.n;
  if (warpgroups) {
    if (p.m > 384) p.m = 256 + p.m % 128;
    if (p.n > 1000) p.n = 480 + p.n % 160;
    p.k = std::min(p.k, 392);
  } else {
    p.m = 70;
    p.n = std::min(p.n, 168 + p.n % 8);
    p.k = std::min(p.k, 72);
  }
  if (p.n_rotated > 0) {
    const int n = static_cast<int>(p.n_rotated * (p.n / n_before));
    p.n_rotated = std::max(n / p.head, 1) * p.head;
  }
  return p;
}

// suits: whether Hopper's kernel takes the product, where there is a Hopper.
void check(const Product& product, bool suits) {
  gpu::Stream stream;
  const bool available = gpu::has_warpgroups();
  const Product p =
      available && !test::is_emulated() ? product : shrunk(product, available && suits);
  CAPTURE(p.m, p.n, p.k, p.epilogue, p.head, p.n_rotated, p.bias, p.gap, p.shift);
  for (const Number16 type : {Number16::fp16, Number16::bf16}) {
    CAPTURE(type == Number16::fp16);
    // Where a residual of 16 bits is added, the product was rounded before.
    const double bound = p.has("f32") ? 1e-4 : test::tolerance(type) * (p.has("residual") ? 2 : 1);
    Products products(p, type, stream);
    const Result portable = products.run(false);
    REQUIRE(portable.rest_untouched);
    REQUIRE(products.difference_from_host(portable) < bound);
    const Result got = products.run(true);
    REQUIRE(got.launched == (available && suits));
    REQUIRE(got.rest_untouched);
    if (!got.launched) continue;
    REQUIRE(products.difference_from_host(got) < bound);
    REQUIRE(test::difference(portable.values, got.values) < bound);
    // Emulated threads that take turns in ascending order would repeat their run.
    const char* const order = std::getenv("BIOGPU_EMULATED_ORDER");
    if (!test::is_emulated() || (order != nullptr && std::string(order) != "0"))
      REQUIRE(products.run(true).values == got.values);
  }
}

}  // namespace

TEST_CASE("ops.warpgroup: products equal those of the portable kernel and of the host",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  // Sizes that are no multiples of a tile; k shorter than a round of stages, and many rounds.
  check({2100, 1160, 72, ""}, true);
  check({2100, 1160, 712, "gelu"}, true);
  check({2100, 1160, 72, "relu"}, true);
  check({1500, 1920, 640, "rotary", 64, 1280}, true);
  check({1411, 1992, 328, "f32 residual"}, true);
  check({2048, 1280, 64, "gelu"}, true);
  check({130, 17000, 128, "f32 residual"}, true);
  check({2100, 1280, 712, "f32 residual"}, true);
  check({2100, 1160, 712, "residual"}, true);
}

TEST_CASE("ops.warpgroup: products of many tiles a block, warpgroups taking turns",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  // On 132 multiprocessors, 66 clusters: 198 pairs of tiles of 160 columns (3 rounds, as those of
  // 192 would take), and 256 of 192. Slices: 1, as many as stages, one more, a part of one more
  // than that, and many.
  const bool emulated = test::is_emulated(), available = gpu::has_warpgroups();
  for (const int k : {64, 320, 384, 392, 1280}) {
    check({4100, 1896, k, ""}, true);
    if (!available || (emulated && k == 392)) break;  // they shrink to the same
    if (!emulated) check({4100, 1896, k, "gelu"}, true);
  }
  // Emulated, one cluster takes five such pairs.
  const int m = emulated ? 250 : 4090, n = emulated ? 952 : 3064;
  for (const int k : {64, 256, 320, 328, 1280}) {
    check({m, n, k, "gelu"}, true);
    if (!available) break;
    if (!emulated) check({m, n, k, ""}, true);
  }
  check({4100, 5000, 328, ""}, true);  // 459 pairs of 192
  check({4100, 3840, 1280, "rotary", 64, 2560}, true);
  check({4100, 2504, 328, "f32 residual"}, true);   // one more than stages
  check({4100, 2720, 1280, "f32 residual"}, true);  // 17 tiles across, by pairs
  check({4100, 2504, 328, "residual"}, true);
  check({4100, 2720, 1280, "residual", 0, 0, false, 8}, true);
}

TEST_CASE("ops.warpgroup: heads of all sizes rotate, up to a column inside a tile",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  check({2300, 960, 320, "rotary", 16, 656}, true);
  check({2300, 960, 320, "rotary", 32, 672}, true);
  check({2300, 960, 320, "rotary", 64, 704}, true);
  check({2300, 960, 320, "rotary", 32, 672, false}, true);
}

TEST_CASE("ops.warpgroup: products without a bias or a residual, and rows of results apart",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  check({2100, 1160, 328, "", 0, 0, false}, true);
  check({2100, 1160, 328, "gelu", 0, 0, true, 24}, true);
  check({2100, 1160, 328, "f32"}, true);
  check({2100, 1160, 328, "f32", 0, 0, false, 4}, true);
  check({2100, 1160, 328, "f32 residual", 0, 0, true, 12}, true);
  check({2100, 1120, 328, "f32", 0, 0, false, 4}, true);
}

TEST_CASE("ops.warpgroup: products that do not suit are declined, and another kernel's are right",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  check({2100, 1160, 328, "", 0, 0, true, 0, 4}, false);      // not aligned to 16 bytes
  check({2100, 1160, 328, "gelu", 0, 0, true, 4}, false);     // nor are rows
  check({2100, 1164, 328, "", 0, 0, true, 4}, false);         // n
  check({2100, 1160, 56, ""}, false);                         // k
  check({100, 120, 72, ""}, false);                           // few tiles
  check({2100, 1160, 328, "f32 residual elsewhere"}, false);  // not in place
  check({2100, 1160, 328, "f32 gelu"}, false);                // what 16 bits have alone
}

namespace {

// What rounding a number of this type may add.
double half_step(double x, Number16 type) {
  const bool is_fp16 = type == Number16::fp16;
  return std::ldexp(1.0, std::max(std::ilogb(x), is_fp16 ? -14 : -126) - (is_fp16 ? 11 : 8));
}

// GELU of the bias alone, as the other operands are 0: each row of the results has the same.
std::vector<std::uint16_t> gelu_of(const std::vector<float>& bias, int m, Number16 type,
                                   bool warpgroups, gpu::Stream& stream) {
  constexpr int kK = 64;
  const auto n = static_cast<int>(bias.size());
  const auto a = to_device(std::vector<std::uint16_t>(static_cast<std::size_t>(m * kK), 0), stream);
  const auto b = to_device(test::random_bits(bias.size() * kK, 1, type, 2), stream);
  const auto device_bias = to_device(bias, stream);
  auto out = to_device(
      std::vector<std::uint16_t>(static_cast<std::size_t>(m) * bias.size(), 0xffff), stream);
  gpu::ops::GemmArgs args;
  args.a = a.data();
  args.b = b.data();
  args.lda = args.ldb = args.k = kK;
  args.m = m;
  args.n = n;
  args.epilogue.bias = device_bias.data();
  args.epilogue.activation = ops::Activation::gelu_erf;
  args.out = {out.data(), n, test::element_of(type)};
  tensor::TileTable tiles;
  if (warpgroups) {
    REQUIRE(gpu::ops::launch_gemm_warpgroup(args, type, tiles, stream));
  } else {
    gpu::ops::launch_gemm(args, type, tiles, stream);
  }
  return to_host(out, stream);
}

void check_gelu(int m, int n, Number16 type, bool warpgroups) {
  CAPTURE(type == Number16::fp16, warpgroups);
  std::vector<float> bias(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    bias[static_cast<std::size_t>(i)] =
        -40.0f + 80.0f * static_cast<float>(i) / static_cast<float>(n - 1);
  for (const int i : {5, n / 2, n - 9})
    bias[static_cast<std::size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
  bias[7] = 1e5f;
  gpu::Stream stream;
  const auto got = gelu_of(bias, m, type, warpgroups, stream);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = bias[i % bias.size()], value = test::value_of(got[i], type);
    CAPTURE(x, value);
    if (std::isnan(x)) {
      REQUIRE(std::isnan(value));
      continue;
    }
    if (type == Number16::fp16 && x > 65504) {
      REQUIRE(value == 65504);
      continue;
    }
    const double expected = x / 2 * std::erfc(-x / std::sqrt(2.0));
    const double half = half_step(expected, type);
    double bound = half + 1.5e-5;
    if (warpgroups && type == Number16::fp16) bound = std::min(bound, 1.4 * half);
    REQUIRE(std::abs(value - expected) <= bound);
  }
}

}  // namespace

TEST_CASE(
    "ops.warpgroup: GELU for 16 bits keeps its bounds from -40 to 40, NaN and the range of fp16",
    "[ops][device]") {
  if (!test::has_gpu()) return;
  for (const Number16 type : {Number16::fp16, Number16::bf16}) {
    check_gelu(8, 1024, type, false);
    if (gpu::has_warpgroups()) check_gelu(130, test::is_emulated() ? 1024 : 16384, type, true);
  }
}

TEST_CASE("ops.warpgroup: the emulated platform has Hopper's products where it is told to",
          "[ops][device]") {
  if (!test::has_gpu() || !test::is_emulated()) return;
  REQUIRE(gpu::has_warpgroups() == (std::getenv("BIOGPU_EMULATED_CLUSTERS") != nullptr));
}
