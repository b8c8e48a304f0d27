#include "lib/ops/cartesian_tensor/eigen3.hpp"

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

// Symmetric matrices with what is above the diagonal left as it is: only the lower triangle counts.
std::vector<float> covariances(Bed& bed, std::int64_t n) {
  const Pair points = bed.random({n, 5, 3}, 2.0f, false);
  std::vector<float> matrices;
  for (std::int64_t r = 0; r < n; ++r)
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        float sum = 0;
        for (int p = 0; p < 5; ++p) {
          const float* const point = points.values.data() + (r * 5 + p) * 3;
          sum += point[i] * point[k] * static_cast<float>(i + 1);  // no symmetry above
        }
        matrices.push_back(sum);
      }
  return matrices;
}

// Largest of |A v - l v| / |A| and of what the vectors differ by from orthonormal ones.
double defect(const float* a, const float* values, const float* v) {
  double size = 1e-30, worst = 0;
  for (int i = 0; i < 9; ++i) size = std::max(size, std::fabs(static_cast<double>(a[i])));
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i) {
      double image = 0, inner = 0;
      for (int k = 0; k < 3; ++k) {
        const int low = std::max(i, k), high = std::min(i, k);
        image += static_cast<double>(a[3 * low + high]) * static_cast<double>(v[3 * k + c]);
        inner += static_cast<double>(v[3 * k + c]) * static_cast<double>(v[3 * k + i]);
      }
      image -= static_cast<double>(values[c]) * static_cast<double>(v[3 * i + c]);
      worst = test::worse_of(worst, std::fabs(image) / size);
      worst = test::worse_of(worst, std::fabs(inner - (i == c ? 1 : 0)));
    }
  return worst;
}

}  // namespace

TEST_CASE("ops.eigen3: covariances of points, also in place", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n = GENERATE(1, 33, 300);
  const std::vector<float> matrices = covariances(bed, n);
  const Pair x = bed.pair({n, 3, 3}, matrices, false), values = bed.unset({n, 3}, false);
  const Pair vectors = bed.unset({n, 3, 3}, false);
  ops::eigen3(bed.reference(), {x.host, values.host, vectors.host});
  ops::eigen3(bed.device(), {x.device, values.device, vectors.device});
  CHECK(bed.difference(values) < 2e-6);
  CHECK(bed.difference(vectors) < 2e-6);
  const std::vector<float> l = bed.fetch(values.device), v = bed.fetch(vectors.device);
  for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r)
    CHECK(defect(&matrices[9 * r], &l[3 * r], &v[9 * r]) < 1e-6);
  ops::eigen3(bed.device(), {x.device, {}, x.device});
  CHECK(bed.fetch(x.device) == v);
}

TEST_CASE("ops.eigen3: equal eigenvalues have orthogonal vectors, of any size", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::vector<float> matrices{
      0,      0,      0, 0,      0,      0,     0, 0,     0,  // nothing
      2,      0,      0, 0,      2,      0,     0, 0,     2,  // three equal ones
      1,      1,      1, 1,      1,      1,     1, 1,     1,  // of rank one: two are 0
      3,      1,      0, 1,      3,      0,     0, 0,     4,  // 2, 4, 4
      1,      1e-7f,  0, 1e-7f,  1,      1e-7f, 0, 1e-7f, 1,  // nearly equal
      5,      0,      0, 0,      -1,     0,     0, 0,     2,  // diagonal, out of order
      1e30f,  1e29f,  0, 1e29f,  2e30f,  1e28f, 0, 1e28f, 0,  // large
      1e-38f, 2e-39f, 0, 2e-39f, 3e-38f, 0,     0, 0,     1e-38f};
  const Pair x = bed.pair({8, 3, 3}, matrices, false), values = bed.unset({8, 3}, false),
             vectors = bed.unset({8, 3, 3}, false);
  ops::eigen3(bed.device(), {x.device, values.device, vectors.device});
  const std::vector<float> l = bed.fetch(values.device), v = bed.fetch(vectors.device);
  for (std::size_t r = 0; r < 8; ++r) {
    CAPTURE(r);
    CHECK(defect(&matrices[9 * r], &l[3 * r], &v[9 * r]) < 1e-6);
    CHECK((l[3 * r] <= l[3 * r + 1] && l[3 * r + 1] <= l[3 * r + 2]));
  }
  CHECK((l[6] == 0 || std::fabs(l[6]) < 1e-6f));
  CHECK(std::fabs(l[8] - 3) < 1e-6f);
  CHECK((std::fabs(l[9] - 2) < 1e-6f && std::fabs(l[10] - 4) < 1e-6f));
  CHECK((l[15] == -1 && l[16] == 2 && l[17] == 5));
  // The greatest number of each column is positive: those of a diagonal matrix are the axes.
  const std::vector<float> axes(v.begin() + 45, v.begin() + 54);
  CHECK(axes == std::vector<float>{0, 0, 1, 1, 0, 0, 0, 1, 0});
}

TEST_CASE("ops.eigen3: slices of wider rows, none, and matrices that are not contiguous", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::vector<float> matrices = covariances(bed, 12);
  const Pair x = bed.pair({6, 6, 3}, matrices, false), values = bed.unset({6, 3}, false),
             vectors = bed.unset({6, 6, 3}, false);
  const auto second = [](const tensor::Tensor& rows) { return rows.slice(1, 3, 6); };
  ops::eigen3(bed.reference(), {second(x.host), values.host, second(vectors.host)});
  ops::eigen3(bed.device(), {second(x.device), values.device, second(vectors.device)});
  CHECK(bed.difference(values) < 2e-6);
  CHECK(bed.difference(vectors) < 2e-6);
  ops::eigen3(bed.device(), {second(x.device).slice(0, 0, 0), values.device, {}});
  tensor::Tensor across = x.device.slice(1, 0, 3);
  std::swap(across.stride[1], across.stride[2]);
  CHECK_THROWS_AS(ops::eigen3(bed.device(), {across, values.device, {}}), Error);
}
