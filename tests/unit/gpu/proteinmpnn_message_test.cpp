// A layer of gpu/models/proteinmpnn against its formulas in double precision.
#include <cmath>

#include "gpu/models/proteinmpnn/encoder.hpp"
#include "gpu/models/proteinmpnn/pack.hpp"
#include "lib/models/proteinmpnn/random.hpp"
#include "tests/models/proteinmpnn/model_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
namespace proteinmpnn = gpu::proteinmpnn;

namespace {

constexpr std::size_t kRows = 4, kNeighbours = 3, kWidth = proteinmpnn::kHidden,
                      kInner = proteinmpnn::kInner;
using Floats = std::vector<float>;
using Row = std::vector<double>;

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

class Numbers {
 public:
  Floats next(std::size_t n, double scale, double mean = 0) {
    Floats values(n);
    for (float& x : values)
      x = static_cast<float>(
          mean +
          scale * (2 * random_.uniform(models::proteinmpnn::Draw::noise, 0, counter_++) - 1));
    return values;
  }

 private:
  models::proteinmpnn::Random random_{3};
  std::uint32_t counter_ = 0;
};

// weight [n_out][n_in] and bias.
struct Dense {
  std::size_t n_out, n_in;
  Floats weight, bias;

  Dense(std::size_t out, std::size_t in, Numbers& numbers)
      : n_out(out),
        n_in(in),
        weight(numbers.next(out * in, 1.5 / std::sqrt(static_cast<double>(in)))),
        bias(numbers.next(out, 0.1)) {}

  Row operator()(const Row& x, double bias_scale = 1) const {
    Row y(n_out);
    for (std::size_t o = 0; o < n_out; ++o) {
      y[o] = bias_scale * static_cast<double>(bias[o]);
      for (std::size_t k = 0; k < n_in; ++k)
        y[o] += static_cast<double>(weight[o * n_in + k]) * x[k];
    }
    return y;
  }
};

struct Norm {
  Floats weight, bias;
  explicit Norm(Numbers& numbers)
      : weight(numbers.next(kWidth, 0.2, 1)), bias(numbers.next(kWidth, 0.2)) {}

  Row operator()(Row x) const {
    double mean = 0, squares = 0;
    for (const double v : x) mean += v / static_cast<double>(kWidth);
    for (const double v : x) squares += (v - mean) * (v - mean) / static_cast<double>(kWidth);
    for (std::size_t c = 0; c < kWidth; ++c)
      x[c] = (x[c] - mean) / std::sqrt(squares + 1e-5) * static_cast<double>(weight[c]) +
             static_cast<double>(bias[c]);
    return x;
  }
};

Row plus(Row a, const Row& b) {
  for (std::size_t c = 0; c < a.size(); ++c) a[c] += b[c];
  return a;
}

Row map_gelu(Row a) {
  for (double& x : a) x = gelu(x);
  return a;
}

Row row_of(const Floats& values, std::size_t row, std::size_t width, std::size_t begin = 0,
           std::size_t n = kWidth) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * width + begin);
  return {first, first + static_cast<std::ptrdiff_t>(n)};
}

// Device memory of one test.
class Memory {
 public:
  explicit Memory(gpu::Stream& stream) : stream_(stream) {}
  float* put(const Floats& values) {
    floats_.push_back(test::to_device(values, stream_));
    return floats_.back().data();
  }
  proteinmpnn::Product product(const Dense& layer) {
    const int n_in = static_cast<int>(layer.n_in);
    words_.emplace_back(proteinmpnn::pack_words(n_in));
    proteinmpnn::launch_pack(put(layer.weight), n_in, words_.back().data(), stream_);
    return {words_.back().data(), put(layer.bias), proteinmpnn::pack_steps(n_in)};
  }
  proteinmpnn::Columns columns(const Dense& layer) {
    Floats packed(layer.weight.size());
    for (std::size_t o = 0; o < layer.n_out; ++o)
      for (std::size_t k = 0; k < layer.n_in; ++k)
        packed[(k / 4 * layer.n_out + o) * 4 + k % 4] = layer.weight[o * layer.n_in + k];
    return {put(packed), put(layer.bias)};
  }
  proteinmpnn::Norm norm(const Norm& norm) { return {put(norm.weight), put(norm.bias)}; }

 private:
  gpu::Stream& stream_;
  std::vector<gpu::DeviceBuffer<float>> floats_;
  std::vector<gpu::DeviceBuffer<std::uint32_t>> words_;
};

struct Layer {
  Numbers numbers;
  Dense edge{kWidth, kWidth, numbers}, middle{kWidth, kWidth, numbers};
  Dense last{kWidth, kWidth, numbers}, in{kInner, kWidth, numbers}, out{kWidth, kInner, numbers};
  Norm before{numbers}, after{numbers};
  Dense edge_ends{2 * kWidth, kWidth, numbers}, edge_edge{kWidth, kWidth, numbers};
  Dense edge_middle{kWidth, kWidth, numbers}, edge_last{kWidth, kWidth, numbers};
  Norm edge_norm{numbers};
  Floats h = numbers.next(kRows * kWidth, 1), ends = numbers.next(kRows * 2 * kWidth, 1);
  Floats edges = numbers.next(kRows * proteinmpnn::kMaxNeighbours * kWidth, 1);
  std::vector<std::uint8_t> present{1, 1, 0, 1};

  static std::size_t neighbour(std::size_t i, std::size_t e) { return (i + e) % kRows; }
  Row edge_row(std::size_t i, std::size_t e) const {
    return row_of(edges, i * proteinmpnn::kMaxNeighbours + e, kWidth);
  }

  Row new_residue(std::size_t i) const {
    Row sum(kWidth, 0.0);
    double n = 0;
    for (std::size_t e = 0; e < kNeighbours; ++e) {
      const std::size_t j = neighbour(i, e);
      if (present[i] == 0 || present[j] == 0) continue;
      Row x = plus(edge(edge_row(i, e), 0), row_of(ends, i, 2 * kWidth));
      x = plus(x, row_of(ends, j, 2 * kWidth, kWidth));
      sum = plus(sum, map_gelu(middle(map_gelu(x))));
      n += 1;
    }
    const Row mixed = before(plus(row_of(h, i, kWidth), last(sum, n)));
    const Row result = after(plus(mixed, out(map_gelu(in(mixed)))));
    return present[i] != 0 ? result : Row(kWidth, 0.0);
  }

  Row new_edge(std::size_t i, std::size_t e) const {
    const Row receiver = edge_ends(new_residue(i)),
              sender = edge_ends(new_residue(neighbour(i, e)));
    Row x = edge_edge(edge_row(i, e), 0);
    for (std::size_t c = 0; c < kWidth; ++c) x[c] += receiver[c] + sender[kWidth + c];
    return edge_norm(plus(edge_row(i, e), edge_last(map_gelu(edge_middle(map_gelu(x))))));
  }
};

}  // namespace

TEST_CASE("proteinmpnn.message: a layer of the encoder is that of double precision",
          "[proteinmpnn][device]") {
  if (!test::has_gpu()) return;
  const Layer layer;
  gpu::Stream stream;
  Memory memory(stream);
  std::vector<proteinmpnn::Place> places(kRows, {0, static_cast<std::int32_t>(kRows)});
  std::vector<std::int32_t> neighbours;
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t e = 0; e < proteinmpnn::kMaxNeighbours; ++e)
      neighbours.push_back(static_cast<std::int32_t>(Layer::neighbour(i, e)));
  const auto device_places = test::to_device(places, stream);
  const auto device_neighbours = test::to_device(neighbours, stream);
  const auto device_present = test::to_device(layer.present, stream);
  proteinmpnn::Structures s;
  s.n_rows = kRows;
  s.n_neighbours = kNeighbours;
  s.places = device_places.data();
  s.present = device_present.data();
  s.neighbours = device_neighbours.data();
  proteinmpnn::Encoded out;
  gpu::DeviceBuffer<float> h = test::to_device(layer.h, stream);
  gpu::DeviceBuffer<float> edges = test::to_device(layer.edges, stream);
  out.h = h.data();
  out.edges = edges.data();
  out.residue_ends[0] = memory.put(layer.ends);
  out.edge_ends = memory.put(layer.ends);
  proteinmpnn::EncoderLayer weights;
  weights.edge = memory.product(layer.edge);
  weights.middle = memory.product(layer.middle);
  weights.update = {memory.columns(layer.last), memory.columns(layer.in), memory.columns(layer.out),
                    memory.norm(layer.before), memory.norm(layer.after)};
  weights.edge_ends = memory.columns(layer.edge_ends);
  weights.edge_edge = memory.product(layer.edge_edge);
  weights.edge_middle = memory.product(layer.edge_middle);
  weights.edge_last = memory.product(layer.edge_last);
  weights.edge_norm = memory.norm(layer.edge_norm);
  constexpr int kLastLayer =
      proteinmpnn::kLayers - 1;  // even: reads residue_ends[0], hands nothing on
  proteinmpnn::launch_encoder_layer(s, weights, kLastLayer, out, stream);
  const Floats new_h = test::to_host(h, stream), new_edges = test::to_host(edges, stream);
  double furthest = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const Row right = layer.new_residue(i);
    for (std::size_t c = 0; c < kWidth; ++c)
      furthest =
          test::worse(furthest, std::abs(right[c] - static_cast<double>(new_h[i * kWidth + c])));
    for (std::size_t e = 0; e < kNeighbours; ++e) {
      const Row edge = layer.new_edge(i, e);
      const Row got = row_of(new_edges, i * proteinmpnn::kMaxNeighbours + e, kWidth);
      for (std::size_t c = 0; c < kWidth; ++c)
        furthest = test::worse(furthest, std::abs(edge[c] - got[c]));
    }
  }
  CHECK(furthest < 1e-5);
}
