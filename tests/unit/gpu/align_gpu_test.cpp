#include <array>
#include <utility>

#include "lib/align/align.hpp"
#include "lib/core/error.hpp"
#include "tests/unit/gpu/align_support.hpp"

using namespace biogpu;

namespace {

constexpr unsigned kSeed = 20240611;

// Lengths around lanes and tiles of the shapes 8 x 8, 8 x 16 and 32 x 16, and an empty one.
constexpr std::array<std::size_t, 16> kLengths = {0,  1,  7,  8,   9,   15,  16,  17,
                                                  63, 64, 65, 127, 128, 129, 150, 40};

test::WorkBuilder pairs_of_all_lengths(std::mt19937& random, int n_classes) {
  test::WorkBuilder builder;
  for (std::size_t i = 0; i < kLengths.size(); ++i) {
    const auto query = test::random_residues(random, kLengths[i], n_classes);
    builder.add(query, test::mutated(random, query, n_classes, 8));
    const std::size_t other = kLengths[(i * 7 + 3) % kLengths.size()];
    builder.add(query, test::random_residues(random, other, n_classes));
  }
  return builder;
}

void check_against_reference(const align::Work& work, const align::Options& options,
                             std::uint64_t max_device_bytes = 0) {
  const auto aligner = align::make_gpu_aligner(0, options, max_device_bytes);
  test::check_equal(work, options, aligner->align(work), align::align_ref(work, options));
}

}  // namespace

TEST_CASE("gpu.align_gpu: DNA rows equal the reference in every mode", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed);
  const auto builder = pairs_of_all_lengths(random, 5);
  for (const auto& options : test::all_modes(align::dna_scoring(2, -3, 5, 2))) {
    check_against_reference(builder.work(), options);
  }
}

TEST_CASE("gpu.align_gpu: protein rows equal the reference in every mode", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 1);
  const auto builder = pairs_of_all_lengths(random, 24);
  for (const auto& options : test::all_modes(align::blosum62_scoring(11, 1))) {
    check_against_reference(builder.work(), options);
  }
}

TEST_CASE("gpu.align_gpu: several tiles a pair equal the reference", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 4);
  test::WorkBuilder builder;
  for (const std::size_t length : {190, 511, 512, 513, 600})
    test::add_similar_and_other(builder, random, length, 35);
  for (const auto mode : {align::Mode::global, align::Mode::semiglobal, align::Mode::local}) {
    const align::Options options{
        mode, {true, true, true, true}, align::Output::cigar, align::dna_scoring(2, -3, 5, 2)};
    check_against_reference(builder.work(), options);
  }
}

TEST_CASE("gpu.align_gpu: rows do not depend on the size of the batches", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 5);
  test::WorkBuilder builder;
  for (int i = 0; i < 60; ++i) {
    const auto query = test::random_residues(random, 20 + random() % 60, 4);
    builder.add(query, test::mutated(random, query, 4, 6));
  }
  for (std::uint32_t i = 0; i < 10; ++i) builder.add_pair(i, 59 - i);  // sequences used again
  const align::Options options{
      align::Mode::local, {}, align::Output::cigar, align::dna_scoring(2, -3, 5, 2)};
  const auto work = builder.work();
  const auto in_one = align::make_gpu_aligner(0, options, 0)->align(work);
  const auto small = align::make_gpu_aligner(0, options, 40000);
  const auto in_many = small->align(work);
  test::check_equal(work, options, in_many, in_one);
  CHECK(small->peak_device_bytes() < 60000);
  test::check_equal(work, options, small->align(work), in_one);  // the aligner can be used again
}

TEST_CASE("gpu.align_gpu: rows in the memory of older ones", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 9);
  const auto many = pairs_of_all_lengths(random, 5);
  test::WorkBuilder few;
  for (const std::size_t length : {0, 40, 150}) {
    const auto query = test::random_residues(random, length, 5);
    few.add(query, test::mutated(random, query, 5, 8));
  }
  for (const auto& options : test::all_modes(align::dna_scoring(2, -3, 5, 2))) {
    const auto aligner = align::make_gpu_aligner(0, options, 0);
    align::Alignments rows;
    for (const test::WorkBuilder* builder :
         std::array<const test::WorkBuilder*, 3>{&many, &few, &many}) {
      const align::Work work = builder->work();
      rows = aligner->align(work, std::move(rows));
      test::check_equal(work, options, rows, align::align_ref(work, options));
    }
  }
}

TEST_CASE("gpu.align_gpu: a device that is not there is refused", "[gpu][device]") {
  if (!test::has_gpu()) return;
  try {
    (void)align::make_gpu_aligner(100, {}, 0);
    FAIL("device 100 was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device);
  }
}
