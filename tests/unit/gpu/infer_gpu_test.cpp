#include <cmath>
#include <string>
#include <vector>

#include "lib/tasks/score.hpp"
#include "lib/tensor/context.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/infer/loaded.hpp"

using namespace biogpu;
using tensor::Precision;
using test::Loaded;

namespace {

// 1 where both point the same way; of whole arrays, as the gate of each precision is stated.
double cosine(const io::SharedArray& a, const io::SharedArray& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return ab / std::sqrt(aa * bb);
}

// A batch of random residues between <cls> and <eos>.
models::TokenBatch batch_of(const models::Vocabulary& vocabulary, const std::vector<int>& lengths) {
  models::TokenBatch batch;
  batch.starts = {0};
  std::uint32_t state = 1;
  for (const int n : lengths) {
    std::string letters;
    for (int i = 0; i < n; ++i) {
      state = state * 1664525u + 1013904223u;
      letters += "LAGVSERTIDPKQNFYMHWC"[(state >> 16) % 20];
    }
    const tasks::Tokens tokens = models::tokenize(vocabulary, letters, {}, "test");
    batch.ids.insert(batch.ids.end(), tokens.begin(), tokens.end());
    batch.starts.push_back(static_cast<std::int32_t>(batch.ids.size()));
  }
  return batch;
}

}  // namespace

TEST_CASE("infer.models: the GPU in fp32 equals transformers in double precision",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  const std::string name = GENERATE(values(test::kModels));
  Loaded loaded(name, tensor::make_gpu_context(0, {Precision::fp32}));
  test::check_against_vectors(name, loaded, 1e-4);
}

TEST_CASE("infer.models: other precisions keep the direction of hidden states",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  const std::string name = GENERATE(values({"esm2_head16", "esm2_head64", "protbert_head16"}));
  const Precision precision = GENERATE(Precision::tf32, Precision::fp16, Precision::bf16);
  Loaded cpu(name), gpu(name, tensor::make_gpu_context(0, {precision}));
  const auto right = test::compute(cpu, {2, 3, 4}, 1000), got = test::compute(gpu, {2, 3, 4}, 1000);
  REQUIRE(got.size() == right.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].key.find("/residues/") == std::string::npos) continue;  // of all layers
    INFO(name << " " << got[i].key);
    CHECK(cosine(got[i].values, right[i].values) >
          (precision == Precision::bf16 ? 0.9995 : 0.99999));
  }
}

// Pinned memory, memory that is filled from pinned pieces, and small memory; of whole rows and of
// some of their columns.
TEST_CASE("infer.context: arrays of any size come whole to any memory", "[infer][device]") {
  if (!test::has_gpu()) return;
  const auto context = tensor::make_gpu_context(0, {Precision::fp32});
  for (const std::int64_t n_rows : {1, 1000, 699'051, 2'100'000}) {
    const std::int64_t width = 12;
    std::vector<float> host(static_cast<std::size_t>(n_rows * width));
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 16'000'057);
    tensor::Tensor whole(context->allocate(host.size() * sizeof(float)), tensor::DType::f32,
                         {n_rows, width});
    context->copy_in(whole, host.data());
    tensor::Tensor part = whole;
    part.shape[1] = 8;
    for (const tensor::Tensor& from : {whole, part}) {
      const auto n = static_cast<std::size_t>(from.size());
      std::vector<float> plain(n + 1, -1);
      const std::shared_ptr<float> pinned = context->host_memory(n);
      context->copy_out(plain.data(), from);
      context->copy_out(pinned.get(), from);
      context->synchronize();
      std::size_t n_wrong = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t columns = static_cast<std::size_t>(from.shape[1]);
        const float right = host[i / columns * 12 + i % columns];
        n_wrong += plain[i] != right || pinned.get()[i] != right ? 1 : 0;
      }
      INFO(n_rows << " rows of " << from.shape[1]);
      CHECK(n_wrong == 0);
      CHECK(plain[n] == -1);
    }
    context->release(whole.data);
  }
}

TEST_CASE("infer.models: a sequence gets the same numbers on the GPU in any batch",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  Loaded loaded("esm2_head16", tensor::make_gpu_context(0, {Precision::fp16}));
  const auto alone = test::compute(loaded, {4}, 1000);
  const auto together = test::compute(loaded, {3, 2, 4, 1, 0}, 1000);
  for (const io::NamedArray& array : alone)
    for (const io::NamedArray& other : together)
      if (other.key == array.key) CHECK(test::difference(other.values, array.values) < 1e-3);
}

TEST_CASE("infer.score: sequences that share passes get the GPU's numbers in any batch",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  Loaded cpu("esm2_head16"), gpu("esm2_head16", tensor::make_gpu_context(0, {Precision::fp32}));
  // Some sequences and positions come again, so that passes of one shape are recorded and run.
  std::vector<tasks::Tokens> sequences;
  std::vector<tasks::Positions> positions;
  for (int i = 0; i < 2; ++i)
    for (const char* text : {"MKTAYIA", "", "MLAGVSE"}) {
      sequences.push_back(cpu.tokens(text));
      positions.push_back(*text == 0 ? tasks::Positions() : tasks::Positions{1, 4});
    }
  const auto rows_of = [&](Loaded& loaded, bool masked, std::int64_t budget) {
    std::vector<float> rows;
    tasks::log_probabilities(*loaded.model, sequences, positions, masked, budget,
                             [&](std::size_t, const tasks::LogProbabilities& of_sequence) {
                               rows.insert(rows.end(), of_sequence.rows.begin(),
                                           of_sequence.rows.end());
                             });
    return rows;
  };
  for (const bool masked : {false, true}) {
    const auto right = rows_of(cpu, masked, 1000);
    for (const std::int64_t budget : {20, 1000})
      CHECK(test::difference(rows_of(gpu, masked, budget), right) < 1e-4);
  }
}

TEST_CASE("infer.models: contacts of batches of one shape with other lengths are theirs",
          "[infer][model][device]") {
  if (!test::has_gpu()) return;
  Loaded cpu("esm2_head16"), gpu("esm2_head16", tensor::make_gpu_context(0, {Precision::fp32}));
  // The first reserves the memory, so that the others' recorded passes are kept; these have equal
  // numbers of tokens and sequences and an equal longest sequence, and differ in their pairs.
  const std::vector<std::vector<int>> batches = {{120},       {30, 16, 14}, {30, 16, 14},
                                                 {30, 28, 2}, {30, 28, 2},  {30, 16, 14}};
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const models::TokenBatch batch = batch_of(cpu.model->info().vocabulary, batches[i]);
    const auto right = cpu.model->run(batch, {models::kContacts}).at(models::kContacts).values;
    const auto got = gpu.model->run(batch, {models::kContacts}).at(models::kContacts).values;
    INFO("batch " << i);
    REQUIRE(got.size() == right.size());
    CHECK(test::difference(got, right) < 1e-4);
  }
}

TEST_CASE("infer.models: what passes took of the device is known", "[infer][model][device]") {
  if (!test::has_gpu()) return;
  Loaded cpu("esm2_head16"), gpu("esm2_head16", tensor::make_gpu_context(0, {Precision::fp16}));
  const std::vector<std::string> outputs{models::mean_hidden(0)};
  const std::uint64_t loaded = gpu.model->peak_device_bytes();
  CHECK(loaded > 0);
  double before = 0;
  for (int i = 0; i < 3; ++i) {  // the second is recorded
    gpu.model->run(batch_of(gpu.model->info().vocabulary, {30, 40}), outputs);
    CHECK(gpu.model->device_seconds() > before);
    before = gpu.model->device_seconds();
  }
  CHECK(gpu.model->peak_device_bytes() > loaded);
  cpu.model->run(batch_of(cpu.model->info().vocabulary, {30}), outputs);
  CHECK(cpu.model->device_seconds() == 0);
  CHECK(cpu.model->peak_device_bytes() == 0);
}
