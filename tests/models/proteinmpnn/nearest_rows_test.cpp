#include "lib/models/proteinmpnn/ops/nearest_rows.hpp"

#include "tests/models/proteinmpnn/graph_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

struct Found {
  std::vector<std::int32_t> rows, counts;
  std::vector<float> distances;
  bool operator==(const Found&) const = default;
};

// Of segments of these lengths; every seventh row is absent.
struct Input {
  std::int64_t n = 0;
  test::Indices segments;
  test::Bytes present;

  Input(Bed& bed, const std::vector<std::int32_t>& lengths) {
    std::vector<std::int32_t> places;
    std::vector<std::uint8_t> there;
    for (const std::int32_t length : lengths) {
      const auto first = static_cast<std::int32_t>(n);
      for (; n < first + length; ++n) {
        places.insert(places.end(), {first, length});
        there.push_back(n % 7 == 3 ? 0 : 1);
      }
    }
    segments = bed.indices(places);
    present = test::bytes(bed, there);
  }
};

Found find(Bed& bed, tensor::Context& context, const Input& input, const Pair& points,
           std::int64_t point, std::int64_t k) {
  const bool is_device = &context == &bed.device();
  const auto make = [&](tensor::DType type, std::initializer_list<std::int64_t> shape) {
    tensor::Tensor tensor(nullptr, type, shape);
    tensor.data = context.allocate(tensor.bytes());
    return tensor;
  };
  const tensor::Tensor rows = make(tensor::DType::i32, {input.n, k}),
                       distances = make(tensor::DType::f32, {input.n, k}),
                       counts = make(tensor::DType::i32, {input.n});
  models::proteinmpnn::nearest_rows(
      context, {is_device ? points.device : points.host, point,
                is_device ? input.present.device : input.present.host,
                test::as_table(is_device ? input.segments.device : input.segments.host, 2), rows,
                distances, counts});
  Found found{std::vector<std::int32_t>(static_cast<std::size_t>(rows.size())),
              std::vector<std::int32_t>(static_cast<std::size_t>(counts.size())),
              std::vector<float>(static_cast<std::size_t>(distances.size()))};
  context.copy_out(found.rows.data(), rows);
  context.copy_out(found.counts.data(), counts);
  context.copy_out(found.distances.data(), distances);
  context.synchronize();
  return found;
}

}  // namespace

TEST_CASE("proteinmpnn.nearest_rows: rows, ties and distances to the bit", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t k = GENERATE(1, 20, 48);
  const Input input(bed, {1, 19, 0, 48, 61});
  Pair points = bed.random({input.n, 3, 3}, 4.0f, false);
  std::vector<float> values = points.values;
  for (std::size_t i = 0; i < values.size() / 2; ++i)  // on a lattice: many equal distances
    values[i] = std::round(values[i]);
  points = bed.pair({input.n, 3, 3}, values, false);
  const Found right = find(bed, bed.reference(), input, points, 1, k);
  CHECK(find(bed, bed.device(), input, points, 1, k) == right);
  CHECK(find(bed, bed.reference(), input, points, 2, k) != right);
}

TEST_CASE("proteinmpnn.nearest_rows: of equal distances the lower row is nearer", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  // Corners of a cube around row 4, and rows that are absent before and behind them.
  Input input(bed, {11});
  input.present = test::bytes(bed, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0});
  std::vector<float> xyz;
  for (int i = 0, corner = 0; i < 11; ++i) {
    const bool is_corner = i > 0 && i < 10 && i != 5;
    for (int d = 0; d < 3; ++d)
      xyz.push_back(i == 5 ? 8.0f : !is_corner ? 0.0f : (corner >> d & 1) != 0 ? 10.0f : 6.0f);
    if (is_corner) ++corner;
  }
  const auto row = [](const Found& found, int i) {
    return std::vector<std::int32_t>(found.rows.begin() + 7 * i, found.rows.begin() + 7 * i + 7);
  };
  const Found found = find(bed, bed.device(), input, bed.pair({11, 1, 3}, xyz, false), 0, 7);
  // Around the middle all corners are at one distance, as far as those that are absent.
  CHECK(row(found, 5) == std::vector<std::int32_t>{5, 0, 1, 2, 3, 4, 6});
  // From a corner: itself, the middle, three along edges, two of those across faces.
  CHECK(row(found, 1) == std::vector<std::int32_t>{1, 5, 2, 3, 6, 4, 7});
  CHECK(row(found, 0) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
  // The order is that of the rows wherever the points lie.
  for (std::size_t x = 3; x < 30; ++x) xyz[x] += 64.0f;
  CHECK(find(bed, bed.device(), input, bed.pair({11, 1, 3}, xyz, false), 0, 7).rows == found.rows);
}
