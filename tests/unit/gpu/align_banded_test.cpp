// Bands and X-drop on the GPU: equal to the reference.
#include <array>

#include "lib/align/align.hpp"
#include "tests/unit/gpu/align_support.hpp"

using namespace biogpu;

namespace {

constexpr unsigned kSeed = 20261122;

test::WorkBuilder random_pairs(std::mt19937& random, int n_classes, std::size_t n,
                               std::size_t longest) {
  test::WorkBuilder builder;
  for (std::size_t i = 0; i < n; ++i) {
    const auto query = test::random_residues(random, random() % (longest + 1), n_classes);
    builder.add(query, test::mutated(random, query, n_classes, 8));
    builder.add(query, test::random_residues(random, random() % (longest + 1), n_classes));
  }
  return builder;
}

void check_against_reference(const align::Work& work, const align::Options& options,
                             std::uint64_t max_device_bytes = 0) {
  const auto aligner = align::make_gpu_aligner(0, options, max_device_bytes);
  test::check_equal(work, options, aligner->align(work), align::align_ref(work, options));
  // The device did it, and kept to its memory.
  CHECK(aligner->device_seconds() > 0);
  if (max_device_bytes != 0) CHECK(aligner->peak_device_bytes() < max_device_bytes + 20000);
}

}  // namespace

TEST_CASE("gpu.align_banded: windows wider than shared memory equal the reference",
          "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 3);
  test::WorkBuilder builder;
  for (const std::size_t length : {253, 254, 255, 256, 300})
    test::add_similar_and_other(builder, random, length, length);
  align::Options options{
      align::Mode::local, {}, align::Output::cigar, align::dna_scoring(2, -3, 5, 2)};
  options.xdrop = 1000000;
  check_against_reference(builder.work(), options);
  options.xdrop = align::kNoXdrop;
  options.band = 250;
  check_against_reference(builder.work(), options);
  test::WorkBuilder wide;
  const auto query = test::random_residues(random, 1060, 4);
  wide.add(query, test::mutated(random, query, 4, 10));
  wide.add(test::random_residues(random, 1030, 4), query);
  options.mode = align::Mode::semiglobal;
  options.free_ends = {true, true, true, true};
  options.band = 5000;
  check_against_reference(wide.work(), options);
}

TEST_CASE("gpu.align_banded: rows do not depend on the size of the batches", "[gpu][device]") {
  if (!test::has_gpu()) return;
  std::mt19937 random(kSeed + 4);
  const auto builder = random_pairs(random, 4, 30, 100);
  align::Options options{
      align::Mode::global, {}, align::Output::cigar, align::dna_scoring(2, -3, 5, 2)};
  options.band = 12;
  check_against_reference(builder.work(), options, 60000);
  check_against_reference(builder.work(), options, 9000);  // the longest go to the CPU
  options.mode = align::Mode::local;
  options.xdrop = 30;
  options.band = align::kNoBand;
  check_against_reference(builder.work(), options, 60000);
  check_against_reference(builder.work(), options, 9000);
}
