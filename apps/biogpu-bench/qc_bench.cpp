#include "apps/biogpu-bench/qc_bench.hpp"

#include <fmt/format.h>

#include <chrono>

#include "apps/biogpu-bench/qc_reads.hpp"
#include "lib/core/error.hpp"
#include "lib/qc/batch/batch_processor.hpp"
#include "lib/qc/batch/gpu_steps.hpp"

namespace biogpu::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void add_record(qc::FastqChunk& chunk, const PairMaker::Read& read) {
  const std::string text = "@r\n" + read.sequence + "\n+\n" + read.quality + "\n";
  qc::RecordPlace place;
  place.begin = chunk.text.size();
  place.name_length = 2;
  place.sequence_at = 3;
  place.length = static_cast<std::uint32_t>(read.sequence.size());
  place.strand_at = 4 + place.length;
  place.strand_length = 1;
  place.quality_at = place.strand_at + 2;
  chunk.text.append(text.data(), text.size());
  chunk.records.push_back(place);
}

qc::Batch make_pairs(std::size_t n) {
  qc::Batch batch;
  PairMaker maker(20);
  PairMaker::Read read1, read2;
  for (batch.n_records = 0; batch.n_records < n; ++batch.n_records) {
    maker.next(read1, read2);
    add_record(batch.chunk1, read1);
    add_record(batch.chunk2, read2);
  }
  const std::string padding(qc::FastqChunk::kPadding, '\0');
  for (auto* chunk : {&batch.chunk1, &batch.chunk2})
    chunk->text.append(padding.data(), padding.size());
  return batch;
}

// The same pairs again and again.
qc::Batch repeat(const qc::Batch& unit, std::size_t times) {
  qc::Batch batch;
  for (std::size_t t = 0; t < times; ++t)
    for (const bool second : {false, true}) {
      const qc::FastqChunk& from = second ? unit.chunk2 : unit.chunk1;
      qc::FastqChunk& to = second ? batch.chunk2 : batch.chunk1;
      const std::size_t begin = to.text.size();
      to.text.append(from.text.data(), from.text.size());
      for (qc::RecordPlace place : from.records) {
        place.begin += begin;
        to.records.push_back(place);
      }
    }
  batch.n_records = times * unit.n_records;
  return batch;
}

void compare(const qc::Batch& unit, const qc::Options& options, const std::string& name,
             int device) {
  qc::Batch by_cpu = unit;
  qc::Batch by_gpu = unit;
  const auto gpu = qc::make_gpu_steps(device, options);
  qc::WorkerSums cpu_sums, gpu_sums;
  bool equal = gpu->run(by_gpu);
  process_pairs(by_cpu, options, cpu_sums);
  process_pairs(by_gpu, options, gpu_sums);
  for (std::size_t k = 0; k < qc::kOutputs; ++k)
    equal = equal && by_cpu.text[k].view() == by_gpu.text[k].view();
  equal = equal && cpu_sums.counts.verdicts == gpu_sums.counts.verdicts &&
          cpu_sums.counts.insert_sizes == gpu_sums.counts.insert_sizes &&
          cpu_sums.counts.adapter_bases == gpu_sums.counts.adapter_bases &&
          cpu_sums.counts.corrected_bases == gpu_sums.counts.corrected_bases;
  qc::Summary summary;
  gpu->add_stats(summary);
  for (std::size_t m = 0; m < 2; ++m) {
    qc::ReadStats after = cpu_sums.unchanged[m].take();
    after.add(cpu_sums.after[m].take());
    equal = equal && after.n_bases == summary.after[m].n_bases &&
            after.q30_bases == summary.after[m].q30_bases && after.kmers == summary.after[m].kmers;
  }
  if (!equal)
    throw Error(ErrorCode::failed, name + ": the GPU's reads or numbers differ from the CPU's");
}

}  // namespace

std::vector<Figure> measure_qc(const QcBenchSettings& settings) {
  const qc::Batch unit = make_pairs(settings.quick ? 300 : 20000);
  const qc::Batch whole = repeat(unit, settings.quick ? 1 : 50);
  const int n_runs = settings.quick ? 1 : 5;
  std::vector<Figure> figures;
  for (const bool all_steps : {false, true}) {
    qc::Options options;
    options.in1.assign(1, '1'), options.in2.assign(1, '2');
    if (all_steps) {
      options.cut_front.enabled = options.cut_tail.enabled = options.correction = true;
      options.trim_poly_g = options.trim_poly_x = options.complexity_filter = true;
    }
    const std::string name = all_steps ? "qc -5 -3 -c -g -x -y" : "qc default";
    compare(unit, options, name, settings.device);
    const auto gpu = qc::make_gpu_steps(settings.device, options);
    qc::Batch batch = whole;
    gpu->run(batch);
    const double n = static_cast<double>(batch.n_records) * 1e-6;
    const std::string how =
        fmt::format("{} pairs of 150 bases, {} of them compared", batch.n_records, unit.n_records);
    figures.push_back(measure(name + ", device", "M pairs/s",
                              how + "; all stages on resident reads", n_runs,
                              [&] { return 3 * n / gpu->time_kernels(3); }));
    figures.push_back(measure(name + ", host to host", "M pairs/s",
                              how + "; staging, copies, kernels, results; one stream", n_runs, [&] {
                                const double begin = now();
                                gpu->run(batch);
                                return n / (now() - begin);
                              }));
    qc::Batch part = unit;
    qc::WorkerSums sums;
    figures.push_back(measure(name + ", CPU", "M pairs/s",
                              "the same stages and the text of the output, one thread", n_runs,
                              [&] {
                                const double begin = now();
                                process_pairs(part, options, sums);
                                return static_cast<double>(part.n_records) * 1e-6 / (now() - begin);
                              }));
  }
  return figures;
}

}  // namespace biogpu::bench
