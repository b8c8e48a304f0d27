#include "lib/ops/convolution/conv1d_letters.hpp"

#include "lib/ops/convolution/conv1d.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

struct Letters {
  std::vector<std::uint8_t> codes;
  tensor::Tensor host, device;
};

Letters make_letters(Bed& bed, std::int64_t n) {
  Letters made;
  for (std::int64_t i = 0; i < n; ++i)
    made.codes.push_back(static_cast<std::uint8_t>((i * i + i / 3) % 6));
  made.host = tensor::Tensor(made.codes.data(), tensor::DType::u8, {n});
  made.device = made.host;
  made.device.data = bed.device().allocate(made.codes.size());
  bed.device().copy_in(made.device, made.codes.data());
  return made;
}

Pair make_table(Bed& bed, std::int64_t n_out, std::int64_t taps) {
  const Pair weight = bed.random({n_out, 4, taps}, 0.5f, false);
  return bed.pair({taps, ops::kLetterCodes, n_out}, ops::letter_table(weight.host), false);
}

}  // namespace

TEST_CASE("ops.conv1d_letters: every code, ends of segments", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t taps = GENERATE(1, 5, 15), n_out = GENERATE(36, 64, 100);
  const test::RaggedPair segments = bed.segments({3, 141, 1, 0, 29});
  const Letters letters = make_letters(bed, 174);
  const Pair table = make_table(bed, n_out, taps), bias = bed.random({n_out}, 1, false);
  const Pair scale = bed.random({n_out}, 0.5f, false);
  const Pair y = bed.unset({174, n_out}, false), next = bed.unset({174, n_out}, true);
  ops::conv1d_letters(bed.reference(),
                      {letters.host,
                       table.host,
                       bias.host,
                       &segments.host,
                       y.host,
                       {scale.host, bias.host, ops::Activation::gelu_sigmoid, next.host}});
  ops::conv1d_letters(bed.device(),
                      {letters.device,
                       table.device,
                       bias.device,
                       &segments.device,
                       y.device,
                       {scale.device, bias.device, ops::Activation::gelu_sigmoid, next.device}});
  CHECK(bed.difference(y) < 2e-6);
  CHECK(bed.difference(next) < (bed.is_cpu() ? 4e-6 : bed.operand_bound()));
}

// The table means what a convolution of four channels does.
TEST_CASE("ops.conv1d_letters: as a convolution of the letters' numbers", "[ops]") {
  Bed bed(test::subjects().front());
  const std::int64_t taps = 5, n_out = 12, n = 40;
  const test::RaggedPair segments = bed.segments({15, 25});
  const Letters letters = make_letters(bed, n);
  const Pair weight = bed.random({n_out, 4, taps}, 0.5f, false);
  std::vector<float> table = ops::letter_table(weight.host),
                     packed = ops::conv1d_weight(weight.host);
  std::vector<float> x(static_cast<std::size_t>(4 * n), 0.0f);
  for (std::size_t i = 0; i < letters.codes.size(); ++i)
    for (std::size_t c = 0; c < 4; ++c)
      x[4 * i + c] = letters.codes[i] == c ? 1.0f : letters.codes[i] == 5 ? 0.25f : 0.0f;
  const auto view = [](std::vector<float>& values, std::initializer_list<std::int64_t> shape) {
    return tensor::Tensor(values.data(), tensor::DType::f32, shape);
  };
  std::vector<float> of_letters(static_cast<std::size_t>(n * n_out)), of_numbers = of_letters;
  ops::conv1d_letters(bed.reference(), {letters.host,
                                        view(table, {taps, 6, n_out}),
                                        {},
                                        &segments.host,
                                        view(of_letters, {n, n_out}),
                                        {}});
  const tensor::Linear linear =
      bed.reference().upload_linear(view(packed, {n_out, 4 * taps}), tensor::Tensor());
  ops::conv1d(bed.reference(), {view(x, {n, 4}),
                                &linear,
                                taps,
                                1,
                                &segments.host,
                                nullptr,
                                {},
                                view(of_numbers, {n, n_out}),
                                {}});
  for (std::size_t i = 0; i < of_letters.size(); ++i)
    CHECK(std::fabs(of_letters[i] - of_numbers[i]) < 1e-6f);
}

TEST_CASE("ops.conv1d_letters: a segment has the same bytes alone and behind others", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::RaggedPair all = bed.segments({70, 33, 7}), one = bed.segments({33});
  const Letters letters = make_letters(bed, 110);
  const Pair table = make_table(bed, 20, 15);
  const Pair whole = bed.unset({110, 20}, false), part = bed.unset({33, 20}, false);
  ops::conv1d_letters(bed.device(),
                      {letters.device, table.device, {}, &all.device, whole.device, {}});
  ops::conv1d_letters(
      bed.device(),
      {letters.device.slice(0, 70, 103), table.device, {}, &one.device, part.device, {}});
  CHECK(bed.fetch(whole.device.slice(0, 70, 103)) == bed.fetch(part.device));
}
